// SPDX-License-Identifier: MIT
// tests/support/delay_atomic.hpp -- an atomic seam that delays: windows of a few cycles become wide
//
// For LOCKSTEP_ATOMIC_SEAM (detail/platform/atomic.hpp); lockstep_test(... DELAYED) builds with it. Each
// operation is the standard one; before and after it, once in 64 times each, the thread yields or
// spins for a random while. A bug between two accesses then shows within some rounds that plain stress
// does not meet in 10^5.
//
// The seed is printed when the program starts, since a lost wake-up ends it by a ctest timeout. Programs
// with seeds of their own restart a thread's generator (seeded_draws::seed_this_thread).
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <lockstep/detail/platform/clock.hpp>

#include "support/seeded_draws.hpp"

namespace lockstep::test {

using namespace detail;

class delay_source {
 public:
  /// Once in 64 calls: a yield, or up to 2^12 pauses (at 26 ns each: 100 us), short ones being as
  /// frequent as long ones.
  static void maybe_delay() noexcept {
    const std::uint64_t draw = seeded_draws::next();
    if (draw % 64 != 0) return;
    if (draw / 64 % 4 == 0) return std::this_thread::yield();
    const std::uint64_t pauses = std::uint64_t{1} << (draw / 256 % 13);
    for (std::uint64_t i = 0; i < pauses; ++i) detail::native::polling_pause();
  }
};

/// Delays before and after the expression in whose scope it lives.
struct delayed_scope {
  delayed_scope() noexcept { delay_source::maybe_delay(); }
  ~delayed_scope() { delay_source::maybe_delay(); }
  delayed_scope(const delayed_scope&) = delete;
  delayed_scope& operator=(const delayed_scope&) = delete;
};

}  // namespace lockstep::test

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class T>
class atomic {
 public:
  atomic() noexcept = default;
  constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order) const noexcept {
    const test::delayed_scope around;
    return value_.load(order);
  }
  void store(T value, std::memory_order order) noexcept {
    const test::delayed_scope around;
    value_.store(value, order);
  }
  T exchange(T value, std::memory_order order) noexcept {
    const test::delayed_scope around;
    return value_.exchange(value, order);
  }
  T fetch_add(T operand, std::memory_order order) noexcept {
    const test::delayed_scope around;
    return value_.fetch_add(operand, order);
  }
  T fetch_sub(T operand, std::memory_order order) noexcept {
    const test::delayed_scope around;
    return value_.fetch_sub(operand, order);
  }
  T fetch_or(T operand, std::memory_order order) noexcept {
    const test::delayed_scope around;
    return value_.fetch_or(operand, order);
  }
  T fetch_and(T operand, std::memory_order order) noexcept {
    const test::delayed_scope around;
    return value_.fetch_and(operand, order);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure) noexcept {
    const test::delayed_scope around;
    return value_.compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    const test::delayed_scope around;
    return value_.compare_exchange_weak(expected, desired, success, failure);
  }

 private:
  std::atomic<T> value_;
};

inline void thread_fence(std::memory_order order) noexcept {
  const test::delayed_scope around;
  std::atomic_thread_fence(order);
}
inline void signal_fence(std::memory_order order) noexcept {
  const test::delayed_scope around;
  std::atomic_signal_fence(order);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
