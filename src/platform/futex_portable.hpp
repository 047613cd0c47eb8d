// SPDX-License-Identifier: MIT
// src/platform/futex_portable.hpp -- sleeping in condition variables (layer: platform)
//
// The contract is in system.hpp. It is for POSIX systems without a futex of their own, and for builds with
// LOCKSTEP_FORCE_PORTABLE_FUTEX.
//
//   PORTABLE-1  The waiter compares and enters the condition variable under the bucket's mutex. The waker takes the
//               same mutex before it notifies. That is FUTEX-3.
//   PORTABLE-2  In a child of fork() the table is as new: the threads that held a mutex or waited are not there.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      FUTEX-5 promises no order; the mutex of PORTABLE-1 makes the last change visible
//   2  table.load  acquire  3      the table is made before its address is seen
//   3  table.comp  release  2      as 2. Two threads may make a table each: one of these is used
//
// Cost   a wait that must sleep: lock, and a wait in the condition variable. A wake: lock, and a system call if the
//        bucket has waiters.
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

/// A table of buckets, each a mutex and a condition variable. A hash of the word's address chooses the bucket. A wake
/// wakes the whole bucket: waiters on other words of it return for no reason, which FUTEX-1 allows.
///
/// The process has one table. It is made at first use and never destroyed, because static objects may wait and notify
/// before main() and while the program ends.
struct portable_futex {
  static const char* name() noexcept { return "mutex and condition variable"; }
  /// In a child, handlers that were registered after this call run when the table has been put right: see fork.hpp.
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

  /// Wakes the whole bucket, whether one waiter of the word is wanted or all.
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

  // The child makes all buckets anew, so no bucket is locked.
  struct around_fork : guarded_by_section {
    static constexpr bool is_first_in_child = true;
    static fork_section& section() { return process().futex_forks; }
    static void in_child() {
      void* const made = process().portable_futex.load(memory_order_acquire);  // 2
      bucket* const renewed = static_cast<bucket*>(made);
      // The old ones are not destroyed: that would wait for waiters, which are not there.
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
