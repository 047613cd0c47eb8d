// SPDX-License-Identifier: MIT
// openmp/runtime/task_memory.hpp -- which regions make tasks
//
// A region that makes tasks ends with a barrier, at which its members run them; all others end without, in 0.8 of the time.
// Which do is guessed by the region's function: its module says what it calls of us. Then we see. A region that made tasks
// all the same is remembered, and one of a module that makes tasks is forgotten when it has made none so many times.
//
// What is known is in a table with one place for each function: others that fall on the same place displace it.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  known.load   relaxed  -      the word is all that is read
//   2  known.store  relaxed  -      as 1; a lost entry is found out again
//
//   bits of a word  meaning
//   63..16          the function's address
//   15..0           so many regions of it in a row that make no tasks are to end with a barrier still
#ifndef LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP
#define LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>

#include "part.hpp"

namespace lockstep::openmp {

class task_memory {
 public:
  /// Whether a region of this function may make tasks.
  static bool may_make(outlined_function of) noexcept {
    const std::uint64_t word = place_of(of).load(detail::memory_order_relaxed);  // 1
    return __builtin_expect(is_of(word, of), 1) ? (word & most) != 0 : find_out(of);
  }
  /// A region of this function that was to end with a barrier is over.
  static void learn(outlined_function of, bool has_made_tasks) noexcept {
    const std::uint64_t word = place_of(of).load(detail::memory_order_relaxed);  // 1
    if (!is_of(word, of) || (word & most) == 0) return;
    const std::uint64_t now = has_made_tasks ? word | most : word - 1;
    if (now != word) place_of(of).store(now, detail::memory_order_relaxed);  // 2
  }
  /// It makes tasks, or does not.
  static void remember(outlined_function of, bool makes_tasks = true) noexcept {
    place_of(of).store(address_of(of) << 16 | (makes_tasks ? most : 0u),
                       detail::memory_order_relaxed);  // 2
  }

 private:
  static constexpr std::uint64_t most = 1023;
  static constexpr unsigned places = 256;

  static std::uint64_t address_of(outlined_function of) noexcept {
    return reinterpret_cast<std::uint64_t>(of);
  }
  static bool is_of(std::uint64_t word, outlined_function of) noexcept {
    return ((word ^ address_of(of) << 16) >> 16) == 0;
  }
  static detail::atomic<std::uint64_t>& place_of(outlined_function of) noexcept {
    return known[(address_of(of) * 0x9E3779B97F4A7C15u) >> 56];
  }
  static bool find_out(outlined_function of) noexcept;

  __attribute__((visibility("hidden"))) static detail::atomic<std::uint64_t> known[places];
};

/// A task is made in the part's region.
inline void note_tasks(part& self) noexcept {
  if (__builtin_expect(!self.ends_with_barrier, 0) && self.function != nullptr)
    task_memory::remember(self.function);
}

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_TASK_MEMORY_HPP
