// SPDX-License-Identifier: MIT
// tests/support/scripted_atomic.hpp -- an atomic seam that is the standard one, but tells of fences
//
// For LOCKSTEP_ATOMIC_SEAM (detail/platform/atomic.hpp), beside scripted_system.hpp, in tests of one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace lockstep::test {

using namespace detail;

/// The full fences of the one thread, with the action that the test hung on them.
struct scripted_fences {
  inline static std::size_t count = 0;
  inline static std::function<void()> on_fence;

  static void reset() {
    count = 0;
    on_fence = nullptr;
  }
};

}  // namespace lockstep::test

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class T>
using atomic = std::atomic<T>;

inline void thread_fence(std::memory_order order) {
  if (order == std::memory_order_seq_cst) {
    ++test::scripted_fences::count;
    if (test::scripted_fences::on_fence) test::scripted_fences::on_fence();
  }
}
inline void signal_fence(std::memory_order) {}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
