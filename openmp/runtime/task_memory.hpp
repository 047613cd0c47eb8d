// SPDX-License-Identifier: MIT
// openmp/runtime/task_memory.hpp -- which regions make tasks
//
// A region that makes tasks ends with a barrier, at which its members run them. All others end without one, in 0.8 of
// the time. The first guess looks at the region's function: which functions of ours does its module call? Then each
// region shows what it does. One that has made tasks is expected to make some until 1023 in a row of its function have
// made none. A guess holds for 63 only: programs with tasks have many regions without, and where a guess is wrong, the
// members share the tasks of one region less evenly.
//
// The table has one place for each function. Two functions with the same place displace each other.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  known.load   relaxed  -      the word is all that is read
//   2  known.store  relaxed  -      as 1; a lost entry is found out again
//
//   bits of a word  meaning
//   63..16          the function's address
//   15..0           how many more regions of it in a row, without tasks, are to end with a barrier
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
  /// The function makes tasks.
  static void remember(outlined_function of) noexcept { expect(of, most); }

 private:
  static constexpr std::uint64_t most = 1023, guessed = 63;
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
  /// The next `regions` of the function without tasks are to end with a barrier.
  static void expect(outlined_function of, std::uint64_t regions) noexcept {
    place_of(of).store(address_of(of) << 16 | regions, detail::memory_order_relaxed);  // 2
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
