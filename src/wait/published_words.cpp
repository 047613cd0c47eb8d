// SPDX-License-Identifier: MIT
// src/wait/published_words.cpp -- the bodies of published_words.hpp (layer: wait)
#include "published_words.hpp"

#include "../observe/hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void sleeper_mark::withdraw() noexcept {
  std::uint32_t odd = mark_.load(memory_order_relaxed);  // 3
  if ((odd & 1u) == 0) return;
  mark_.compare_exchange_strong(odd, odd + 1u, memory_order_relaxed,  // 5
                                memory_order_relaxed);                // 5
}

LOCKSTEP_INLINE void sleeper_mark::wake() {
  std::uint32_t odd = mark_.load(memory_order_relaxed);  // 3
  if ((odd & 1u) == 0) return;
  if (mark_.compare_exchange_strong(odd, odd + 1u, memory_order_relaxed,  // 5
                                    memory_order_relaxed)) {              // 5
    if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(&mark_);
    futex_wake_all(&mark_);
  }
}

LOCKSTEP_INLINE void sleeper_mark::sleep(waitable& what, deadline until, fence_payer payer) {
  const std::uint32_t odd = mark_.fetch_or(1u, memory_order_relaxed) | 1u;  // 4
  bool is_fenced = true;
  if (payer == fence_payer::sleeper) {
    is_fenced = fence_heavy();
  } else {
    thread_fence(memory_order_seq_cst);  // 6
  }
  if (what.ready()) return;
  std::uint64_t end = until.nanoseconds();
  if (!is_fenced) {  // a notifier may have missed the announcement: look again in a millisecond
    const std::uint64_t soon = monotonic_nanoseconds() + 1000000;
    if (soon < end) end = soon;
  }
  futex_wait(mark_, odd, end);
}

LOCKSTEP_INLINE lines_with_marks::lines_with_marks(std::size_t count, wait_policy its_policy,
                                                   const element_type& line)
    : lines(count, line),
      mark_array(count),
      data(lines.data()),
      marks(mark_array.data()),
      policy(its_policy),
      payer(fence_payer_of(its_policy)) {
  process_fence::prepare();
}

LOCKSTEP_INLINE void lines_with_marks::wake_all() const {
  for (std::size_t i = 0; i < lines.size(); ++i) marks[i].notify(payer);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
