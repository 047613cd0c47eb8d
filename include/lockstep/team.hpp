// SPDX-License-Identifier: MIT
// lockstep/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. The caller is member 0; the other
// members are threads that the team starts once and keeps. Between regions they wait by the team's policy: with the default
// they sleep after about 50 us, unless they have learned when the next region is due (anticipation.hpp): then they sleep
// until shortly before it. 4 ms after the last region they use no CPU. run() allocates nothing and takes no lock. What
// members can do is in member.hpp. For threads of your own see external_team.hpp.
//
//   TEAM-1  One region at a time: outside threads that call run() together are served in the order of their
//       calls. A loop that is too short for two members is no region: it takes no turn (team_loops.cpp).
//   TEAM-2  run() from inside a region of the same team, however deep and on whatever thread, runs f inline
//       as the only member of its region: it would wait for itself otherwise. So do the loops. What runs
//       so is stopped together with the region around it (turns.hpp).
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
//       process ends; threads that come later, or are queued, wait for that (turns.hpp). Debug builds say so.
//   TEAM-8  exit() inside a region ends the program, with its status: a static team leaves its threads as they are, as in
//       TEAM-7, and stops the region, so that its members end their parts.
//
// Threads that a member starts, and that use the team: inside_region of region.hpp.
//
// The loops are regions of one loop each. The bounds are of any integer types, or
// pointers or iterators with random access. What f of a loop returns is ignored.
//
//   TEAMLOOP-1  A loop does not wait for a member that has not begun: its share is run by others (loop_crew.hpp).
//               Members that come in time run the same share every time.
//   TEAMLOOP-2  Which thread runs an iteration is not said, nor on how many members a loop runs: where it costs more
//               than it gains, on the caller alone (loop_crew.hpp). So iterations must not wait for each other; run()
//               is for that.
//   TEAMLOOP-3  Where the loop is stopped, parts that have not begun are left out. Of several exceptions that of the
//               lowest part is thrown.
//   TEAMLOOP-4  What a closure's iteration costs is learned by its type: each place in the program with a lambda of its
//               own is known by itself. grain() says by hand how much a member should get at least.
//
// Cost   an empty region of P members: two stores on a line of the caller's, one store to the job's line,
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
//   four.for_each(0, x.size(), [&](std::size_t i) { x[i] *= 2; });
//   four.run([&](lockstep::member& me) { std::printf("%zu of %zu\n", me.rank(), me.size()); });
#ifndef LOCKSTEP_TEAM_HPP
#define LOCKSTEP_TEAM_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <lockstep/detail/team/team_host.hpp>
#include <lockstep/detail/team/team_loops.hpp>
#include <lockstep/region.hpp>
#include <lockstep/sub_team.hpp>
#include <lockstep/team_options.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

struct ledger;  // of ledger.hpp
namespace detail {
struct team_access;
}  // namespace detail

/// Threads that start once and then run regions and loops together, the caller among them.
class team : detail::misplaced_calls<detail::is_loop> {
 public:
  /// As the environment says (LOCKSTEP_NUM_THREADS, ...), else one member per usable CPU.
  team();
  /// Fails if members is 0 or above 65536.
  explicit team(std::size_t members);
  team(std::size_t members, wait_policy policy);
  explicit team(const team_options& options);

  /// Requires: no region runs, except as TEAM-7 and TEAM-8 say. If a team is destroyed inside one of its own regions,
  /// also one that was started and not joined, the program ends with a message where that region ends.
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t size() const noexcept { return host_.size(); }
  wait_policy policy() const noexcept { return host_.policy(); }

  // --- regions ---

  /// Calls f(member&), or f() if it takes no member, once on every member. Returns when all have returned: false if the
  /// region was stopped by request_stop(). See TEAM-1 to TEAM-3.
  template <class Function>
  bool run(Function&& f, call_site where = {}) {
    return host_.run(size(), detail::job::of<member>(f), where);
  }
  /// On the first k members only. Up to 7 others that watch the same line as one of them are woken too
  /// (rank_tree.hpp). Fails if k is 0 or above size().
  template <class Function>
  bool run(std::size_t k, Function&& f, call_site where = {}) {
    return host_.run_some(k, detail::job::of<member>(f), where);
  }

