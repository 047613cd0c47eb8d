// SPDX-License-Identifier: MIT
// tests/stress/actor.hpp -- one thread of a stress scenario: its draws, what it did, what it found wrong
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <lockstep/detail/platform/clock.hpp>

namespace lockstep::stress {

using namespace detail;

/// Numbers that follow from a seed. Equal seeds give equal numbers on every system.
class random_source {
 public:
  explicit random_source(std::uint64_t seed = 0) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
  }
  /// 0 to limit - 1.
  std::size_t below(std::size_t limit) noexcept { return static_cast<std::size_t>(next() % limit); }
  bool once_in(std::size_t times) noexcept { return below(times) == 0; }
  /// A start for counters of 32 bits: half of them pass through zero within the round.
  std::uint32_t first_phase() noexcept {
    return once_in(2) ? 0u : 0u - static_cast<std::uint32_t>(below(8) + 1);
  }
  /// Short enough to be over now and then before what is waited for.
  std::chrono::nanoseconds short_time() noexcept {
    return std::chrono::nanoseconds(std::int64_t{1} << below(18));
  }

 private:
  std::uint64_t state_;
};

/// A number that follows from these two and looks unlike either.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  return random_source(random_source(a).next() ^ b).next();
}

/// What the body of a scenario sees of its thread. The counters may be read while it runs.
class actor {
 public:
  random_source random;

  std::size_t rank() const noexcept { return rank_; }

  /// Nothing, a short spin or a yield.
  void pause() noexcept {
    const std::size_t draw = random.below(64);
    if (draw < 48) return;
    if (draw == 48) return std::this_thread::yield();
    for (std::size_t i = std::size_t{1} << draw % 9; i > 0; --i) detail::native::polling_pause();
  }

  /// Counts operations that are complete.
  void done(std::uint64_t count = 1) noexcept {
    done_.store(done_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }

  /// `fact` must hold; else the round has failed, by the first such text. The thread goes on: others
  /// may wait for it.
  void require(bool fact, const char* text) noexcept {
    if (!fact && first_broken() == nullptr) broken_.store(text, std::memory_order_release);
  }

  std::uint64_t operations() const noexcept { return done_.load(std::memory_order_relaxed); }
  const char* first_broken() const noexcept { return broken_.load(std::memory_order_acquire); }

  /// Before each run, while the thread waits for its body.
  void begin(std::size_t rank, std::uint64_t seed) noexcept {
    random = random_source(mix(seed, rank));
    rank_ = rank;
    done_.store(0, std::memory_order_relaxed);
    broken_.store(nullptr, std::memory_order_relaxed);
  }

 private:
  std::size_t rank_ = 0;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<const char*> broken_{nullptr};
};

}  // namespace lockstep::stress
