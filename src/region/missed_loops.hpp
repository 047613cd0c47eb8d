// SPDX-License-Identifier: MIT
// src/region/missed_loops.hpp -- when loops ran that the workers slept through (layer: region)
//
// A loop that is shorter than a wake-up runs on its caller while the workers sleep. So they see nothing of it, and could
// not learn when the next one is due. The caller notes here when such loops begin and end; a worker that wakes up, for
// whatever reason, reads what it has missed (anticipation.hpp).
//
//   MISSED-1  One thread notes at a time; any may read. Who reads while a loop is noted, or after more than `capacity`
//             new ones, may see wrong times: they change when a worker polls, and no result. So nothing is ordered.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  time.store   relaxed  -      MISSED-1
//   2  time.load    relaxed  -      MISSED-1
//   3  count.store  relaxed  -      MISSED-1
//   4  count.load   relaxed  -      MISSED-1
//
// Cost   three stores to lines that nobody else touches while the workers sleep.
#ifndef LOCKSTEP_SRC_REGION_MISSED_LOOPS_HPP
#define LOCKSTEP_SRC_REGION_MISSED_LOOPS_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class missed_loops {
 public:
  static constexpr std::uint32_t capacity = 16;  // as many gaps as anticipation remembers

  /// On the monotonic clock, in nanoseconds.
  struct span {
    std::uint64_t begin, end;
  };

  void note(const span& loop) noexcept {
    const std::uint32_t before = count();
    entry& at = entries_[before % capacity];
    at.begin.store(loop.begin, memory_order_relaxed);  // 1
    at.end.store(loop.end, memory_order_relaxed);      // 1
    count_.store(before + 1, memory_order_relaxed);    // 3
  }
  /// How many there were so far; wraps.
  std::uint32_t count() const noexcept { return count_.load(memory_order_relaxed); }  // 4
  /// The loop that had such a count before it.
  span at(std::uint32_t count) const noexcept {
    const entry& of = entries_[count % capacity];
    return {of.begin.load(memory_order_relaxed), of.end.load(memory_order_relaxed)};  // 2
  }

 private:
  struct entry {
    unseamed_atomic<std::uint64_t> begin{0}, end{0};
  };

  entry entries_[capacity];
  unseamed_atomic<std::uint32_t> count_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_MISSED_LOOPS_HPP
