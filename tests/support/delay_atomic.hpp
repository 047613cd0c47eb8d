// SPDX-License-Identifier: MIT
// tests/support/delay_atomic.hpp -- an atomic seam that delays: windows of a few cycles become wide
//
// For LOCKSTEP_ATOMIC_SEAM (detail/platform/atomic.hpp); lockstep_test(... DELAYED) builds with it. Each
// operation is the standard one; before and after it, once in 64 times each, the thread yields or
// spins for a random while. A bug between two accesses then shows within some rounds that plain stress
// does not meet in 10^5.
//
// Every thread draws from a generator of its own. The seed is LOCKSTEP_TEST_SEED from the environment,
// else a fixed one, and is printed when the program starts, since a lost wake-up ends it by a ctest
// timeout. The same seed gives the same draws, not the same schedule. Programs with seeds of their own
// restart a thread's generator (seed_this_thread).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <lockstep/detail/platform/clock.hpp>

namespace lockstep::test {

using namespace detail;

class delay_source {
 public:
  /// Once in 64 calls: a yield, or up to 2^12 pauses (at 26 ns each: 100 us), short ones being as
  /// frequent as long ones.
  static void maybe_delay() noexcept {
    const std::uint64_t draw = next();
    if (draw % 64 != 0) return;
    if (draw / 64 % 4 == 0) return std::this_thread::yield();
    const std::uint64_t pauses = std::uint64_t{1} << (draw / 256 % 13);
    for (std::uint64_t i = 0; i < pauses; ++i) detail::native::polling_pause();
  }

  /// From now on the calling thread draws what follows from `seed`.
  static void seed_this_thread(std::uint64_t seed) noexcept { state_of_this_thread() = seed | 1u; }

 private:
  static std::uint64_t& state_of_this_thread() noexcept {
    thread_local std::uint64_t state = 0;
    return state;
  }

  static std::uint64_t next() noexcept {
    std::uint64_t& state = state_of_this_thread();
    if (state == 0) state = first_state();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Du >> 16;
  }

  /// Differs from thread to thread, is never 0.
  static std::uint64_t first_state() noexcept {
    static std::atomic<std::uint64_t> threads{0};
    const std::uint64_t thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return (seed_ + thread * 0x9E3779B97F4A7C15u) | 1u;
  }

  static std::uint64_t read_seed() noexcept {
    const char* const text = std::getenv("LOCKSTEP_TEST_SEED");
    const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : 20240607;
    std::fprintf(stderr, "delays: LOCKSTEP_TEST_SEED=%ju\n", std::uintmax_t{seed});
    return seed;
  }

  static inline const std::uint64_t seed_ = read_seed();
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
