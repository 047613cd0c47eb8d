// SPDX-License-Identifier: MIT
// src/sync/semaphore.cpp -- how threads wait for permits, and the errors of a semaphore (layer: sync)
//
// Invariants
//   SEMAPHORE-1  0 <= permits <= max(); a release beyond is refused and changes nothing.
//   SEMAPHORE-2  `waiting` is set exactly while the queue is not empty. Then permits are taken only by hand_over(), for
//                the front of the queue, under the queue's lock.
//   SEMAPHORE-3  A thread whose acquire() has returned may destroy the semaphore, even if the release() that served it
//                has not returned. A release touches nothing after its change of the word, unless the queue has a
//                waiter (PARKING-2), and it does not touch the word after it has notified the last waiter.
//
// word_
//   bit    name     meaning                  set by                               cleared by
//   0      waiting  the queue has a waiter   a waiter, as it queues up            the last to leave the queue
//   1..31  permits  how many are available   release counts up                    acquire, or hand_over(), counts down
// Both must be right whenever the queue's lock is free: if waiting is missing, a release serves nobody and others
// overtake; if it is set without a waiter, no thread gets a permit any more.
#include <lockstep/semaphore.hpp>

#include <lockstep/detail/platform/error.hpp>

#include "../wait/parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a semaphore mean (parking_lot.hpp). All threads want the same: a permit.
struct semaphore_rules {
  static constexpr wait_kind queue = wait_kind::counting_semaphore;
  static constexpr unsigned first_pauses = 1;

  static constexpr std::uint32_t waiting = 1, one_permit = 2;

  static bool may_take(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit && (word & waiting) == 0;
  }
  static bool may_serve(std::uint32_t word, std::uint32_t) noexcept { return word >= one_permit; }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t) noexcept {
    return word - one_permit;
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }

  static constexpr bool hands_over = true;
  static constexpr std::uint32_t served_as = 0;
  static std::uint32_t served(std::uint32_t word, std::uint32_t as) noexcept {
    return taken(word, as);
  }
};
static_assert(parking_lot::without_waiters(semaphore_rules::queue) == ~semaphore_rules::waiting,
              "PARKING-4");

LOCKSTEP_INLINE bool permit_count::take_slowly(deadline until, call_site where) {
  return queued_word<semaphore_rules>(word_, policy_).take_slowly(0, until.nanoseconds(), where);
}

LOCKSTEP_INLINE void permit_count::hand_over() {
  queued_word<semaphore_rules>(word_, policy_).serve();
}

[[noreturn]] LOCKSTEP_INLINE std::uint32_t permit_count::fail_permits(std::ptrdiff_t permits,
                                                                      std::ptrdiff_t most) {
  fail_argument("lockstep::counting_semaphore: %td permits given, must be 0 to %td", permits, most);
}

[[noreturn]] LOCKSTEP_INLINE void permit_count::fail_release(std::ptrdiff_t count,
                                                             std::ptrdiff_t there,
                                                             std::ptrdiff_t most) {
  constexpr const char* text =
      "lockstep::counting_semaphore at %p: release of %td permits by %s while it has %td of at "
      "most %td; release what was acquired, or give it a larger maximum";
  const void* const self = this;
  const thread_label releaser = label_of_this_thread();
  if (misuse::diagnosed) end_program(text, self, count, releaser.text, there, most);
  fail_argument(text, self, count, releaser.text, there, most);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
