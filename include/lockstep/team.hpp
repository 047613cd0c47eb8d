// SPDX-License-Identifier: MIT
// lockstep/team.hpp -- persistent threads that run one function together (layer: team)
//
// run(f) calls f(member&) on every member, and returns when all calls have returned. The caller is member 0. The team
// starts the other threads once and keeps them. Between regions they wait by the team's policy. By default they sleep
// after about 50 us; inside a region of more than 8 members, after 0.4 ms. If they have learned when the next region
// is due, they wake shortly before it. 4 ms after the last region they use no CPU. run() allocates nothing and takes no
// lock. What members can do: member.hpp. For threads of your own: external_team.hpp. For threads that a member starts:
// inside_region of region.hpp.
//
//   TEAM-1  One region at a time: outside threads that call run() together are served in the order of their calls. A
//       loop that is too short for two members is no region, and takes no turn.
//   TEAM-2  Inside a region of the same team, however deep and on whatever thread, run() calls f inline, in a region of
//       one member. Loops run inline, too. A stop of the outer region stops both.
//       Inside a region of an older team, run() waits for its turn. Inside a region of a younger team, it runs inline if
//       this team is busy: otherwise two teams could wait for each other.
//   TEAM-3  An exception leaves the team usable: members that wait in the region are released, all calls are awaited, then
//       run() rethrows the exception of the lowest rank.
//   TEAM-4  If a thread cannot be started, the constructor (or the run() that resumes) ends those that were started, and
//       throws std::system_error.
//   TEAM-5  In a child of fork() the team starts its threads anew for its first region. A region that the forking thread
//       was in is stopped there: see docs/faq.md.
//   TEAM-6  A function that only outside threads may call fails with std::logic_error inside a region.
//   TEAM-7  A static team may end, with its program, while other threads run regions of it. Those go on until the process
//       ends. Threads that come later, or are queued, wait for that. Debug builds say so.
//   TEAM-8  exit() inside a region ends the program, with its status. A static team then leaves its threads as TEAM-7 says,
//       and stops the region, so that its members end their parts.
//
// A loop of a team is a region of its own. The bounds are of any integer types, or pointers or iterators with random
// access. What f of a loop returns is ignored.
//
//   TEAMLOOP-1  A loop does not wait for a member that has not begun: other members run its share. Members that come in
//               time run the same share every time.
//   TEAMLOOP-2  Any member may run an iteration. A loop uses as many members as pay, perhaps the caller alone. So
//               iterations must not wait for each other; use run() for that.
//   TEAMLOOP-3  If a loop is stopped, parts that have not begun are left out. If several parts throw, it throws the
//               exception of the lowest.
//   TEAMLOOP-4  The team learns what an iteration costs, for each type of closure: each lambda in the program is known by
//               itself. grain() says by hand how much a member should get at least.
//
// Cost   an empty region of 2 members that have a CPU each: two line transfers in a row, 106 ns; above 8 members the
//        announcement goes along a tree (region_board.hpp). On 2 CPUs an empty region of 4 members takes 3.9 us, of 16 15,
//        of 64 67. The first one of 2 members after 10 ms of idling takes 15 us, after 100 ms 109 (docs/performance.md).
// Order  what happens before run() happens before every call of f, and every call before the return of run().
// Errors a bad number of members: std::invalid_argument. TEAM-3, TEAM-4, TEAM-6.
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

