// SPDX-License-Identifier: MIT
// lockstep/detail/wait/sleeping_bit.hpp -- wakes threads that sleep on a word, marked by its lowest bit (layer: wait)
//
// The changer's side of WORD-2. The waiter's side and the proof are in src/wait/wait_engine.hpp.
#ifndef LOCKSTEP_DETAIL_WAIT_SLEEPING_BIT_HPP
#define LOCKSTEP_DETAIL_WAIT_SLEEPING_BIT_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The phase, count or position that an object begins with. For protected constructors: a test derives from the object
/// and begins shortly before the wrap-around.
struct first_phase {
  std::uint32_t value;
};

/// Set: a thread may sleep on the word.
constexpr std::uint32_t sleeping_bit = 1;

/// Wakes all threads that sleep on the word, or one. The object may be gone already.
void wake_all_sleepers(const wait_word* word);
void wake_one_sleeper(const wait_word* word);

/// Called after a change of the word from `old`.
inline void wake_sleepers(const wait_word* word, std::uint32_t old) {
  if (LOCKSTEP_UNLIKELY((old & sleeping_bit) != 0)) wake_all_sleepers(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_SLEEPING_BIT_HPP
