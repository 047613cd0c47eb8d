// SPDX-License-Identifier: MIT
// lockstep/detail/team/member_loops.hpp -- the loops and sections of a member (layer: team)
//
// Part of member's interface: see member.hpp for which to use, and for M1 to M3. The bounds of a loop are of any
// integer types, as in a `for` loop, and f is called with their common type (index_span.hpp). f itself is called by
// reference.
//
// Each construct has a try_ form, which returns false in a stopped region, where the plain form throws.
//   M4  In a region that was stopped before the construct begins, f is not called at all. One that is stopped
//       while the construct runs is noticed between chunks. A block that was begun is run to its end: ask
//       stop_requested() in a long one, or take chunks.
#ifndef LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP

#include <cstddef>
#include <utility>

#include "../../weighted_schedule.hpp"
#include "loops.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {}  // namespace detail

/// First argument of a construct that is not to wait at its end.
struct nowait_t {};
constexpr nowait_t nowait = {};

namespace detail {

class member_loops {
 public:
  /// Calls f(first, last) for this member's parts of the range, with the default schedule its block, none if
  /// that is empty. Waits for nobody (with tickets: only for a member that is 8 constructs behind): where the
  /// next step reads what others wrote, sync_threads() first.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_range(
      First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(try_for_range(first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_range(First first, Last last, Function&& f,
                                                          schedule how = static_schedule()) {
    const auto span = span_of(first, last);
    return loops::hand_out(at_, index_range{0, span.length}, how, by_block(span, f));
  }

  /// Calls f(i) once for every i of [first, last), on some member, then waits for all. With static schedules that is the
  /// member of for_range, but the share of one that has not come yet may be run by another that waits
  /// (late_shares.hpp): iterations that need what their member did by itself since the last wait belong in
  /// for_range, or after a loop without a wait, which keeps the shares of the next loop where they are.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(try_for_each(first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(First first, Last last, Function&& f,
                                                         schedule how = static_schedule()) {
    return loops::for_each<loops::with_wait>(at_, span_of(first, last), how, f);
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(
      nowait_t, First first, Last last, Function&& f, schedule how = static_schedule()) {
    return or_leave(try_for_each(nowait, first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(nowait_t, First first, Last last,
                                                         Function&& f,
                                                         schedule how = static_schedule()) {
    return loops::for_each(at_, span_of(first, last), how, f);
  }

  /// f(i, j) over two nested ranges, or f(i, j, k) over three, as one: OpenMP's collapse. The schedule counts
  /// in the last one first. Fails if there are more iterations than std::size_t has numbers.
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(const Ranges& ranges, Function&& f,
                                                              schedule how = static_schedule()) {
    return or_leave(try_for_each(ranges, f, how));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> try_for_each(const Ranges& ranges, Function&& f,
                                                    schedule how = static_schedule()) {
    return loops::for_each_nested<loops::with_wait>(at_, ranges, how, f);
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_nested<Ranges> for_each(nowait_t, const Ranges& ranges,
                                                              Function&& f,
                                                              schedule how = static_schedule()) {
    return or_leave(try_for_each(nowait, ranges, f, how));
  }
  template <class Ranges, class Function>
  LOCKSTEP_NODISCARD if_nested<Ranges> try_for_each(nowait_t, const Ranges& ranges, Function&& f,
                                                    schedule how = static_schedule()) {
    return loops::for_each_nested(at_, ranges, how, f);
  }

  /// Blocks by what was measured in the loops before that used the same schedule (weighted_schedule.hpp).
  /// Its members are those of the region, else the blocks are equal. Always waits.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_each(First first, Last last,
                                                                   Function&& f,
                                                                   weighted_schedule& how) {
    return or_leave(try_for_each(first, last, f, how));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_each(First first, Last last, Function&& f,
                                                         weighted_schedule& how) {
    if (at_.is_stopped()) return false;
    const auto span = span_of(first, last);
    how.run_block(at_.next_phase(), index_range{0, span.length}, at_.rank(), at_.size(),
                  each_index(span, f));
    return at_.sync();
  }

  /// As for_each, with f(i, turn): turn([&] { ... }) runs that part of the iteration after the same part of all
  /// iterations before. An iteration need not call it. Choose a schedule with small chunks: with
  /// blocks the last member waits for all others.
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD_UNLESS_THROWN if_bounds<First, Last> for_ordered(
      First first, Last last, Function&& f, schedule how = static_schedule(1)) {
    return or_leave(run_ordered(span_of(first, last), how, f, true));
  }
  template <class First, class Last, class Function>
  LOCKSTEP_NODISCARD if_bounds<First, Last> try_for_ordered(First first, Last last, Function&& f,
                                                            schedule how = static_schedule(1)) {
    return run_ordered(span_of(first, last), how, f, false);
  }

  /// Calls each of the functions once, on whoever comes, then waits for all.
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(Functions&&... functions) {
    return or_leave(try_sections(functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool try_sections(Functions&&... functions) {
    return try_sections(nowait, functions...) && at_.sync();
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD_UNLESS_THROWN bool sections(nowait_t, Functions&&... functions) {
    return or_leave(try_sections(nowait, functions...));
  }
  template <class... Functions>
  LOCKSTEP_NODISCARD bool try_sections(nowait_t, Functions&&... functions) {
    return loops::first_come_each(at_, functions...);
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

 private:
  template <class Index, class Function>
  bool run_ordered(const index_span<Index>& span, schedule how, Function& f, bool throws) {
    return loops::in_construct(at_,
                               [&](loops::ticket_source& tickets) {
                                 ordered_turn turn(at_, tickets, throws);
                                 const auto part = [&](std::size_t begin, std::size_t end) {
                                   for (std::size_t i = begin; i < end && !at_.may_stop(); ++i) {
                                     turn.begin(i);
                                     call_with(span[i], turn, f);
                                     turn.end();
                                   }
                                 };
                                 loops::hand_out_in(at_, tickets, index_range{0, span.length}, how,
                                                    part);
                               }) &&
           at_.sync();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_MEMBER_LOOPS_HPP
