// SPDX-License-Identifier: MIT
// lockstep/detail/loop/loops.hpp -- the members of a region share the work of a range (layer: loop)
//
// The loops, sections and singles of member.hpp call these functions. src/loop/loops.hpp says how they work, and has
// LOOPS-1 to LOOPS-7. They reach the user's function only through a range_body, so they are compiled once.
#ifndef LOCKSTEP_DETAIL_LOOP_LOOPS_HPP
#define LOCKSTEP_DETAIL_LOOP_LOOPS_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/loop/misplaced.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
class weighted_schedule;

namespace detail {

class member_state;

namespace loops {

/// Calls body(first, last) for this member's parts of [0, length). Does not wait for other members, but may wait for a
/// free place of the loop board. Once the region is stopped, calls nothing more and returns false.
bool hand_out(member_state& at, std::size_t length, schedule how, const range_body& body);
/// The same, one iteration at a time, each to the member that comes first.
bool hand_out_singly(member_state& at, std::size_t count, const range_body& body);
/// As hand_out(), then waits for all. Meanwhile it may call body for the shares of members that have not come.
/// `extent`: extent_of() the range.
bool hand_out_and_wait(member_state& at, source_place where, std::size_t extent, std::size_t length,
                       schedule how, const range_body& body);
/// Hands out blocks by measured speed and lateness, then waits for all.
bool hand_out_by_weight(member_state& at, std::size_t length, weighted_schedule& how,
                        const range_body& body);

/// An iteration of an ordered loop.
using ordered_body = function_ref<void(std::size_t offset, ordered_turn& turn)>;
/// Hands out iterations that take turns, then waits for all. `throws`: a turn in a stopped region throws.
bool hand_out_in_order(member_state& at, source_place where, std::size_t extent, std::size_t length,
                       schedule how, const ordered_body& body, bool throws);

LOCKSTEP_BEGIN_SIGN_CONVERSIONS
/// Calls f(i, turn).
template <class Index, class Function>
bool run_ordered(member_state& at, const index_span<Index>& span, Function& f, schedule how,
                 source_place where, bool throws) {
  static_assert(is_callable<Function&, Index&, ordered_turn&>::value,
                "lockstep: the function of for_ordered must be callable as f(i, turn), with an "
                "index and a lockstep::ordered_turn&");
  const auto each = [&](std::size_t offset, ordered_turn& turn) {
    Index index = index_at(span.first, offset);
    f(index, turn);
  };
  return hand_out_in_order(at, where, extent_of(span), span.length, how, each, throws);
}
LOCKSTEP_END_SIGN_CONVERSIONS

/// Calls f(), if that compiles. If not, a static_assert has reported it, and shall be the only error.
template <class Function>
auto call_plain(Function& f) -> decltype(static_cast<void>(f())) {
  f();
}
template <class Function>
typename std::enable_if<!is_callable<Function&>::value>::type call_plain(Function&) noexcept {}

/// Calls the k-th of some functions.
inline void call_one(std::size_t) noexcept {}
template <class Function, class... Others>
void call_one(std::size_t k, Function& f, Others&... others) {
  static_assert(is_callable<Function&>::value || has_nowait<Function>::value,
                "lockstep: the function of a section cannot be called as f()");
  if (k == 0) {
    call_plain(f);
  } else {
    call_one(k - 1, others...);
  }
}

}  // namespace loops
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_LOOPS_HPP