#include <lockstep/detail/reduce/reductions.hpp>
#include <lockstep/detail/team/team_host.hpp>
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

  /// Requires: no region runs, except as TEAM-7 and TEAM-8 say. If a team is destroyed inside one of its own regions, the
  /// program ends with a message where that region ends. That counts a region that was started and not joined.
  ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  std::size_t size() const noexcept { return host_.size(); }
  wait_policy policy() const noexcept { return host_.policy(); }

  // --- regions ---

  /// Calls f(member&), or f() if it takes no member, once on every member. False if the region was stopped by
  /// request_stop(). See TEAM-1 to TEAM-3.
  template <class Function>
  bool run(Function&& f, call_site where = {}) {
    return host_.run(size(), detail::job::of<member>(f), where);
  }
  /// On the first k members only. Up to 7 others may be woken, too. Fails if k is 0 or above size().
  template <class Function>
  bool run(std::size_t k, Function&& f, call_site where = {}) {
    return host_.run_some(k, detail::job::of<member>(f), where);
  }

  /// Starts a region on the other members and returns a handle, which the caller keeps: its join(), or its end, runs the
  /// caller's part and waits (region.hpp). In between the caller is inside the region (TEAM-2). The function must live
  /// until then; a small one that is trivially copyable is copied. Fails inside a region.
  template <class Function>
  LOCKSTEP_NODISCARD started_region start(Function&& f, call_site where = {}) {
    static_assert(
        std::is_lvalue_reference<Function>::value || detail::job::travels_as<Function>(),
        "lockstep::team::start: keep this function in a variable until join(): it is too large "
        "to be copied, or not trivially copyable");
    return host_.start(detail::job::of<member>(f), where);
  }

  /// Ends the region that runs, if any, with what runs inline inside it (MEMBER-3 of member.hpp). Outside of regions of
  /// this team it also ends loops that take no turn (TEAM-1). Any thread may call it.
  void request_stop();

  // --- loops ---
  // Those that return bool return false if the region was stopped. Inside a region of the same team: TEAM-2.

  /// Calls f(i) for every i of [first, last), by default in contiguous blocks by rank.
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_each(First first, Last last, Function&& f,
                                          schedule how = static_schedule(), call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::run_leaf(host_, detail::each_of(span, f), span.length, how, where);
  }
  /// On all members, with blocks by what was measured in the runs before: weighted_schedule.hpp.
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_each(First first, Last last, Function&& f,
                                          weighted_schedule& how, call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return host_.run_by_weights(detail::each_of(span, f), span.length, how, where);
  }

  /// As for_each, with f(first, last) for contiguous parts, for loops that are written or vectorised by hand. Each index is
  /// in one part, and no part is empty. A member runs one part or several. If the schedule has chunks, each chunk is a part,
  /// also on one member: a kernel may rely on their length. A stop does not cut a part short.
  ///   team.for_range(0, n, [=](int first, int last) { daxpy(last - first, a, x + first, y + first); });
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_range(First first, Last last, Function&& f,
                                           schedule how = static_schedule(), call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::run_leaf(host_, detail::blocks_of(span, f), span.length, how, where);
  }
  template <class First, class Last, class Function>
  detail::if_bounds<First, Last> for_range(First first, Last last, Function&& f,
                                           weighted_schedule& how, call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return host_.run_by_weights(detail::blocks_of(span, f), span.length, how, where);
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one; the last index moves fastest.
  ///   team.for_each(lockstep::index_range_2{{0, rows}, {0, columns}}, f);
  template <class Ranges, class Function>
  detail::if_nested<Ranges> for_each(const Ranges& ranges, Function&& f,
                                     schedule how = static_schedule(), call_site where = {}) {
    return detail::run_leaf(host_, detail::each_of_nested(ranges, f), detail::iterations_of(ranges),
                            how, where);
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
    return host_.run_sections(functions...);
  }
  bool sections() noexcept { return true; }

  // --- loops with a result ---
  // Where the region is stopped there is none: they throw region_stopped (without exceptions: init).

  /// op(init, all f(i)): see member::reduce_each. The same bits for every team size, schedule and run. Type needs to be
  /// movable only. Of the schedule only a grain and only_if count, here and in the next two.
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_each(First first, Last last, Type init, Function&& f,
                                                   Operation op, schedule how = static_schedule(),
                                                   call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::reduce<detail::reductions::each_value>(
        detail::reductions::as_region{host_, where}, span, f, init, op, how);
  }

  /// The same with f(first, last) for parts of the range, in order. The parts depend on the length alone: the bits are
  /// those of reduce_each if f folds its part from the left. Of n indices a part has 1 to median(n / 128, 64, n / 1024),
  /// rounded up. For longer parts: a region of for_range(nowait, ...) and sync_sum().
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_range(First first, Last last, Type init, Function&& f,
                                                    Operation op, schedule how = static_schedule(),
                                                    call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::reduce<detail::reductions::block_value>(
        detail::reductions::as_region{host_, where}, span, f, init, op, how);
  }

  /// store(i, op(init, f(first), ..., f(i))) for every i: an inclusive scan. Returns op(init, all f(i)). Calls f twice for
  /// each i. The same bits for every team size and run; not those of a left fold. Two loops; allocates room for 1024
  /// values.
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  detail::if_bounds<First, Last, Type> scan_each(First first, Last last, Type init, Function&& f,
                                                 Operation op, Store&& store,
                                                 schedule how = static_schedule(),
                                                 call_site where = {}) {
    const auto span = detail::span_of(first, last);
    return detail::reductions::scan<Type>(detail::reductions::as_region{host_, where}, span, f, op,
                                          store, init, how);
  }

  // --- the threads, and the ledger of their waits ---

  // All but ledger() wait for their turn.

  /// Gives the threads back to the system, until resume() or the next region.
  void pause();
  /// Starts the threads again now, so that the next region does not have to.
  void resume();

  /// Who waited where, how long, and for whom, since keep_ledger(true) or reset_ledger(): see ledger.hpp, which defines
  /// the result. Empty if no ledger was ever kept, and in teams of more than 1024 members. Any thread may call it at any
  /// time.
  lockstep::ledger ledger() const;
  /// Switches the ledger on or off, as team_options::ledger() and LOCKSTEP_LEDGER do. What was counted stays.
  void keep_ledger(bool yes);
  /// All numbers begin at 0 again.
  void reset_ledger();

  // For a call that fits none of the above: the compiler says what is wrong with it.
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

  detail::team_host host_;
};

/// One team for all parts of a program, and all its modules, that need no options of their own. The first call makes it, as
/// team() does. If that throws, the next call tries again. If two first calls meet, a second team may be made, and ends at
/// once. The module whose call made it must stay loaded. It is never destroyed: static objects may use it in their
/// constructors and destructors, and so may a thread that outlives main(). Its workers sleep when the program ends.
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
