// SPDX-License-Identifier: MIT
// lockstep/member.hpp -- what a team's function sees of itself: OpenMP's constructs and more (layer: team)
//
// One object per member and region; only the member itself uses it, and not after the region. Which to use:
//   all wait for all            sync_threads; with a value in the same phase: sync_sum and its like, broadcast
//   share the work of a loop    for_each (iterations), for_range (blocks, for kernels)
//   loop and reduction in one   reduce_range, reduce_each: the same bits for every team size and schedule
//   one does it                 single (others wait), masked (they do not), critical (one at a time)
//   different work              sections, split, first
//   step by step in a chain     publish and await_step, for_ordered
// Constructs that members share wait at their end, unless they are called with `nowait`. masked never waits.
//
//   MEMBER-1  All members of a region call the shared constructs in the same order, with the same range and schedule, also
//       those with nowait. If members meet in different constructs, debug builds end the program with a message that
//       names both places.
//   MEMBER-2  What happens before any member's arrival in a construct that waits happens before every return from it.
//   MEMBER-3  Once the region is stopped (by request_stop, or an exception in a member) nobody waits any more. A construct
//       that begins or ends in a stopped region throws region_stopped, also in the member that stopped it. run() catches
//       that. Instead of throwing, the form X_unless_stopped returns false; constructs that return a value have no such
//       form. Without exceptions (-fno-exceptions) the plain forms return false, the value at hand, or an empty sub_team.
//       rank, size, masked, critical, publish, stop_requested and request_stop never throw region_stopped. Reductions and
//       scans look for a stop every thousand calls of f(i). See also LOOPS-8.
//   LOOPS-8   If the region was stopped before a loop or its like begins, f is not called at all. A stop while it runs is
//       noticed between chunks: a block that has begun runs to its end. In a long block ask stop_requested(), or use a
//       schedule with chunks.
//
// Order  MEMBER-2; what happens before publish() happens before the return of every await_step() for that step; what
//        a thread did in critical happens before the next critical of that name.
// Errors a bad rank: std::out_of_range; a step that nobody can publish: std::logic_error. A stopped region:
//        MEMBER-3. Members that come to different constructs: undefined; see MEMBER-1.
// Cost   sync_threads of 2 members on 2 CPUs: 39 ns, 0.8 line transfers; of 4, 16 and 64 members there 2.7, 11 and
//        51 us. Beyond its work: single 24 ns, for_each 71, for_ordered 64 a turn, critical 7
//        (docs/performance.md); sync_sum 43 to 78 (decision 0018). split and first allocate.
// Example
//   lockstep::team two(2);
//   std::vector<double> x(1000, 1.0);
//   two.run([&](lockstep::member& me) {
//     double mine = 0;
//     me.for_range(lockstep::nowait, 0, x.size(), [&](std::size_t first, std::size_t last) {
//       for (std::size_t i = first; i < last; ++i) mine += x[i];
//     });
//     const double sum = me.sync_sum(mine);
//     me.masked([&] { std::printf("%g\n", sum); });
//   });
#ifndef LOCKSTEP_MEMBER_HPP
#define LOCKSTEP_MEMBER_HPP

#include <cstddef>

#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/reduce/reductions.hpp>
#include <lockstep/detail/team/critical_name.hpp>
#include <lockstep/reduction.hpp>
#include <lockstep/region_stopped.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class sub_team;
namespace detail {
struct member_access;
}  // namespace detail

/// What the function of a region is given: its rank, and the constructs by which the members work together.
class member : detail::misplaced_calls<detail::is_loop_of_member> {
 public:
  member& operator=(const member&) = delete;

  /// 0 to size() - 1; the thread that called run() is 0.
  std::size_t rank() const noexcept { return at_.rank(); }
  /// How many members the region has.
  std::size_t size() const noexcept { return at_.size(); }

  // --- all wait for all ---

