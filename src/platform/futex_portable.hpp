// SPDX-License-Identifier: MIT
// src/platform/futex_portable.hpp -- sleeping in condition variables (layer: platform)
//
// The contract is in system.hpp. For systems without a call of their own for it, and where
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
//   4  fence       seq_cst  5      see wake_if_used(): the waiter's half
//   5  fence       seq_cst  4      the waker's half
//
// Cost   wait that must sleep: lock, condition variable wait; wake: lock, and a system call when the bucket has waiters.
#ifndef LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP
#define LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

#include "fork_tables.hpp"
#include "process.hpp"
#if defined(_WIN32)
#include "timed_sleep_windows.hpp"
#include "windows.hpp"
#else
#include <chrono>
#include <condition_variable>
#include <mutex>
#endif

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
    home.mutex.lock();
    if (word.load(memory_order_relaxed) == expected) {  // 1
      ++home.waiters;
      home.sleep(deadline);
      --home.waiters;
    }
    home.mutex.unlock();
  }

  static void wake_all(const wait_word* word) {
    bucket& home = bucket_of(word);
    const holding<decltype(home.mutex)> lock(home.mutex);
    if (home.waiters > 0) home.wake_all();
  }

  /// For waits that use this table beside another way to sleep. False if there is no memory for it; nothing was done then.
  static bool wait_beside(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    if (!has_table()) return false;
    thread_fence(memory_order_seq_cst);  // 4
    wait(word, expected, deadline);
    return true;
  }

  /// Wakes all who wait_beside() on the word. A waker that finds no table has changed the word where the waiter sees it:
  ///   waiter                      waker
  ///     table = made                word = changed
  ///     fence                       fence
  ///     reads word                  reads table
  /// One of the two reads sees what the other thread has written. Once there is a table, the mutex does it: PORTABLE-1.
  static void wake_if_used(const wait_word* word) {
    thread_fence(memory_order_seq_cst);                                          // 5
    if (process().portable_futex.load(memory_order_acquire) == nullptr) return;  // 2
    wake_all(word);
  }

 private:
  struct bucket {
#if defined(_WIN32)
    windows_mutex mutex;
    windows_condition changed;
    timed_sleepers timed;

    void sleep(std::uint64_t deadline) {
      if (deadline != no_deadline && has_fine_timers() && timed.sleep(mutex, deadline)) return;
      changed.wait(mutex, deadline);
    }
    void wake_all() {
      timed.wake_all();
      changed.notify_all();
    }
#else
    std::mutex mutex;
    std::condition_variable changed;

    void sleep(std::uint64_t deadline) {
      std::unique_lock<std::mutex> held(mutex, std::adopt_lock);
      if (deadline == no_deadline) {
        changed.wait(held);
      } else {
        changed.wait_until(held, to_time_point(deadline));
      }
      held.release();
    }
    void wake_all() { changed.notify_all(); }
#endif
    std::size_t waiters = 0;
  };

  static constexpr unsigned bits_ = 8;
  static constexpr std::size_t size_ = std::size_t{1} << bits_;

  static bucket* table() {
    watch_forks<around_fork, true>();
    void* const known = process().portable_futex.load(memory_order_acquire);  // 2
    return known != nullptr ? static_cast<bucket*>(known) : keep(new bucket[size_]);
  }
  static bool has_table() {
    if (process().portable_futex.load(memory_order_acquire) != nullptr) return true;  // 2
    bucket* const made = new (std::nothrow) bucket[size_];
    return made != nullptr && keep(made) != nullptr;
  }
  /// The table from now on: this one, or that of a thread that was faster.
  static bucket* keep(bucket* made) {
    void* known = nullptr;
    if (process().portable_futex.compare_exchange_strong(known, made, memory_order_acq_rel,  // 2, 3
                                                         memory_order_acquire)) {            // 2
      return made;
    }
    delete[] made;
    return static_cast<bucket*>(known);
  }

  // No bucket is half changed in the child. A table that is made meanwhile is not held.
  struct around_fork {
    static void before() {
      process_state& all = process();
      if (!all.futex_forks.enter()) return;
      all.futex_held = all.portable_futex.load(memory_order_acquire);  // 2
      bucket* const held = static_cast<bucket*>(all.futex_held);
      for (std::size_t i = 0; held != nullptr && i < size_; ++i) held[i].mutex.lock();
    }
    static void after() {
      process_state& all = process();
      if (!all.futex_forks.is_held()) return;
      bucket* const held = static_cast<bucket*>(all.futex_held);
      for (std::size_t i = 0; held != nullptr && i < size_; ++i) held[i].mutex.unlock();
      all.futex_forks.leave();
    }
    static void child() {
      process_state& all = process();
      if (!all.futex_forks.is_held()) return;
      void* const made = all.portable_futex.load(memory_order_acquire);  // 2
      bucket* const renewed = static_cast<bucket*>(made);
      // Not destroyed: a condition variable waits for its waiters, which are not there.
      for (std::size_t i = 0; renewed != nullptr && i < size_; ++i) {
        ::new (static_cast<void*>(&renewed[i])) bucket;
      }
      all.futex_forks.leave();
    }
  };

  static bucket& bucket_of(const wait_word* word) {
    // Fibonacci hashing: the high bits of the product depend on all bits of the address.
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word);
    return table()[converted<std::size_t>((address * 0x9E3779B97F4A7C15u) >> (64 - bits_))];
  }

#if !defined(_WIN32)
  static std::chrono::steady_clock::time_point to_time_point(std::uint64_t nanoseconds) {
    using std::chrono::steady_clock;
    const std::uint64_t longest = ~std::uint64_t{0} >> 2;
    const std::chrono::nanoseconds since(
        static_cast<std::int64_t>(nanoseconds < longest ? nanoseconds : longest));
    return steady_clock::time_point(std::chrono::duration_cast<steady_clock::duration>(since));
  }
#endif
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_FUTEX_PORTABLE_HPP
