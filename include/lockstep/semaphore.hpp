// SPDX-License-Identifier: MIT
// lockstep/semaphore.hpp -- a number of permits that threads take and give (layer: sync)
//
// std::counting_semaphore by its operations. Permits go to waiters in the order of their arrival, and while a thread
// waits no other overtakes it. For one notifier and one waiter event.hpp is faster.
//
// Invariants
//   SEMAPHORE-1  0 <= permits <= max(); a release beyond is refused and changes nothing.
//   SEMAPHORE-2  `waiting` is set exactly while the queue is not empty. Then permits are taken only by hand_over(), for
//                the front of the queue, under the queue's lock.
//   SEMAPHORE-3  The semaphore may be destroyed by a thread whose acquire() has returned, although the release() that
//                let it go has not: that touches nothing after its change of the word, unless the queue has a waiter
//                (PARKING-2), and not the word after the last waiter was notified.
//
// word_
//   bit    name     meaning                  set by                               cleared by
//   0      waiting  the queue has a waiter   a waiter, as it queues up            the last to leave the queue
//   1..31  permits  how many are to be had   release counts up                    acquire, or hand_over(), counts down
// None may be wrong outside of the queue's lock: without waiting a release serves nobody and others overtake; with
// waiting and no waiter nobody gets a permit any more.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch release  -      for rows 1 and 4 of queued_word.hpp: a permit carries what its releaser did,
//                                        and those before it, because all changes keep the release sequence
//   2  word.load         relaxed  -      a guess for the compare-exchange that follows
//
// Order  what happens before a release() happens before the return of every acquire() that needed it.
// Errors a bad number of permits, and a release beyond max(): std::invalid_argument; debug builds end the program for
//        the latter.
// Cost   acquire and release: one read-modify-write each; no system call unless a thread sleeps. 8 bytes.
// Example
//   lockstep::semaphore free_slots(4);
//   free_slots.acquire();
//   free_slots.release();
// Source [DIJKSTRA65] for what it is, [PARKING-LOT] for the queue.
#ifndef LOCKSTEP_SEMAPHORE_HPP
#define LOCKSTEP_SEMAPHORE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/parking_lot.hpp>
#include <lockstep/detail/wait/queued_word.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the bits of a semaphore mean (queued_word.hpp). All threads want the same: a permit.
struct semaphore_rules {
  static constexpr parking_lot::kind queue = parking_lot::kind::semaphore;
  static constexpr bool backs_off = false;

  static constexpr std::uint32_t waiting = 1, one_permit = 2;

  static bool may_take(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit && (word & waiting) == 0;
  }
  static bool may_be_given(std::uint32_t word, std::uint32_t) noexcept {
    return word >= one_permit;
  }
  static std::uint32_t taken(std::uint32_t word, std::uint32_t) noexcept {
    return word - one_permit;
  }
  static std::uint32_t marked(std::uint32_t word, std::uint32_t) noexcept { return word | waiting; }
  static std::uint32_t without_waiters(std::uint32_t word) noexcept { return word & ~waiting; }
};
static_assert(parking_lot::without_waiters(semaphore_rules::queue) == ~semaphore_rules::waiting,
              "PARKING-4");

}  // namespace detail

/// A number of permits: acquire() takes one, and waits while there is none.
template <std::ptrdiff_t LeastMax = 0x3FFFFFFF>
class counting_semaphore : private detail::handed_word<detail::semaphore_rules> {
  static_assert(LeastMax >= 1 && LeastMax <= 0x3FFFFFFF, "a maximum of 1 to 2^30 - 1 permits");
  using rules = detail::semaphore_rules;

 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return LeastMax; }

  /// Begins with so many permits. Fails if that is negative or above max().
  explicit constexpr counting_semaphore(std::ptrdiff_t permits, wait_policy policy = wait_policy())
      : handed_word(static_cast<std::uint32_t>(checked(permits)) * rules::one_permit, policy) {}
  ~counting_semaphore() { detail::misuse::destroying(this, kind()); }
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  /// Blocks until a permit is there and takes it.
  void acquire(call_site where = {}) { try_acquire_until(deadline::never(), where); }

  /// Takes a permit if one is there that no thread waits for; never blocks.
  bool try_acquire() noexcept { return try_take(0); }

  /// As acquire(), for at most `time`; false if no permit was to be had.
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return try_acquire_until(deadline::after(time), where);
  }
  bool try_acquire_until(deadline until, call_site where = {}) {
    return try_acquire() || take_slowly(0, until, where);
  }

  /// Gives `count` permits. Fails, and gives none, if there were more than max() then.
  void release(std::ptrdiff_t count = 1) {
    detail::notify_point(this);
    if (count < 0) fail_release(count, 0);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 2
    do {
      const std::ptrdiff_t there = static_cast<std::ptrdiff_t>(word / rules::one_permit);
      if (count > (max)() - there) fail_release(count, there);
    } while (!word_.compare_exchange_strong(
        word, word + static_cast<std::uint32_t>(count) * rules::one_permit,
        detail::memory_order_release,  // 1
        detail::memory_order_relaxed));  // 2
    if ((word & rules::waiting) != 0) hand_over();
  }

  using handed_word::policy;

 private:
  static const char* kind() noexcept { return "lockstep::counting_semaphore"; }

  static constexpr std::ptrdiff_t checked(std::ptrdiff_t permits) {
    return permits >= 0 && permits <= (max)() ? permits : fail_permits(permits);
  }
  [[noreturn]] static std::ptrdiff_t fail_permits(std::ptrdiff_t permits) {
    char message[120];
    std::snprintf(message, sizeof message, "%s: %td permits given, must be 0 to %td", kind(),
                  permits, (max)());
    detail::fail<std::invalid_argument>(message);
  }
  [[noreturn]] LOCKSTEP_NOINLINE void fail_release(std::ptrdiff_t count, std::ptrdiff_t there) {
    char message[160];
    std::snprintf(message, sizeof message,
                  "%s: release of %td permits by %s while it has %td of at most %td", kind(), count,
                  detail::label_of_this_thread().text, there, (max)());
    if (detail::misuse::diagnosed) detail::misuse::report(this, kind(), message);
    detail::fail<std::invalid_argument>(message);
  }
};

using semaphore = counting_semaphore<>;
using binary_semaphore = counting_semaphore<1>;

static_assert(sizeof(semaphore) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SEMAPHORE_HPP
