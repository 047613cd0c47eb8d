// SPDX-License-Identifier: MIT
// src/wait/word_waiter.cpp -- the changer's side of word_waiter.hpp (layer: wait)
#include "word_waiter.hpp"

#include "../observe/hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void wake_all_sleepers(const wait_word* word) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(word);
  futex_wake_all(word);
}
LOCKSTEP_INLINE void wake_one_sleeper(const wait_word* word) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(word);
  futex_wake_one(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
