// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex.hpp -- sleeping until a word changes: the contract (layer: platform)
//
//   FUTEX-1  futex_wait(word, expected, deadline) returns at once if word != expected. Otherwise it may put
//       the thread to sleep; it returns after a wake on that word, at the deadline, after a signal, or
//       for no reason. It reports nothing: the caller looks at its condition again.
//   FUTEX-2  futex_wake_one / futex_wake_all on a word let at least one / every thread return that sleeps in
//       futex_wait on it. They only use the address: the word may be gone already.
//   FUTEX-3  The comparison in FUTEX-1 and the falling asleep are one step with respect to FUTEX-2: if the word is
//       changed and a wake follows, no waiter that compared before the change stays asleep.
//   FUTEX-4  Deadlines are monotonic nanoseconds as of steady_nanoseconds(); no_deadline (clock.hpp) never comes.
//   FUTEX-5  Nothing is ordered by these calls for the C++ memory model; order comes from the atomics.
//
// LOCKSTEP_FORCE_PORTABLE_FUTEX=1 chooses the portable one (mutex and condition variable) where a native one exists; it
// must be the same in the whole program.
//
//   PORTABLE-1  The waiter compares and enters the condition variable under the bucket's mutex, the waker
//               takes the same mutex before it notifies: that is FUTEX-3.
//   PORTABLE-2  In a child process of fork() the table is as new: whoever held or waited is not there.
//
// Memory order (# marks the line), of the portable one
//   #  access      order    pairs  why it suffices
//   1  word.load   relaxed  -      FUTEX-5 promises no order; the mutex of PORTABLE-1 makes the last change visible
//   2  table.load  acquire  3      the table is made before its address is seen
//   3  table.comp  release  2      as 2; two threads may make one, and one of them is used
//
// Cost   wait that must sleep: one call and a context switch. Wake: one call, about 0.23 us with nobody
//        there, 7 us with a sleeper on a halted virtual CPU (measured on 2 CPUs of an EPYC, 6.18).
//        The portable one: lock, condition variable wait; wake: lock, and a system call when the bucket has waiters.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP

#include <climits>
#include <cstdint>

#include "atomic.hpp"
#include "clock.hpp"

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#if !defined(_WIN32)
#include <chrono>
#include <condition_variable>
#include <mutex>
#endif
#include <cstddef>
#include <new>

#include "fork.hpp"
#include "process.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__) && !(defined(LOCKSTEP_FORCE_PORTABLE_FUTEX) && LOCKSTEP_FORCE_PORTABLE_FUTEX)

/// FUTEX_WAIT_BITSET, because it takes an absolute time of CLOCK_MONOTONIC, so that a spurious return cannot lengthen a
/// deadline; private to the process.
///
/// A kernel or sandbox that refuses the call (ENOSYS, EPERM from a filter) is answered by a short real
/// sleep: the waiter polls every 50 us, slower but never stuck, and wakes have nobody to miss.
struct linux_futex {
  static const char* name() noexcept { return "linux futex"; }
  /// A child process has nothing to put right here.
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) noexcept {
    const int saved = errno;
    if (call(&word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline) != 0 && refused(errno)) {
      const timespec pause = {0, 50000};
      nanosleep(&pause, nullptr);
    }
    errno = saved;
  }

  static void wake_one(const wait_word* word) noexcept { wake(word, 1); }
  static void wake_all(const wait_word* word) noexcept { wake(word, INT_MAX); }

 private:
  static_assert(sizeof(wait_word) == sizeof(std::uint32_t), "a futex is a plain 32-bit word");

  static void wake(const wait_word* word, int count) noexcept {
    const int saved = errno;
    call(word, FUTEX_WAKE_PRIVATE, static_cast<std::uint32_t>(count), no_deadline);
    errno = saved;
  }

  // A time as the kernel takes it. Not timespec: on 32-bit systems time_t may be wider than the call's.
#if defined(__LP64__) || defined(__x86_64__)
  using kernel_long = std::int64_t;
#else
  using kernel_long = std::int32_t;
#endif
  template <class Number>
  struct kernel_time {
    Number seconds, nanoseconds;
  };

  /// 32-bit systems have a second call, for 64-bit times. Old ones lack it, new ones may lack the first.
  static long call(const wait_word* word, int operation, std::uint32_t value,
                   std::uint64_t deadline) noexcept {
    long result = -1;
    errno = ENOSYS;
#if defined(SYS_futex_time64)
    result = call<std::int64_t>(SYS_futex_time64, word, operation, value, deadline);
#endif
#if defined(SYS_futex)
    if (result < 0 && refused(errno))
      result = call<kernel_long>(SYS_futex, word, operation, value, deadline);
#endif
    return result;
  }

  template <class Number>
  static long call(long number, const wait_word* word, int operation, std::uint32_t value,
                   std::uint64_t deadline) noexcept {
    constexpr std::uint64_t second = 1000000000, longest = std::uint64_t{INT_MAX} * second;
    const std::uint64_t time = deadline < longest ? deadline : longest;
    const kernel_time<Number> until = {static_cast<Number>(time / second),
                                       static_cast<Number>(time % second)};
    return syscall(number, word, operation, value, deadline != no_deadline ? &until : nullptr,
                   nullptr, FUTEX_BITSET_MATCH_ANY);
  }

  static bool refused(int error) noexcept { return error == ENOSYS || error == EPERM; }
};
using native_futex = linux_futex;

#else

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

  static void wake_one(const wait_word* word) { wake_all(word); }

  static void wake_all(const wait_word* word) {
    bucket& home = bucket_of(word);
    const holding<decltype(home.mutex)> lock(home.mutex);
    if (home.waiters > 0) home.changed.notify_all();
  }

 private:
  struct bucket {
#if defined(_WIN32)
    windows_mutex mutex;
    windows_condition changed;

    void sleep(std::uint64_t deadline) { changed.wait(mutex, deadline); }
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
#endif
    std::size_t waiters = 0;
  };

  static constexpr unsigned bits_ = 8;
  static constexpr std::size_t size_ = std::size_t{1} << bits_;

  static bucket* table() {
    watch_forks<around_fork>();
    void* const known = process().portable_futex.load(memory_order_acquire);  // 2
    return known != nullptr ? static_cast<bucket*>(known) : make();
  }
  static bucket* make() {
    bucket* const made = new bucket[size_];
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
      if (!all.futex_forks.is_last()) return;
      bucket* const held = static_cast<bucket*>(all.futex_held);
      for (std::size_t i = 0; held != nullptr && i < size_; ++i) held[i].mutex.unlock();
      all.futex_forks.leave();
    }
    static void child() {
      process_state& all = process();
      if (!all.futex_forks.is_last()) return;
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
    return table()[static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> (64 - bits_))];
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
using native_futex = portable_futex;

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_HPP
