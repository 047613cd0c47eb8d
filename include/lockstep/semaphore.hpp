// SPDX-License-Identifier: MIT
// lockstep/semaphore.hpp -- a number of permits that threads take and give (layer: sync)
//
// std::counting_semaphore by its operations. Permits go to waiters in the order of their arrival, and no thread
// overtakes a waiter. For one notifier and one waiter event.hpp is faster.
//
// A thread whose acquire() has returned may destroy the semaphore, even if the release() of its permit has not returned
// yet. Invariants, and what the bits of its word mean: src/sync/semaphore.cpp.
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  word.compare_exch release  -      for rows 5 and 8 of parking_lot.hpp: a permit carries what its releaser did,
//                                        and those before it, because all changes keep the release sequence
//   2  word.load         relaxed  -      a guess for the compare-exchange that follows
//   3  word.compare_exch acquire  1      the other half
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

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What all semaphores have in common, whatever their maximum.
class permit_count {
 protected:
  static constexpr std::uint32_t waiting_ = 1, one_permit_ = 2;

  constexpr permit_count(std::ptrdiff_t permits, std::ptrdiff_t most, wait_policy policy)
      : word_(permits >= 0 && permits <= most ? static_cast<std::uint32_t>(permits) * one_permit_
                                              : fail_permits(permits, most)),
        policy_(policy) {}
  ~permit_count() { misuse::destroying(this, "lockstep::counting_semaphore"); }

  bool take() noexcept {
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    while (word >= one_permit_ && (word & waiting_) == 0) {
      if (word_.compare_exchange_strong(word, word - one_permit_, memory_order_acquire,  // 3
                                        memory_order_relaxed)) {                         // 2
        return true;
      }
    }
    return false;
  }
  /// False if `until` came first.
  bool take_slowly(deadline until, call_site where);
  void give(std::ptrdiff_t count, std::ptrdiff_t most) {
    notify_point(this);
    if (count < 0) fail_release(count, 0, most);
    std::uint32_t word = word_.load(memory_order_relaxed);  // 2
    do {
      const std::ptrdiff_t there = static_cast<std::ptrdiff_t>(word / one_permit_);
      if (count > most - there) fail_release(count, there, most);
    } while (!word_.compare_exchange_strong(
        word, word + static_cast<std::uint32_t>(count) * one_permit_, memory_order_release,  // 1
        memory_order_relaxed));  // 2
    if ((word & waiting_) != 0) hand_over();
  }

 private:
  [[noreturn]] static std::uint32_t fail_permits(std::ptrdiff_t permits, std::ptrdiff_t most);
  [[noreturn]] void fail_release(std::ptrdiff_t count, std::ptrdiff_t there, std::ptrdiff_t most);
  /// Gives the permits that are there to the front of the queue.
  void hand_over();

  wait_word word_;

 protected:
  wait_policy policy_;
};

}  // namespace detail

/// A number of permits: acquire() takes one, and waits while there is none.
template <std::ptrdiff_t LeastMax = 0x3FFFFFFF>
class counting_semaphore : private detail::permit_count {
  static_assert(LeastMax >= 1 && LeastMax <= 0x3FFFFFFF, "a maximum of 1 to 2^30 - 1 permits");

 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return LeastMax; }

  /// Begins with this number of permits. Fails if it is negative or above max().
  explicit constexpr counting_semaphore(std::ptrdiff_t permits, wait_policy policy = wait_policy())
      : permit_count(permits, LeastMax, policy) {}
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;

  /// Blocks until a permit is there and takes it.
  void acquire(call_site where = {}) { try_acquire_until(deadline::never(), where); }

  /// Takes a permit if one is there that no thread waits for; never blocks.
  bool try_acquire() noexcept { return take(); }

  /// As acquire(), for at most `time`; false if no permit was to be had.
  template <class Rep, class Period>
  bool try_acquire_for(std::chrono::duration<Rep, Period> time, call_site where = {}) {
    return try_acquire_until(deadline::after(time), where);
  }
  bool try_acquire_until(deadline until, call_site where = {}) {
    return take() || take_slowly(until, where);
  }

  /// Gives `count` permits. Fails, and gives none, if there were more than max() then.
  void release(std::ptrdiff_t count = 1) { give(count, LeastMax); }

  wait_policy policy() const noexcept { return policy_; }
};

using semaphore = counting_semaphore<>;
using binary_semaphore = counting_semaphore<1>;

static_assert(sizeof(semaphore) == 8, "a word of state and a policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SEMAPHORE_HPP
