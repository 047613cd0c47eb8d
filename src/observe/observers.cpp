// SPDX-License-Identifier: MIT
// src/observe/observers.cpp -- the bodies of observers.hpp (layer: observe)
//
// Memory order (# marks the line)
//   #  access              order    pairs  why it suffices
//   1  unchecked.store     relaxed  -      only ever set, before the unit runs; see misuse.hpp
#include "observers.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const observers_word& find_observers(bool is_unchecked) noexcept {
  process_state& all = process();
  if (is_unchecked) all.unchecked_units.store(1, memory_order_relaxed);  // 1
  return all.observers;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
