// SPDX-License-Identifier: MIT
// src/team/display.hpp -- what LOCKSTEP_DISPLAY_ENV=1 prints: what was decided, and what the environment says (layer: team)
#ifndef LOCKSTEP_SRC_TEAM_DISPLAY_HPP
#define LOCKSTEP_SRC_TEAM_DISPLAY_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <lockstep/build_info.hpp>
#include "../platform/cpus.hpp"
#include "environment.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a machine grants to a process.
struct granted_cpus {
  std::size_t usable;          ///< CPUs at once: the affinity, limited by the quota
  double quota;                ///< in CPUs; negative: none
  std::vector<unsigned> cpus;  ///< those of the affinity; empty if unknown
};

/// Several lines, each with a newline; pure. `made` came from these variables and this machine.
std::string describe(const resolved_team& made, const environment& variables,
                     const granted_cpus& machine, const build_information& build);

/// Prints the description of the first team to stderr, if LOCKSTEP_DISPLAY_ENV asks for it.
void display_first_team(const resolved_team& made);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_DISPLAY_HPP
