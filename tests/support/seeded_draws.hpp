// SPDX-License-Identifier: MIT
// tests/support/seeded_draws.hpp -- random numbers, per thread, from one seed that is printed
//
// The seed is LOCKSTEP_TEST_SEED from the environment, else a fixed one. The same seed gives each thread
// the same draws, not the same schedule.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace lockstep::test {

class seeded_draws {
 public:
  static std::uint64_t next() noexcept {
    std::uint64_t& state = state_of_this_thread();
    if (state == 0) state = first_state();
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Du >> 16;
  }

  /// True once in `times` draws.
  static bool once_in(std::uint64_t times) noexcept { return next() % times == 0; }

  /// From now on the calling thread draws what follows from `seed`.
  static void seed_this_thread(std::uint64_t seed) noexcept { state_of_this_thread() = seed | 1u; }

 private:
  static std::uint64_t& state_of_this_thread() noexcept {
    thread_local std::uint64_t state = 0;
    return state;
  }

  /// Differs from thread to thread, is never 0.
  static std::uint64_t first_state() noexcept {
    static std::atomic<std::uint64_t> threads{0};
    const std::uint64_t thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return (seed_ + thread * 0x9E3779B97F4A7C15u) | 1u;
  }

  static std::uint64_t read_seed() noexcept {
    const char* const text = std::getenv("LOCKSTEP_TEST_SEED");
    const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 0) : 20251121;
    std::fprintf(stderr, "draws: LOCKSTEP_TEST_SEED=%ju\n", std::uintmax_t{seed});
    return seed;
  }

  static inline const std::uint64_t seed_ = read_seed();
};

}  // namespace lockstep::test
