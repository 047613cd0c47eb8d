// SPDX-License-Identifier: MIT
// lockstep/detail/loop/member_loops.hpp -- the loops and sections of a member (layer: loop)
//
// Part of member's interface: see member.hpp for which to use, and for MEMBER-1 to MEMBER-3. The bounds of a loop are
// of any integer types, as in a `for` loop, and f is called with their common type (index_span.hpp). f itself is called
// by reference.
// What f returns is ignored: for values see the reductions of member.hpp.
//
// Each construct has a form X_unless_stopped, which returns false in a stopped region, where the plain form throws.
//   LOOPS-8  In a region that was stopped before the construct begins, f is not called at all. One that is stopped
//       while the construct runs is noticed between chunks. A block that was begun is run to its end: ask
//       stop_requested() in a long one, or take chunks.
#ifndef LOCKSTEP_DETAIL_LOOP_MEMBER_LOOPS_HPP
#define LOCKSTEP_DETAIL_LOOP_MEMBER_LOOPS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/region/group.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class member_loops {
 public:
  /// Calls f(first, last) for this member's parts of the range, with the default schedule its block, none if
  /// that is empty. Waits for nobody (with tickets: only for a member that is 8 constructs behind): where the
  /// next step reads what others wrote, sync_threads() first.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_range(
      First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(for_range_unless_stopped(first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> for_range_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto blocks = blocks_of(span, f);
    return loops::hand_out(at_, span.length, how, body_of(blocks));
  }

  /// Calls f(i) once for every i of [first, last), on some member, then waits for all. With static schedules that is
  /// the member of for_range, but the share of one that has not come yet may be run by another that waits
  /// (loops.hpp): iterations that need what their member did by itself since the last wait belong in
  /// for_range, or after a loop without a wait, which keeps the shares of the next loop where they are.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(First first, Last last,
                                                                   Function&& f,
                                                                   schedule how = static_schedule(),
                                                                   call_site where = {}) {
    return or_leave(for_each_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> for_each_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule(),
      call_site where = {}) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    return loops::hand_out_and_wait(at_, where, span.length, how, body_of(each));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(for_each_unless_stopped(nowait, first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> for_each_unless_stopped(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    return loops::hand_out(at_, span.length, how, body_of(each));
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one: OpenMP's collapse. The schedule counts
  /// in the last one first. Fails if there are more iterations than std::size_t has numbers.
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(const Ranges& ranges, Function&& f,
                                                              schedule how = static_schedule(),
                                                              call_site where = {}) {
    return or_leave(for_each_unless_stopped(ranges, f, how, where));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> for_each_unless_stopped(const Ranges& ranges, Function&& f,
                                                               schedule how = static_schedule(),
                                                               call_site where = {}) {
    const auto each = each_of_nested(ranges, f);
    return loops::hand_out_and_wait(at_, where, iterations_of(ranges), how, body_of(each));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(nowait_t, const Ranges& ranges,
                                                              Function&& f,
                                                              schedule how = static_schedule()) {
    return or_leave(for_each_unless_stopped(nowait, ranges, f, how));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> for_each_unless_stopped(nowait_t, const Ranges& ranges,
                                                               Function&& f,
                                                               schedule how = static_schedule()) {
    const auto each = each_of_nested(ranges, f);
    return loops::hand_out(at_, iterations_of(ranges), how, body_of(each));
  }

  /// Blocks by what was measured in the loops before that used the same schedule (weighted_schedule.hpp).
  /// Its members are those of the region, else the blocks are equal. Always waits.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(First first, Last last,
                                                                   Function&& f,
                                                                   weighted_schedule& how,
                                                                   call_site where = {}) {
    return or_leave(for_each_unless_stopped(first, last, f, how, where));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> for_each_unless_stopped(First first, Last last,
                                                                    Function&& f,
                                                                    weighted_schedule& how,
                                                                    call_site where = {}) {
    const auto span = span_of(first, last);
    const auto each = each_of(span, f);
    return loops::hand_out_by_weight(at_, where, span.length, how, body_of(each));
  }

  /// As for_each, with f(i, turn): turn([&] { ... }) runs that part of the iteration after the same part of all
  /// iterations before. An iteration need not call it. Choose a schedule with small chunks: with
  /// blocks the last member waits for all others.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_ordered(
      First first, Last last, Function&& f, schedule how = static_schedule(1),
      call_site where = {}) {
    return or_leave(loops::run_ordered(at_, span_of(first, last), f, how, where, true));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> for_ordered_unless_stopped(
      First first, Last last, Function&& f, schedule how = static_schedule(1),
      call_site where = {}) {
    return loops::run_ordered(at_, span_of(first, last), f, how, where, false);
  }

  // What is wrong with a call that fits none of the above (misplaced.hpp).

  template <class... Arguments>
  if_misplaced<Arguments...> for_range(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced<Arguments...> for_range_unless_stopped(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced_after_nowait<Arguments...> for_each(Arguments&&...) {
    return refuse_loop_after_nowait<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced_after_nowait<Arguments...> for_each_unless_stopped(Arguments&&...) {
    return refuse_loop_after_nowait<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced<Arguments...> for_ordered(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }
  template <class... Arguments>
  if_misplaced<Arguments...> for_ordered_unless_stopped(Arguments&&...) {
    return refuse_loop<Arguments...>();
  }

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
    static_assert(!has_nowait<Functions...>::value,
                  "lockstep: nowait is the first argument: me.sections(lockstep::nowait, f, g)");
    const auto each = [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) loops::call_one(k, functions...);
    };
    return loops::hand_out_singly(at_, sizeof...(Functions), body_of(each));
  }

 protected:
  explicit member_loops(member_state& at) noexcept : at_(at) {}
  member_loops(const member_loops&) = default;
  member_loops& operator=(const member_loops&) = delete;
  ~member_loops() = default;

  /// What a plain form returns.
  static bool or_leave(bool goes_on) {
    if (!goes_on) leave_stopped_region();
    return goes_on;
  }

  member_state& at_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_MEMBER_LOOPS_HPP
