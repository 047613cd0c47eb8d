// SPDX-License-Identifier: MIT
// src/wait/word_waiter.cpp -- the changer's side of word_waiter.hpp (layer: wait)
#include "word_waiter.hpp"

#include "../observe/hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct word_differs {
  std::uint32_t value;
  bool operator()(std::uint32_t word) const noexcept { return (word | sleeping_bit) != value; }
  void describe(wait_subject&) const noexcept {}
};

LOCKSTEP_INLINE void wait_for_change(wait_word& word, std::uint32_t value, const void* object) {
  wait_until_word(word, word_differs{value}, object, wait_policy());
}

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
