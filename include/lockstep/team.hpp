// SPDX-License-Identifier: MIT
// lockstep/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. What happens before
// run() happens before every call; every call happens before the return of run(). The caller is member
// 0; the other members are threads that the team starts once and keeps. Between regions they wait by
// the team's policy: with the default they sleep after about 50 us, unless they have learned when the next region
// is due (anticipation.hpp): then they sleep until shortly before it. 4 ms after the last region they use no CPU.
// run() allocates nothing and takes no lock. What members can do is in member.hpp. For threads of your own see
// external_team.hpp.
//
//   TEAM-1  One region at a time: outside threads that call run() together are served in the order of their
//       calls. A loop that is too short for two members is no region: it takes no turn (lone_loops.hpp).
//   TEAM-2  run() from inside a region of the same team, however deep and on whatever thread, runs f inline
//       as the only member of its region: it would wait for itself otherwise. So do the parallel_ functions. What runs
//       so is stopped together with the region around it (lone_region.hpp).
//       From inside a region of another team it waits for its turn if that team was made before this one;
//       else, if this one is busy, it runs inline as well: two teams could wait for each other otherwise.
//   TEAM-3  An exception leaves the team usable: members that wait in the region are released, all calls are
//       awaited, then run() rethrows the exception of the lowest rank.
//   TEAM-4  A thread that cannot be started ends the constructor (or the run() that resumes) with
//       std::system_error, after those that were started have ended.
//   TEAM-5  In a child process of fork() the team starts its threads anew for its first region. A region
//       that the forking thread was in is stopped there: see docs/faq.md.
//   TEAM-6  Functions for outside threads only fail with std::logic_error inside a region.
//   TEAM-7  A static team may end, with its program, while other threads run regions of it: those go on until the
//       process ends; threads that come later, or are queued, wait for that (team_door.hpp). Debug builds say so.
//   TEAM-8  exit() inside a region ends the program, with its status: a static team leaves its threads as they are, as in
//       TEAM-7, and stops the region, so that its members end their parts.
//
// Threads that a member starts, and that use the team: inside_region of region.hpp.
//
// Memory order (# marks the line), of default_team()
//   #  access              order    pairs  why it suffices
//   1  slot.load           acquire  2      the team is made before its address is seen
//   2  slot.compare_exch   release  1      as 1
//
// Cost   an empty region of P members: one RMW on a line of the caller's, one store to the job's line,
//        P-1 fetches of it, one store on each member's own line, P-1 fetches by the caller; above 8
//        members along a tree (region_board.hpp). Two members uncrowded: two line transfers in a row, 101 ns.
//        On 2 CPUs an empty region of 4 members takes 2.7 us, of 16 13, of 64 53; the first one of 2 members after
//        10 ms of idling 2.3 us, after 100 ms 108 (docs/performance.md).
// Order  what happens before run() happens before every call of f, and every call before the return of run().
// Errors a bad number of members: std::invalid_argument; a thread that cannot be started: std::system_error (TEAM-4); a
//        call that only an outside thread may make: std::logic_error (TEAM-6). run() throws what a member threw (TEAM-3).
// Example
//   lockstep::team four(4);
//   std::vector<double> x(1000, 1.0);
//   four.parallel_for(0, x.size(), [&](std::size_t i) { x[i] *= 2; });
//   four.run([&](lockstep::member& me) { std::printf("%zu of %zu\n", me.rank(), me.size()); });
#ifndef LOCKSTEP_TEAM_HPP
#define LOCKSTEP_TEAM_HPP

#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/process.hpp>
#include <lockstep/detail/team/basic_team.hpp>
#include <lockstep/detail/team/workers.hpp>
#include <lockstep/region.hpp>
#include <lockstep/sub_team.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Threads that start once and then run regions and loops together, the caller among them.
class team : public detail::basic_team<detail::worker_threads> {
 public:
  /// As the environment says (LOCKSTEP_NUM_THREADS, ...), else one member per usable CPU.
  team();

  /// Fails if members is 0 or above 65536.
  explicit team(std::size_t members);
  team(std::size_t members, wait_policy policy);
  explicit team(const team_options& options);

  /// Requires: no region runs, but for TEAM-7 and TEAM-8. Destroyed inside one of its own regions, also one that was
  /// started and not joined, the team ends the program with a message where that region ends.
  ~team() = default;

  // size, policy, run, the parallel_ functions, request_stop, ledger: detail/team/basic_team.hpp and team_loops.hpp.

  /// Starts a region on the other members and returns a handle, which is to be kept: its join(), or its end, runs
  /// the caller's part and waits (region.hpp). In between the caller is inside the region (TEAM-2). The
  /// function must live until then; a temporary is taken only where it is copied (closures.hpp). Fails if called from
  /// inside a region.
  template <class Function>
  LOCKSTEP_NODISCARD started_region start(Function&& f, call_site where = {}) {
    detail::check_region_function<Function>();
    static_assert(
        std::is_lvalue_reference<Function>::value || detail::region_function<Function>::is_copied(),
        "lockstep::team::start: keep this function in a variable until join(): it is too large "
        "to be copied, or not trivially copyable");
    return start_as("started region", f, where);
  }

  /// Gives the threads back to the system, until resume() or the next region. Waits for its turn.
  void pause();
  /// Starts the threads again now, so that the next region does not have to.
  void resume();

 private:
  team(const team_options& options, const detail::resolved_team& made);
};

namespace detail {

template <class Type>
void show_ledger_at_exit(Type&) noexcept {}

/// What the first of all callers made. Never destroyed.
template <class Type>
Type& made_by_the_first(detail::atomic<void*>& slot) {
  void* known = slot.load(detail::memory_order_acquire);  // 1
  if (known != nullptr) return *static_cast<Type*>(known);
  static_assert(alignof(Type) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  Type* const made = new Type;
  if (slot.compare_exchange_strong(known, made, detail::memory_order_release,  // 2
                                   detail::memory_order_acquire)) {            // 1
    show_ledger_at_exit(*made);
    return *made;
  }
  delete made;
  return *static_cast<Type*>(known);
}

}  // namespace detail

/// One team for all parts of a program that need no options of their own: team(), made by the first call. Two callers
/// that come first at once may each make one; one of them is used by all, the other ends at once. Throws as team()
/// does, and the next call tries again.
/// It is never destroyed: objects of static storage may use it in their constructors and destructors, and a thread that
/// outlives main() may. Its workers sleep when the program ends. In a child of fork() it starts its threads anew (TEAM-5).
/// It is one for all modules that share the state of the process (process.hpp). The module whose call made it must stay
/// loaded.
inline team& default_team() {
  return detail::made_by_the_first<team>(detail::process().default_team);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_HPP
