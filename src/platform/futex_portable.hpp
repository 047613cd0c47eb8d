// SPDX-License-Identifier: MIT
// src/platform/futex_portable.hpp -- sleeping in condition variables (layer: platform)
//
// The contract is in system.hpp. For systems of POSIX without a call of their own for it, and where
// LOCKSTEP_FORCE_PORTABLE_FUTEX asks for it.
//
//   PORTABLE-1  The waiter compares and enters the condition variable under the bucket's mutex, the waker
//               takes the same mutex before it notifies: that is FUTEX-3.
//   PORTABLE-2  In a child process of fork() the table is as new: whoever held or waited is not there.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      FUTEX-5 promises no order; the mutex of PORTABLE-1 makes the last change visible
//   2  table.load  acquire  3      the table is made before its address is seen
//   3  table.comp  release  2      as 2; two threads may make one, and one of them is used
//
// Cost   wait that must sleep: lock, condition variable wait; wake: lock, and a system call when the bucket has waiters.
#ifndef LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP
#define LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP

#if !defined(_WIN32)

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

#include "fork.hpp"
#include "process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A table of mutex and condition variable pairs, chosen by a hash of the word's address. A wake wakes the whole bucket,
/// so that a neighbour of the same bucket may return spuriously, which FUTEX-1 allows.
///
/// The table is one for the process, made at first use and never destroyed: objects in static storage may wait
/// and notify before main and while the program exits.
struct portable_futex {
  static const char* name() noexcept { return "mutex and condition variable"; }
  /// Fork handlers that are registered after this call find the table put right in the child: see fork.hpp.
  static void prepare_for_fork() { table(); }

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    bucket& home = bucket_of(&word);
    std::unique_lock<std::mutex> held(home.mutex);
    if (word.load(memory_order_relaxed) != expected) return;  // 1
    ++home.waiters;
    if (deadline == no_deadline) {
      home.changed.wait(held);
    } else {
      using std::chrono::steady_clock;
      const std::uint64_t longest = ~std::uint64_t{0} >> 2;
      const std::chrono::nanoseconds since(
          static_cast<std::int64_t>(deadline < longest ? deadline : longest));
      home.changed.wait_until(held, steady_clock::time_point(
                                        std::chrono::duration_cast<steady_clock::duration>(since)));
    }
    --home.waiters;
  }

  /// All of the bucket, one or all of the word among them.
  static void wake(const wait_word* word, bool) {
    bucket& home = bucket_of(word);
    const std::lock_guard<std::mutex> held(home.mutex);
    if (home.waiters > 0) home.changed.notify_all();
  }

 private:
  struct bucket {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t waiters = 0;
  };

  static constexpr unsigned bits_ = 8;
  static constexpr std::size_t size_ = std::size_t{1} << bits_;

  static bucket* table() {
    watch_forks<around_fork>();
    void* known = process().portable_futex.load(memory_order_acquire);  // 2
    if (known != nullptr) return static_cast<bucket*>(known);
    bucket* const made = new bucket[size_];
    if (process().portable_futex.compare_exchange_strong(known, made, memory_order_acq_rel,  // 2, 3
                                                         memory_order_acquire)) {            // 2
      return made;
    }
    delete[] made;
    return static_cast<bucket*>(known);
  }

  // All buckets are made anew in the child, so none has to be whole.
  struct around_fork : guarded_by_section {
    static constexpr bool is_first_in_child = true;
    static fork_section& section() { return process().futex_forks; }
    static void in_child() {
      void* const made = process().portable_futex.load(memory_order_acquire);  // 2
      bucket* const renewed = static_cast<bucket*>(made);
      // Not destroyed: a condition variable waits for its waiters, which are not there.
      for (std::size_t i = 0; renewed != nullptr && i < size_; ++i)
        ::new (static_cast<void*>(&renewed[i])) bucket;
    }
  };

  static bucket& bucket_of(const wait_word* word) {
    // Fibonacci hashing: the high bits of the product depend on all bits of the address.
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word);
    return table()[converted<std::size_t>((address * 0x9E3779B97F4A7C15u) >> (64 - bits_))];
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP
