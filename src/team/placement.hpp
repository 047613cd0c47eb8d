// SPDX-License-Identifier: MIT
// src/team/placement.hpp -- how many members a team has, and on which CPUs: pure plans (layer: team)
//
// The program's options (team_options) beat the environment, and the environment beats the default. No function
// here starts or binds a thread: resolve() returns what the team must do.
//
//   PLACEMENT-1  A CPU gets a second member when all CPUs have one. With spread and cores, a core gets a second member
//       when all cores have one.
//   PLACEMENT-2  Fast cores get members before efficient ones. With spread and cores, those get members before any
//       core's sibling.
//   PLACEMENT-3  close fills a core with its siblings, then a last-level cache, a node, a package, before the next one;
//       so neighbouring ranks share all they can. cores numbers the ranks in the same way. spread takes packages, the
//       nodes of each, and the caches of each in turns, and the cores of a cache evenly; so neighbours are apart. In a
//       virtual machine a node, or even a cache, may seem to have several packages: the one with fewer groups is wider.
//   PLACEMENT-4  A list is used as given, without CPUs that are not usable.
//
// describe() is what LOCKSTEP_DISPLAY_ENV=1 prints: what was decided, and what the environment says.
#ifndef LOCKSTEP_SRC_TEAM_PLACEMENT_HPP
#define LOCKSTEP_SRC_TEAM_PLACEMENT_HPP

#include <cstddef>
#include <string>
#include <vector>

#include <lockstep/build_info.hpp>
#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/team_options.hpp>
#include "../platform/topology.hpp"
#include "environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A team that is ready to be made.
struct resolved_team {
  std::size_t members = 1;  ///< 1 to 65536
  wait_policy policy;       ///< when_crowded(is_crowded) already
  bool is_crowded = false;  ///< more members than the CPUs that they may run on at once
  binding bind;             ///< never unset
  /// The CPU of each rank, `members` of them; empty: bind nobody. That of rank 0 is the caller's.
  std::vector<unsigned> cpu_of_rank;
  rank_groups groups;  ///< which ranks share a cache, a node, a package; none where nobody is bound
  std::vector<unsigned> left_out;  ///< CPUs of a list that this process may not use
  std::string name;
  std::size_t can_run_at_once = 1;  ///< how many members, on the CPUs that they may use
  bool learns = true;               ///< whether loops learn on how many members they pay
  bool anticipates = false;         ///< whether workers learn when the next region is due
  /// Whether workers leave a CPU that they share with a member they wait for.
  bool separates_cpus = false;
  bool keeps_ledger = false;
};

namespace placement {

/// The CPU of each rank; empty if nobody is to be bound, or there is no usable CPU for it.
std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members, const binding& where);

/// Which caches, nodes and packages are shared by the ranks on these CPUs.
rank_groups groups_of(const cpu_topology& usable, const std::vector<unsigned>& cpu_of_rank);

}  // namespace placement

/// The team that `options` and the environment ask for, on a machine with that many CPUs usable at once
/// and that topology; `cpus` may be empty where nobody is to be bound. Pure. Fails if options.members()
/// is above 65536.
resolved_team resolve(const team_options& options, const environment& variables, std::size_t usable,
                      const cpu_topology& cpus);

/// The same for this process and machine. Reads the machine's topology only if members are bound. Reports once which
/// CPUs of LOCKSTEP_PROC_BIND are not usable.
resolved_team resolve(const team_options& options);

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

#endif  // LOCKSTEP_SRC_TEAM_PLACEMENT_HPP
