// SPDX-License-Identifier: MIT
// src/sync/mutex.cpp -- the contended ways of mutex (layer: sync)
#include <lockstep/mutex.hpp>

#include "mutex_queue.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE bool mutex::try_lock_slowly() noexcept {
  return detail::mutex_queue(*this).try_take(detail::mutex_rules::newcomer);
}
LOCKSTEP_INLINE bool mutex::lock_slowly(std::uint64_t until) {
  return detail::mutex_queue(*this).take_slowly(detail::mutex_rules::newcomer, until);
}
LOCKSTEP_INLINE void mutex::wake_next() { detail::mutex_queue(*this).serve(); }

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
