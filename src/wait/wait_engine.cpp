// SPDX-License-Identifier: MIT
// src/wait/wait_engine.cpp -- what waits share with public headers: wakes, trust, the pulse of a thread (layer: wait)
#include "wait_engine.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void wake_all_sleepers(const wait_word* word) { wake(word, true); }
LOCKSTEP_INLINE void wake_one_sleeper(const wait_word* word) { wake(word, false); }

LOCKSTEP_INLINE void backoff_trust::paid_measurably() noexcept {
  if (doubt_ != 0) {
    paid();
    counted_ = 0;
  } else if (counted_ < sure) {
    ++counted_;
  }
}

LOCKSTEP_INLINE bool backoff_trust::goes_unmeasured() noexcept {
  if (doubt_ != 0 || counted_ < sure) return false;
  if (++counted_ < sure + measure_interval) return true;
  counted_ = sure;
  return false;
}

LOCKSTEP_INLINE const wait_pulse*& wait_pulse::of_this_thread() noexcept {
  return per_thread<const wait_pulse*, struct name_of_pulse>();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
