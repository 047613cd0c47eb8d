// SPDX-License-Identifier: MIT
// lockstep/detail/team/display.hpp -- what LOCKSTEP_DISPLAY_ENV=1 prints: what was decided, and why (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP
#define LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "../../build_info.hpp"
#include "../platform/cpus.hpp"
#include "environment.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What a machine grants to a process.
struct granted_cpus {
  std::size_t usable;         ///< at once: affinity cut by the quota
  double quota;               ///< in CPUs; negative: none
  detail::cpu_topology cpus;  ///< those of the affinity; empty if unknown
};

namespace display_text {

LOCKSTEP_COLD std::string counted(std::size_t count, const char* one, const char* several);

LOCKSTEP_COLD std::string usable_line(const granted_cpus& machine);

LOCKSTEP_COLD std::string cores_line(const detail::cpu_topology& cpus);

LOCKSTEP_COLD std::string reason(decided_by who, const char* variable);

LOCKSTEP_COLD std::string anticipation_line(const resolved_team& made,
                                            const environment& variables);

LOCKSTEP_COLD std::string learning_line(const resolved_team& made, const environment& variables);

LOCKSTEP_COLD std::string parting_line(const resolved_team& made, const environment& variables);

/// "0 1 2 3", cut: who has more members sees how it goes on.
LOCKSTEP_COLD std::string cpus_by_rank(const std::vector<unsigned>& cpus);

}  // namespace display_text

/// Several lines, each with a newline; pure. `made` came from these variables and this machine.
LOCKSTEP_COLD std::string describe(const resolved_team& made, const environment& variables,
                                   const granted_cpus& machine, const build_information& build);

/// Prints the description of the first team that comes here to stderr, if LOCKSTEP_DISPLAY_ENV asks.
LOCKSTEP_COLD void display_first_team(const resolved_team& made);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "display.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_DISPLAY_HPP
