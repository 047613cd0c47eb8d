// SPDX-License-Identifier: MIT
// lockstep/latch.hpp -- opens once, when it has been counted down to zero (layer: sync)
//
// No wait returns before the count is zero. From then on every wait returns at once, for ever.
// The interface is that of std::latch. For phase after phase see barrier; to close again, manual_reset_event.
//
// When all waits have returned, the last of these threads may destroy the latch. What the bits of its word mean:
// src/sync/latch.cpp.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  word.fetch_sub  release  2, 3   every later change is a read-modify-write and keeps the release
//                                      sequence, so the waiter acquires from all that counted down
//   2  word.load       acquire  1      the other half
//   3  wait for word   acquire  1      as 2, in latch.cpp (1 of wait_engine.hpp)
//   4  word.load       relaxed  -      for observers, in latch.cpp
//
// Order  what happens before any count_down() happens before every return from a wait.
// Errors a bad count: std::invalid_argument. To count down by more than is left: undefined; debug builds end
//        the program.
// Cost   count_down: one read-modify-write. wait: one load when open, else a refetch of the line for each
//        change. No system call unless a waiter sleeps. 8 bytes: 4 of state, 4 of policy.
// Example
//   lockstep::latch ready(2);
//   lockstep::joinable_thread one([&] { ready.count_down(); }), two([&] { ready.count_down(); });
//   ready.wait();
#ifndef LOCKSTEP_LATCH_HPP
#define LOCKSTEP_LATCH_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/detail/wait/waiters.hpp>
#include <lockstep/wait_policy.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Lets all threads pass once it has been counted down to zero.
class latch : detail::misuse::watched<latch> {
 public:
  static constexpr std::ptrdiff_t(max)() noexcept { return 0x7FFFFFFF; }

  /// Open from the start if expected is 0. Fails if it is negative or above max().
  explicit constexpr latch(std::ptrdiff_t expected, wait_policy policy = wait_policy())
      : word_(checked(expected) * one_), policy_(policy) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// Takes `n` off the count; never blocks. Requires: 0 <= n <= what is left of the count.
  void count_down(std::ptrdiff_t n = 1) {
    detail::notify_point(&word_);
    const std::uint32_t change = static_cast<std::uint32_t>(n) * one_;
    const std::uint32_t old = word_.fetch_sub(change, detail::memory_order_release);  // 1
    if (detail::misuse::diagnosed) diagnose(&word_, n, static_cast<std::ptrdiff_t>(old / one_));
    if (is_open(old - change)) detail::wake_sleepers(&word_, old);
  }

  /// True if the latch is open; never blocks.
  bool try_wait() const noexcept { return is_open(word_.load(detail::memory_order_acquire)); }  // 2

  /// Blocks until the latch is open.
  void wait(call_site where = {}) const { wait_until(deadline::never(), where); }

  /// As count_down(n), then wait().
  void arrive_and_wait(std::ptrdiff_t n = 1, call_site where = {}) {
    count_down(n);
    wait(where);
  }

  /// As wait(), for at most `time`: ready or timed_out.
  template <class Rep, class Period>
  wait_status wait_for(std::chrono::duration<Rep, Period> time, call_site where = {}) const {
    return wait_until(deadline::after(time), where);
  }
  wait_status wait_until(deadline until, call_site where = {}) const {
    return try_wait() ? wait_status::ready : wait_slowly(until, where);
  }

  wait_policy policy() const noexcept { return policy_; }

 private:
  friend class detail::misuse::watched<latch>;
  static constexpr const char* kind = "lockstep::latch";
  static constexpr std::uint32_t one_ = 2;

  static bool is_open(std::uint32_t word) noexcept { return word < one_; }
  struct opened;

  static constexpr std::uint32_t checked(std::ptrdiff_t expected) {
    return expected >= 0 && expected <= (max)() ? static_cast<std::uint32_t>(expected)
                                                : (fail_expected(expected), 0u);
  }
  [[noreturn]] static void fail_expected(std::ptrdiff_t expected);
  static void diagnose(const void* object, std::ptrdiff_t n, std::ptrdiff_t left);
  wait_status wait_slowly(deadline until, call_site where) const;

  mutable detail::wait_word word_;
  wait_policy policy_;
};

static_assert(sizeof(latch) == 8, "a word of state, one of policy");

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_LATCH_HPP
