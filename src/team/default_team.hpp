// SPDX-License-Identifier: MIT
// src/team/default_team.hpp -- an object that the first caller makes for all (layer: team)
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  slot.load           acquire  2      the team is made before its address is seen
//   2  slot.compare_exch   release  1      as 1
#ifndef LOCKSTEP_SRC_TEAM_DEFAULT_TEAM_HPP
#define LOCKSTEP_SRC_TEAM_DEFAULT_TEAM_HPP

#include <cstddef>

#include <lockstep/detail/platform/atomic.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Null if none was made yet.
template <class Type>
Type* made_so_far(const atomic<void*>& slot) {
  return static_cast<Type*>(slot.load(memory_order_acquire));  // 1
}
/// Never destroyed. is_made(object): by the caller whose object it is.
template <class Type, class IsMade>
Type& made_by_the_first(atomic<void*>& slot, const IsMade& is_made) {
  if (Type* const made = made_so_far<Type>(slot)) return *made;
  void* known = nullptr;
  static_assert(alignof(Type) <= alignof(std::max_align_t), "C++11 `new` honours no more");
  Type* const made = new Type;
  if (slot.compare_exchange_strong(known, made, memory_order_release,  // 2
                                   memory_order_acquire)) {            // 1
    is_made(*made);
    return *made;
  }
  delete made;
  return *static_cast<Type*>(known);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_DEFAULT_TEAM_HPP
