// SPDX-License-Identifier: MIT
// lockstep/detail/team/placement.hpp -- how many members a team has, and on which CPUs: pure plans (layer: team)
//
// What the program says (team_options) beats the environment, the environment beats the default. Nothing
// here starts or binds a thread: resolve() says what the team has to do.
//
//   P1  A core gets a second member when all cores have one, a CPU when all CPUs have one.
//   P2  Fast cores get members before efficient ones, and those before any core's sibling.
//   P3  close fills a package before the next, and numbers the ranks so that neighbours are close.
//       spread takes packages in turns, and in each the cores evenly; so neighbours are apart.
//   P4  A list is taken as it is, but for CPUs that are not usable.
#ifndef LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP
#define LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../team_options.hpp"
#include "../platform/cpus.hpp"
#include "../platform/error.hpp"
#include "../platform/system.hpp"
#include "environment.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Who had the say.
enum class decided_by : unsigned char { nobody, environment, program };

/// A team as it is to be made.
struct resolved_team {
  std::size_t members = 1;  ///< 1 to 65536
  wait_policy policy;       ///< when_crowded(is_crowded) already
  bool is_crowded = false;  ///< more members than the CPUs that they may run on at once
  binding bind;             ///< never unset
  /// The CPU of each rank, `members` of them; empty: bind nobody. That of rank 0 is the caller's.
  std::vector<unsigned> cpu_of_rank;
  std::vector<unsigned> left_out;  ///< CPUs of a list that this process may not use
  std::string name;
  std::size_t can_run_at_once = 1;  ///< members, on the CPUs they may use
  bool learns = true;               ///< whether loops learn on how many members they pay
  decided_by learns_by = decided_by::nobody;
  bool anticipates = false;  ///< whether workers learn when the next region is due
  decided_by anticipates_by = decided_by::nobody;
  bool finds_cpu =
      false;  ///< whether workers leave a CPU that they share with a member they wait for
  decided_by finds_cpu_by = decided_by::nobody;
  decided_by members_by = decided_by::nobody;
  decided_by policy_by = decided_by::nobody;
  decided_by bind_by = decided_by::nobody;
};

namespace placement {

using detail::cpu_place;
using detail::cpu_topology;

/// P1 to P3: the order in which CPUs get members; those of one level stand together.
LOCKSTEP_COLD bool is_taken_before(const cpu_place& a, const cpu_place& b);
LOCKSTEP_COLD bool is_same_level(const cpu_place& a, const cpu_place& b);
LOCKSTEP_COLD bool is_ranked_before(const cpu_place& a, const cpu_place& b);

/// The CPUs for `count` members, in the order of ranks. Requires count <= usable.size().
LOCKSTEP_COLD cpu_topology close(cpu_topology usable, std::size_t count);

/// CPUs of one level and package, and how many of them get members.
struct package_share {
  const cpu_place* first;
  std::size_t size;
  std::size_t taken;
};

/// Appends `count` of the CPUs [first, last), which are of one level and sorted by package.
LOCKSTEP_COLD void deal(const cpu_place* first, const cpu_place* last, std::size_t count,
                        cpu_topology& result);

/// As close().
LOCKSTEP_COLD cpu_topology spread(cpu_topology usable, std::size_t count);

/// A list parted into CPUs that are usable and others.
struct parted_list {
  std::vector<unsigned> usable;
  std::vector<unsigned> left_out;
};
LOCKSTEP_COLD parted_list part_by_use(const cpu_topology& usable,
                                      const std::vector<unsigned>& list);

/// The CPU of each rank; empty if nobody is to be bound, or there is no usable CPU for it.
LOCKSTEP_COLD std::vector<unsigned> plan(const cpu_topology& usable, std::size_t members,
                                         const binding& where);

LOCKSTEP_COLD std::size_t count_different(std::vector<unsigned> values);

/// Who decides where the members of a team run.
LOCKSTEP_COLD decided_by who_binds(const team_options& options, const environment& variables);
LOCKSTEP_COLD binding binding_of(const team_options& options, const environment& variables);

/// At most one member for each of the CPUs that are usable at once, and of a list's.
LOCKSTEP_COLD std::size_t default_members(std::size_t usable, const std::vector<unsigned>& list);

}  // namespace placement

/// The team that `options` and the environment ask for, on a machine with that many CPUs usable at once
/// and that topology; `cpus` may be empty where nobody is to be bound. Pure. Fails if options.members()
/// is above 65536.
LOCKSTEP_COLD resolved_team resolve(const team_options& options, const environment& variables,
                                    std::size_t usable, const detail::cpu_topology& cpus);

namespace placement {

/// Says once which CPUs of LOCKSTEP_PROC_BIND are not usable.
LOCKSTEP_COLD void complain_once(const resolved_team& made, const environment& variables);

}  // namespace placement

/// The same for this process and machine; looks at the machine's topology only where members are bound.
LOCKSTEP_COLD resolved_team resolve(const team_options& options);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "placement.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_PLACEMENT_HPP
