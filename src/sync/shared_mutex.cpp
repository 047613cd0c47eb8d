// SPDX-License-Identifier: MIT
// src/sync/shared_mutex.cpp -- the contended ways of shared_mutex (layer: sync)
//
// Invariants
//   SHARED-1  `writer` is set or readers > 0, never both.
//   SHARED-2  `waiting` is set exactly while the queue is not empty; then a thread gets in only by hand_over(), on
//             behalf of the queue: a thread that was notified holds the lock.
//   SHARED-3  A thread that makes the lock free while `waiting` is set hands over. So does a thread that leaves the
//             queue: its place may have been what held up those behind it.
//   SHARED-4  The object may be destroyed by the thread that has held and unlocked it last (as MUTEX-5).
//
// word_
//   bit    name     meaning                   set by                               cleared by
//   0      writer   a writer holds it         lock, or hand_over() for the writer  unlock
//   1      waiting  the queue has a waiter    a waiter, as it queues up            the last to leave the queue
//   2..31  readers  how many readers hold it  lock_shared, or hand_over(), counts  unlock_shared counts down
// All must be right whenever the queue's lock is free: if waiting is missing, an unlock lets nobody in and others
// overtake; if it is set without a waiter, no thread gets in any more.
#include <lockstep/shared_mutex.hpp>

#include "../wait/parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a shared_mutex mean (parking_lot.hpp).
struct shared_mutex_rules {
  static constexpr wait_kind queue = wait_kind::shared_mutex;
  static constexpr unsigned first_pauses = 1;

  static constexpr std::uint32_t writer = 1, waiting = 2, one_reader = 4;
  enum purpose : std::uint32_t { to_read, to_write };

  static bool may_take(std::uint32_t word, std::uint32_t as) noexcept {
    return (word & waiting) == 0 && may_serve(word, as);
  }
  static bool may_serve(std::uint32_t word, std::uint32_t as) noexcept {
    return as == to_read ? (word & writer) == 0 : (word & ~waiting) == 0;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t as) noexcept {
    return word + (as == to_read ? one_reader : writer);
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }

  static constexpr bool hands_over = true;
  static constexpr std::uint32_t served_as = 0;
  static std::uint32_t served(std::uint32_t word, std::uint32_t as) noexcept {
    return taken(word, as);
  }
};
static_assert(parking_lot::without_waiters(shared_mutex_rules::queue) ==
                  ~shared_mutex_rules::waiting,
              "PARKING-4");

}  // namespace detail

LOCKSTEP_INLINE bool shared_mutex::lock_slowly(bool to_write, deadline until) {
  using rules = detail::shared_mutex_rules;
  detail::misuse::check_no_reader(this, kind());
  return detail::queued_word<rules>(word_, policy_)
      .take_slowly(to_write ? rules::to_write : rules::to_read, until.nanoseconds());
}

LOCKSTEP_INLINE void shared_mutex::hand_over() {
  detail::queued_word<detail::shared_mutex_rules>(word_, policy_).serve();
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
