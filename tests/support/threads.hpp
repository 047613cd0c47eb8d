// SPDX-License-Identifier: MIT
// tests/support/threads.hpp -- starting threads for a test, and letting them begin together
//
// Uses the standard library only, never the library under test.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep::test {

/// run_threads for call(f, rank): std::thread is instantiated once, not for each function.
inline void run_threads_of(std::size_t count, void (*call)(void* f, unsigned rank), void* f) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (unsigned rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        call(f, rank);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!first) first = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

/// Calls f(rank) for ranks 0 to count - 1, each on a thread of its own; returns when all have ended.
/// The exception that was thrown first is thrown again.
template <class F>
void run_threads(std::size_t count, F f) {
  run_threads_of(count, [](void* one, unsigned rank) { (*static_cast<F*>(one))(rank); }, &f);
}

/// Lets `count` threads go on together, as closely as they can: none sleeps here. May be passed again
/// and again by the same threads.
class start_gate {
 public:
  explicit start_gate(std::size_t count) : count_(count) {}

  void arrive_and_wait() noexcept {
    const std::size_t ticket = arrived_.fetch_add(1, std::memory_order_acq_rel);
    const std::size_t all = (ticket / count_ + 1) * count_;
    for (unsigned polls = 1; arrived_.load(std::memory_order_acquire) < all; ++polls) {
      if (polls % 256 == 0) std::this_thread::yield();
    }
  }

 private:
  std::size_t count_;
  std::atomic<std::size_t> arrived_{0};
};

}  // namespace lockstep::test