  /// Starts a region on the other members and returns a handle, which is to be kept: its join(), or its end, runs
  /// the caller's part and waits (region.hpp). In between the caller is inside the region (TEAM-2). The
  /// function must live until then; a temporary is taken only where it is copied (closures.hpp). Fails if called from
  /// inside a region.
  template <class Function>
  LOCKSTEP_NODISCARD started_region start(Function&& f, call_site where = {}) {
    static_assert(
        std::is_lvalue_reference<Function>::value || detail::job::travels_as<Function>(),
        "lockstep::team::start: keep this function in a variable until join(): it is too large "
        "to be copied, or not trivially copyable");
    return host_.start(detail::job::of<member>(f), where);
  }

  /// Ends the region that runs, if any (MEMBER-3 of member.hpp), with what runs alone inside it (ALONE-2 of
  /// turns.hpp). Outside of regions of this team it also ends the loops that run beside it (LONE-3 of
  /// team_loops.cpp). Any thread may call it.
  void request_stop();

  // --- loops ---
  // Those that return bool return false if the region was stopped. Called from inside a region of the same team they run
  // on the caller alone, and are stopped with that region.

  /// Calls f(i) for every i of [first, last), in contiguous blocks by rank.
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_each(First first, Last last, Function&& f,
                                          call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::each_of(span, f), span.length, static_schedule(), where);
  }
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_each(First first, Last last, Function&& f, schedule how,
                                          call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::each_of(span, f), span.length, how, where);
  }
  /// With blocks by what was measured in the runs before: weighted_schedule.hpp. On all members.
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_each(First first, Last last, Function&& f,
                                          weighted_schedule& how, call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::each_of(span, f), span.length, how, where);
  }

  /// Calls f(first, last) for contiguous parts that make up the range, each index in one of them: for loops that are
  /// written or vectorised by hand. A member has one part or several; how many there are is not said, but none is empty.
  /// Otherwise as for_each. Where the schedule has chunks each is a part, also on one member: a kernel may rely on
  /// their length. A part is not cut short where the loop is stopped.
  ///   team.for_range(0, n, [=](int first, int last) { daxpy(last - first, a, x + first, y + first); });
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_range(First first, Last last, Function&& f,
                                           call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::blocks_of(span, f), span.length, static_schedule(), where);
  }
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_range(First first, Last last, Function&& f, schedule how,
                                           call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::blocks_of(span, f), span.length, how, where);
  }
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_range(First first, Last last, Function&& f,
                                           weighted_schedule& how, call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return loops().run(detail::blocks_of(span, f), span.length, how, where);
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one; the last index moves fastest.
  ///   team.for_each(lockstep::index_range_2{{0, rows}, {0, columns}}, f);
  template <class Ranges, class Function>
  detail::if_nested<Ranges> for_each(const Ranges& ranges, Function&& f,
                                     schedule how = static_schedule(), call_site where = {}) {
    return loops().run(detail::each_of_nested(ranges, f), detail::iterations_of(ranges), how,
                       where);
  }

  /// A region of member::for_ordered.
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_ordered(First first, Last last, Function&& f,
                                             schedule how = static_schedule(1),
                                             call_site where = {}) {
    return run(
        [&](member& me) {
          const bool is_complete = me.for_ordered(first, last, f, how, where);
          static_cast<void>(is_complete);
        },
        where);
  }

  /// Calls each of the functions once, on whichever thread comes.
  template <class... Functions>
  bool sections(Functions&&... functions) {
    static_assert(!detail::has_nowait<Functions...>::value,
                  "lockstep: a team's sections always wait: nowait is for me.sections");
    return loops().invoke(functions...);
  }
  bool sections() noexcept { return true; }

  // --- loops with a result ---
  // Where the region is stopped there is none: they throw region_stopped (without exceptions: init).

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run.
  /// Type needs to be movable only. Of the schedule, only a grain (or only_if) has a meaning: the values come from a
  /// tree of blocks.
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_each(First first, Last last, Type init, Function&& f,
                                                   Operation op, schedule how = static_schedule(),
                                                   call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::reduce<Type, Operation>(
        detail::reductions::as_region{host_, where},
        detail::reductions::values_of<Type>(span, f, op), span.length, std::move(init), op, how);
  }

  /// op(init, all f(first, last) over parts of the range, in order): reduce_each for loops that are written or
  /// vectorised by hand, as for_range is. The parts depend on the length alone, so the bits are the same for every team
  /// size and run: those of reduce_each if f folds its part from the left. No part is empty or long: of n indices at
  /// most the middle one of n / 128, 64 and n / 1024. For longer parts: a region of for_range(nowait, ...) and sync_sum().
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_range(First first, Last last, Type init, Function&& f,
                                                    Operation op, schedule how = static_schedule(),
                                                    call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::reduce<Type, Operation>(
        detail::reductions::as_region{host_, where},
        detail::reductions::block_values_of<Type>(span, f, op), span.length, std::move(init), op,
        how);
  }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). f is
  /// called twice for each i. The same bits for every team size and run; not those of a left fold.
  /// Two loops; allocates room for 1024 values. Of the schedule, only a grain (or only_if) has a meaning.
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  detail::if_bounds<First, Last, Type> scan_each(First first, Last last, Type init, Function&& f,
                                                 Operation op, Store&& store, schedule how,
                                                 call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::scan<Type>(detail::reductions::as_region{host_, where}, span, f, op,
                                          store, init, how);
  }
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  detail::if_bounds<First, Last, Type> scan_each(First first, Last last, Type init, Function&& f,
                                                 Operation op, Store&& store,
                                                 call_site where = {}) {
    return scan_each(first, last, std::move(init), f, std::move(op), store, static_schedule(),
                     where);
  }

  // --- the threads, and who waited for whom ---

  /// Gives the threads back to the system, until resume() or the next region. Waits for its turn.
  void pause();
  /// Starts the threads again now, so that the next region does not have to.
  void resume();

  /// Who waited where, how long, and for whom, since keep_ledger(true) or reset_ledger(): see ledger.hpp, which defines
  /// the result. Empty if no ledger was ever kept, and in teams of more than 1024 members. Any thread may call it at any
  /// time; while a region runs, the numbers of one construct may be of different moments.
  lockstep::ledger ledger() const;
  /// Switches the ledger on or off, as team_options::ledger() and LOCKSTEP_LEDGER do. What was counted stays. Waits for
  /// its turn.
  void keep_ledger(bool yes);
  /// All numbers begin at 0 again. Waits for its turn.
  void reset_ledger();

  // What is wrong with a call that fits none of the above.
  using misplaced_calls::for_each;
  using misplaced_calls::for_ordered;
  using misplaced_calls::for_range;
  using misplaced_calls::reduce_each;
  using misplaced_calls::reduce_range;
  using misplaced_calls::scan_each;

  // --- the names of 0.9 ---

  template <class... Arguments>
  LOCKSTEP_DEPRECATED("write for_each")
  bool parallel_for(Arguments&&... arguments) {
    return for_each(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  LOCKSTEP_DEPRECATED("write for_each(lockstep::index_range_2{rows, columns}, f)")
  bool parallel_for_2d(index_range rows, index_range columns, Arguments&&... arguments) {
    return for_each(index_range_2{rows, columns}, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  LOCKSTEP_DEPRECATED("write for_each(lockstep::index_range_3{planes, rows, columns}, f)")
  bool parallel_for_3d(index_range planes, index_range rows, index_range columns,
                       Arguments&&... arguments) {
    return for_each(index_range_3{planes, rows, columns}, std::forward<Arguments>(arguments)...);
  }
  template <class... Functions>
  LOCKSTEP_DEPRECATED("write sections")
  bool parallel_invoke(Functions&&... functions) {
    return sections(functions...);
  }
  template <class... Arguments>
  LOCKSTEP_DEPRECATED("write reduce_each")
  auto parallel_reduce(Arguments&&... arguments)
      -> decltype(std::declval<team&>().reduce_each(std::forward<Arguments>(arguments)...)) {
    return reduce_each(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  LOCKSTEP_DEPRECATED("write scan_each")
  auto parallel_scan(Arguments&&... arguments)
      -> decltype(std::declval<team&>().scan_each(std::forward<Arguments>(arguments)...)) {
    return scan_each(std::forward<Arguments>(arguments)...);
  }

 protected:
  /// From options and environment.
  team(const team_options& options, const detail::resolved_team& made, detail::thread_owner owner);

 private:
  friend class external_team;
  friend struct detail::team_access;

  detail::team_loops loops() noexcept { return detail::team_loops(host_); }

  detail::team_host host_;
};

/// One team for all parts of a program that need no options of their own: team(), made by the first call. Two callers
/// that come first at once may each make one; one of them is used by all, the other ends at once. Throws as team()
/// does, and the next call tries again.
/// It is never destroyed: objects of static storage may use it in their constructors and destructors, and a thread that
/// outlives main() may. Its workers sleep when the program ends. In a child of fork() it starts its threads anew (TEAM-5).
/// It is one for all modules that share the state of the process (process.hpp). The module whose call made it must stay
/// loaded.
team& default_team();

namespace detail {

/// For constructs beyond those of team and external_team.
struct team_access {
  template <class Team>
  static team_host& host_of(Team& of) noexcept {
    return static_cast<team&>(of).host_;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_HPP