  /// Blocks until every member of the region has called it as often as this one; MEMBER-2, MEMBER-3.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sync_threads(call_site where = {}) {
    return or_leave(sync_threads_unless_stopped(where));
  }
  /// The same; false once the region is stopped.
  LOCKSTEP_NODISCARD bool sync_threads_unless_stopped(call_site where = {}) {
    return at_.sync("sync_threads", where);
  }

  /// op over the values of all members, in the order of ranks: the same on each, and in every run. One phase. Values above
  /// 16 bytes, or not trivially copyable, are copied to the heap until run() returns.
  template <class Type, class Operation>
  Type sync_reduce(Type value, Operation op, call_site where = {}) {
    return reduce_as("sync_reduce", where, value, op);
  }
  template <class Type>
  Type sync_sum(Type value, call_site where = {}) {
    return reduce_as("sync_sum", where, value, plus());
  }
  template <class Type>
  Type sync_min(Type value, call_site where = {}) {
    return reduce_as("sync_min", where, value, minimum());
  }
  template <class Type>
  Type sync_max(Type value, call_site where = {}) {
    return reduce_as("sync_max", where, value, maximum());
  }
  /// How many members said true.
  std::size_t sync_count(bool condition, call_site where = {}) {
    return reduce_as<std::size_t>("sync_count", where, condition ? 1 : 0, plus());
  }
  /// Whether all members said true.
  bool sync_and(bool condition, call_site where = {}) {
    return sync_count(condition, where) == size();
  }
  /// Whether at least one member said true.
  bool sync_or(bool condition, call_site where = {}) { return sync_count(condition, where) != 0; }

  /// The value of member `root`, on all members. One phase. Fails if root >= size().
  template <class Type>
  Type broadcast(std::size_t root, Type value, call_site where = {}) {
    detail::checked_rank("lockstep::member::broadcast", "member", root, size());
    at_.come_to("broadcast", where, sizeof(Type));
    return detail::reductions::broadcast<Type>(at_, root, value);
  }

  // --- the work of a loop ---
  // The bounds are as in team.hpp; f is called with their common type, and what it returns is ignored. They wait for
  // all at their end. With `nowait` as the first argument they wait only for a member that is 8 constructs behind. Where
  // the next step reads what others wrote, call sync_threads() first.

  /// Calls f(first, last) for this member's parts of the range, never for those of another member. With the default
  /// schedule that is one block, or none if the block is empty.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_range(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = {}) {
    return or_leave(for_range_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_range_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = {}) {
    const auto span = detail::span_of(first, last);
    const auto blocks = detail::blocks_of(span, f);
    at_.come_to("for_range", where, detail::extent_of(span));
    return detail::loops::hand_out(at_, span.length, how, blocks) && at_.sync();
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_range(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(for_range_unless_stopped(nowait, first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_range_unless_stopped(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    const auto span = detail::span_of(first, last);
    const auto blocks = detail::blocks_of(span, f);
    return detail::loops::hand_out(at_, span.length, how, blocks);
  }

  /// Calls f(i) once for every i of [first, last), on some member. With static schedules that is the member of
  /// for_range; but a member that waits may run the share of one that is late. If iterations need what their own member
  /// did since the last wait, use for_range, or put a loop with nowait before this one: then each runs its own share.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_each(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = {}) {
    return or_leave(for_each_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_each_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = {}) {
    const auto span = detail::span_of(first, last);
    const auto each = detail::each_of(span, f);
    return detail::loops::hand_out_and_wait(at_, where, detail::extent_of(span), span.length, how,
                                            each);
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_each(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(for_each_unless_stopped(nowait, first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_each_unless_stopped(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    const auto span = detail::span_of(first, last);
    const auto each = detail::each_of(span, f);
    return detail::loops::hand_out(at_, span.length, how, each);
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one: OpenMP's collapse. The schedule counts
  /// in the last one first. Fails if there are more iterations than std::size_t has numbers.
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_nested<Ranges> for_each(
      const Ranges& ranges, Function&& f, schedule how = static_schedule(), call_site where = {}) {
    return or_leave(for_each_unless_stopped(ranges, f, how, where));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD detail::if_nested<Ranges> for_each_unless_stopped(
      const Ranges& ranges, Function&& f, schedule how = static_schedule(), call_site where = {}) {
    const auto each = detail::each_of_nested(ranges, f);
    const std::size_t length = detail::iterations_of(ranges);
    return detail::loops::hand_out_and_wait(at_, where, length, length, how, each);
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_nested<Ranges> for_each(
      nowait_t, const Ranges& ranges, Function&& f, schedule how = static_schedule()) {
    return or_leave(for_each_unless_stopped(nowait, ranges, f, how));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD detail::if_nested<Ranges> for_each_unless_stopped(
      nowait_t, const Ranges& ranges, Function&& f, schedule how = static_schedule()) {
    const auto each = detail::each_of_nested(ranges, f);
    return detail::loops::hand_out(at_, detail::iterations_of(ranges), how, each);
  }

  /// Blocks by what was measured in the loops before with the same schedule (weighted_schedule.hpp). If that was made for
  /// another number of members, the blocks are equal. There is no such loop with nowait.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_each(First first, Last last,
                                                                           Function&& f,
                                                                           weighted_schedule& how,
                                                                           call_site where = {}) {
    return or_leave(for_each_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_each_unless_stopped(First first, Last last,
                                                                            Function&& f,
                                                                            weighted_schedule& how,
                                                                            call_site where = {}) {
    const auto span = detail::span_of(first, last);
    const auto each = detail::each_of(span, f);
    at_.come_to("for_each", where, detail::extent_of(span));
    return detail::loops::hand_out_by_weight(at_, span.length, how, each);
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_range(First first, Last last,
                                                                            Function&& f,
                                                                            weighted_schedule& how,
                                                                            call_site where = {}) {
    return or_leave(for_range_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_range_unless_stopped(First first, Last last,
                                                                             Function&& f,
                                                                             weighted_schedule& how,
                                                                             call_site where = {}) {
    const auto span = detail::span_of(first, last);
    const auto blocks = detail::blocks_of(span, f);
    at_.come_to("for_range", where, detail::extent_of(span));
    return detail::loops::hand_out_by_weight(at_, span.length, how, blocks);
  }

  /// As for_each, with f(i, turn): turn([&] { ... }) runs that part of the iteration after the same part of all iterations
  /// before. An iteration need not call it. Choose small chunks: with blocks each member waits for all before it.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN detail::if_bounds<First, Last> for_ordered(
      First first, Last last, Function&& f, schedule how = static_schedule(1),
      call_site where = {}) {
    return or_leave(
        detail::loops::run_ordered(at_, detail::span_of(first, last), f, how, where, true));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD detail::if_bounds<First, Last> for_ordered_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule(1),
      call_site where = {}) {
    return detail::loops::run_ordered(at_, detail::span_of(first, last), f, how, where, false);
  }

  // --- one does it, or each something else ---

  /// Calls each of the functions once, each on the next member that comes; then waits for all.
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(Functions&&... functions) {
    return or_leave(sections_unless_stopped(functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool sections_unless_stopped(Functions&&... functions) {
    at_.come_to("sections", {nullptr, 0}, sizeof...(Functions));
    return sections_unless_stopped(nowait, functions...) && at_.sync();
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(nowait_t, Functions&&... functions) {
    return or_leave(sections_unless_stopped(nowait, functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool sections_unless_stopped(nowait_t, Functions&&... functions) {
    static_assert(!detail::has_nowait<Functions...>::value,
                  "lockstep: nowait is the first argument: me.sections(lockstep::nowait, f, g)");
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) detail::loops::call_one(k, functions...);
    };
    return detail::loops::hand_out_singly(at_, sizeof...(Functions), each);
  }

  /// Member 0 calls f(), which may be before the others have come; they wait until it has returned. Costs a barrier. In a
  /// stopped region f is not called.
  template <class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool single(Function&& f, call_site where = {}) {
    return or_leave(single_unless_stopped(f, where));
  }
  template <class Function>
  LOCKSTEP_NODISCARD bool single_unless_stopped(Function&& f, call_site where = {}) {
    check_plain<Function>();
    if (at_.is_stopped()) return false;
    at_.come_to("single", where);
    if (rank() == 0) {
      const detail::without_constructs mark(at_, "single");
      detail::loops::call_plain(f);
    }
    return at_.sync();
  }
  /// The member that comes first calls f(); the others go on.
  template <class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool single(nowait_t, Function&& f) {
    return or_leave(single_unless_stopped(nowait, f));
  }
  template <class Function>
  LOCKSTEP_NODISCARD bool single_unless_stopped(nowait_t, Function&& f) {
    check_plain<Function>();
    const auto call = [&f](std::size_t, std::size_t) { detail::loops::call_plain(f); };
    return detail::loops::hand_out_singly(at_, 1, call);
  }
  /// Member 0 calls f(); nobody waits.
  template <class Function>
  void masked(Function&& f) {
    check_plain<Function>();
    if (rank() != 0) return;
    const detail::without_constructs mark(at_, "masked");
    detail::loops::call_plain(f);
  }
  /// Calls f() while no other thread of the program is in a critical part of the same name, a type:
  /// me.critical<struct log_file>([&] { ... }). Fair. Requires: f enters no critical part of the same name, and calls no
  /// construct that waits. f is called in a stopped region, too, so that it can put in order what others look at afterwards.
  template <class Name = void, class Function>
  void critical(Function&& f, call_site where = {}) {
    check_plain<Function>();
    mutex& its_lock = detail::critical_name::mutex_of<Name>();
    if (detail::misuse::is_held_here(&its_lock)) {
      at_.report_inside("critical", where, "critical", "which has the same name");
    }
    struct held {
      mutex& lock;
      explicit held(mutex& m) : lock(m) { lock.lock(); }
      ~held() { lock.unlock(); }
    } const here(its_lock);
    const detail::without_constructs mark(at_, "critical");
    f();
  }

  // --- reductions over a range ---

  /// op(init, all values of f(first, last) over parts of the range, in order), on all members. The same bits for every
  /// team size, schedule and run: op is applied along a tree that depends on the length alone. So it must be associative.
  /// Waits for all: one phase with the default schedule, else two. With the default schedule members that wait run the
  /// shares of those that have not come, as in for_each.
  /// f sees what earlier loops, sections and single(nowait) wrote: after constructs with nowait it first waits for all, one
  /// phase more. If all of those were loops with static blocks of the same length it does not wait: then f(i) sees what
  /// their iteration i wrote, as with OpenMP's static loops. If f reads more than that, call sync_threads() before.
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_range(First first, Last last, Type init, Function&& f,
                                                    Operation op, schedule how = static_schedule(),
                                                    call_site where = {}) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_range", where, detail::extent_of(span));
    return detail::reductions::reduce<detail::reductions::block_value>(
        detail::reductions::by_members{at_}, span, f, init, op, how);
  }
  /// The same with f(i).
  template <class Type, class First, class Last, class Function, class Operation>
  detail::if_bounds<First, Last, Type> reduce_each(First first, Last last, Type init, Function&& f,
                                                   Operation op, schedule how = static_schedule(),
                                                   call_site where = {}) {
    const auto span = detail::span_of(first, last);
    at_.come_to("reduce_each", where, detail::extent_of(span));
    return detail::reductions::reduce<detail::reductions::each_value>(
        detail::reductions::by_members{at_}, span, f, init, op, how);
  }

  /// See team::scan_each. Waits for all, and begins as reduce_range does.
  template <class Type, class First, class Last, class Function, class Operation, class Store>
  detail::if_bounds<First, Last, Type> scan_each(First first, Last last, Type init, Function&& f,
                                                 Operation op, Store&& store,
                                                 call_site where = {}) {
    const auto span = detail::span_of(first, last);
    at_.come_to("scan_each", where, detail::extent_of(span));
    return detail::reductions::scan<Type>(detail::reductions::by_members{at_}, span, f, op, store,
                                          init, static_schedule());
  }

  // For a call that fits none of the above: the compiler says what is wrong with it.
  using misplaced_calls::for_each;
  using misplaced_calls::for_ordered;
  using misplaced_calls::for_range;
  using misplaced_calls::reduce_each;
  using misplaced_calls::reduce_range;
  using misplaced_calls::scan_each;

  // --- parts of the team: sub_team.hpp ---

  /// Members that give the same colour form a sub-team, in the order of their ranks here. A member that gives no_color is
  /// in none. Two phases; allocates.
  sub_team split(std::size_t color, call_site where = {});
  /// The first k members form a sub-team; the others get an empty one. Two phases; allocates. Fails if k
  /// is 0 or above size().
  sub_team first(std::size_t k, call_site where = {});
  static constexpr std::size_t no_color = ~std::size_t{0};

  // --- step by step ---

  /// This member has finished `step`, and all before it: members that wait for it see what it has done.
  /// Steps only grow; they begin at 0 in every region.
  void publish(std::size_t step) {
    published_ = step;
    at_.publish_step(step);
  }
  /// Blocks until member `rank` has published `step` or more. Fails if rank >= size(), and with std::logic_error
  /// for a step of this member's own beyond what it has published: nobody else can publish that.
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool await_step(std::size_t rank, std::size_t step) {
    return or_leave(await_step_unless_stopped(rank, step));
  }
  LOCKSTEP_NODISCARD bool await_step_unless_stopped(std::size_t rank, std::size_t step);

  // --- the early end ---

  /// True once the region is stopped: return soon then.
  bool stop_requested() const noexcept { return at_.is_stopped(); }
  /// Ends the region: MEMBER-3. run() returns false then.
  void request_stop() { at_.request_stop(); }

 private:
  friend class sub_team;
  friend struct detail::member_access;

  explicit member(detail::member_state& at) noexcept : at_(at) {}
  member(const member&) = default;

  template <class Type, class Operation>
  Type reduce_as(const char* kind, call_site where, const Type& value, Operation op) {
    at_.come_to(kind, where, sizeof(Type));
    return detail::reductions::reduce_values<Type>(at_, value, op);
  }
  template <class Function>
  static void check_plain() noexcept {
    static_assert(detail::is_callable<Function&>::value,
                  "lockstep::member: this construct's function cannot be called as f()");
  }

  /// The result of a plain form: true, unless it throws; without exceptions what it is given.
  static bool or_leave(bool goes_on) {
    if (!goes_on) detail::leave_stopped_region();
    return goes_on;
  }

  detail::member_state& at_;
  std::size_t published_ = 0;  ///< the last step of this member
};

namespace detail {

/// Makes the member object of a state, for the code that runs regions, and for constructs beyond those of member.
struct member_access {
  explicit member_access(member_state& of) noexcept : self(of) {}
  static member_state& state_of(const member& of) noexcept { return of.at_; }

  member self;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MEMBER_HPP
