// SPDX-License-Identifier: MIT
// lockstep/semaphore.hpp -- a number of permits that threads take and give (layer: sync)
//
// std::counting_semaphore by its operations. Permits go to waiters in the order of their arrival, and
// while anybody waits nobody overtakes him. What happens before a release() happens before the return of
// every acquire() that needed it. For one notifier and one waiter event.hpp is faster.
//
// Invariants
//   S1  0 <= permits <= max(); a release beyond is refused and changes nothing.
//   S2  waiting_ is set exactly while the queue is not empty. Then only the releaser takes permits, to
//       hand them to the queue's first, under the queue's lock.
//   S3  The semaphore may be destroyed by a thread whose acquire() has returned, though the release() that
//       let it go has not: that touches nothing after its change of the word, unless the queue has a
//       waiter (Q2 of parking_lot.hpp), and the word not after the last waiter was notified.
//
//   word_   bit 0 waiting   bits 1..31 permits
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch acquire  2      a taken permit carries what its releaser did
//   2  word.compare_exch release  1      the other half; other changes keep the release sequence
//   3  word.load         relaxed  -      a guess for the compare-exchange that follows
//   4  word.compare_exch acquire  2      hands permits on: the waiter sees, through its notification (1 of
//                                        parking_lot.hpp), what the releasers of all of them did
//   5  word.compare_exch relaxed  -      changes the waiting bit only
//
// Cost   acquire and release: one read-modify-write each; no system call unless somebody sleeps. 8 bytes.
// Source [DIJKSTRA65] for what it is, [PARKING-LOT] for the queue.
#ifndef LOCKSTEP_SEMAPHORE_HPP
#define LOCKSTEP_SEMAPHORE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "detail/platform/error.hpp"
#include "detail/wait/misuse.hpp"
#include "detail/wait/parking_lot.hpp"
#include "detail/wait/wait_engine.hpp"
#include "wait_policy.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

template <std::ptrdiff_t LeastMax = 0x3FFFFFFF>
class counting_semaphore {
  static_assert(LeastMax >= 1 && LeastMax <= 0x3FFFFFFF, "a maximum of 1 to 2^30 - 1 permits");

 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return LeastMax; }

  /// Requires: 0 <= permits <= max().
  explicit constexpr counting_semaphore(std::ptrdiff_t permits, wait_policy policy = wait_policy())
      : word_(static_cast<std::uint32_t>(checked(permits)) * one_), policy_(policy) {}
  ~counting_semaphore() { detail::misuse::destroying(this, kind()); }
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  /// Blocks until a permit is there and takes it.
  void acquire() {
    if (!try_acquire()) acquire_slowly(deadline::never());
  }

  /// Takes a permit if one is there that nobody waits for; never blocks.
  bool try_acquire() noexcept {
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while (word >= one_ && (word & waiting_) == 0) {
      if (word_.compare_exchange_strong(word, word - one_, detail::memory_order_acquire,  // 1
                                        detail::memory_order_relaxed))                    // 3
        return true;
    }
    return false;
  }

  /// As acquire(), for at most `time`; false if no permit was to be had.
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> time) {
    return try_acquire_until(deadline::after(time));
  }
  template <class Clock, class Duration>
  bool try_acquire_until(std::chrono::time_point<Clock, Duration> point) {
    return try_acquire_until(deadline::at(point));
  }
  bool try_acquire_until(deadline until) { return try_acquire() || acquire_slowly(until); }

  /// Gives `count` permits. Fails, and gives none, if there were more than max() then.
  void release(std::ptrdiff_t count = 1) {
    if (count < 0) fail_release(count, 0);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      const std::ptrdiff_t there = static_cast<std::ptrdiff_t>(word / one_);
      if (count > (max)() - there) fail_release(count, there);
    } while (!word_.compare_exchange_strong(word, word + static_cast<std::uint32_t>(count) * one_,
                                            detail::memory_order_release,  // 2
                                            detail::memory_order_relaxed));  // 3
    if ((word & waiting_) != 0) hand_over();
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  static constexpr std::uint32_t waiting_ = 1, one_ = 2;

  static const char* kind() noexcept { return "lockstep::counting_semaphore"; }
  std::uintptr_t key() const noexcept {
    return detail::parking_lot::key(word_, detail::parking_lot::kind::semaphore);
  }
  static_assert(detail::parking_lot::without_waiters(detail::parking_lot::kind::semaphore) ==
                    ~waiting_,
                "Q4");

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
                  "%s: release of %td permits by %s, but there are %td and at most %td may be",
                  kind(), count, detail::label_of_this_thread().text, there, (max)());
    if (detail::misuse::diagnosed) detail::misuse::report(this, kind(), message);
    detail::fail<std::invalid_argument>(message);
  }

  /// What the wait engine looks at before a thread queues up.
  struct attempt {
    counting_semaphore& owner;
    bool ready() noexcept { return owner.try_acquire(); }
  };

  LOCKSTEP_NOINLINE bool acquire_slowly(deadline until) {
    const detail::misuse::waiting_scope waiting(this);
    attempt now{*this};
    if (detail::wait_engine::linger(now, policy_, detail::this_thread_history(), until))
      return true;
    detail::parked_thread self;
    if (!enqueue(self)) return true;
    return self.wait(policy_, until) || !leave(self);
  }

  /// Queues the thread up, unless there is a permit: then it is taken.
  bool enqueue(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    do {
      if (try_acquire()) return false;
      word = word_.load(detail::memory_order_relaxed);  // 3
    } while ((word >= one_ && (word & waiting_) == 0) || !mark(word, word | waiting_));
    waiters.push_back(self);
    return true;
  }

  /// Leaves the queue; false if the thread was given a permit before that.
  bool leave(detail::parked_thread& self) {
    detail::parking_lot::queue waiters(key());
    if (!waiters.contains(self)) return false;
    waiters.remove(self);
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    while (waiters.empty() && !mark(word, word & ~waiting_)) continue;
    return true;
  }

  /// Gives the first in the queue what permits there are.
  LOCKSTEP_NOINLINE void hand_over() {
    detail::wake_list woken;
    detail::parking_lot::queue waiters(key());
    if (waiters.empty()) return;
    std::uint32_t word = word_.load(detail::memory_order_relaxed);  // 3
    std::uint32_t served = 0, wanted = 0;
    do {
      served = 0;
      detail::parked_thread* next = waiters.front();
      for (; next != nullptr && served < word / one_; ++served) next = waiters.behind(*next);
      wanted = (word - served * one_) & ~(next == nullptr ? waiting_ : 0u);
    } while (!word_.compare_exchange_strong(word, wanted, detail::memory_order_acquire,  // 4
                                            detail::memory_order_relaxed));  // 3
    for (; served > 0; --served) {
      detail::parked_thread& next = *waiters.front();
      waiters.remove(next);
      woken.notify(next);
    }
  }

  bool mark(std::uint32_t& old, std::uint32_t wanted) noexcept {
    return word_.compare_exchange_strong(old, wanted, detail::memory_order_relaxed,  // 5
                                         detail::memory_order_relaxed);              // 3
  }

  detail::wait_word word_;
  wait_policy policy_;
};

using semaphore = counting_semaphore<>;
using binary_semaphore = counting_semaphore<1>;

static_assert(sizeof(semaphore) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SEMAPHORE_HPP
