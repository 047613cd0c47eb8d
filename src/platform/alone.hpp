// SPDX-License-Identifier: MIT
// src/platform/alone.hpp -- what lies below the waits in the header to copy, in few lines (layer: platform)
//
// thread_synchronizer.cpp includes it first. It takes the place of the headers whose guards it defines. Threads sleep
// in futexes or, outside of Linux, in condition variables. There are no observers and no diagnosis of misuse. Modules
// share nothing.
//
// Memory order (# marks the line)
//   #  access     order    pairs  why it suffices
//   1  word.load  relaxed  -      FUTEX-5 promises no order; the mutex makes the last change visible
//   2  fence      seq_cst  2, 3   the waits need it on both sides: notifier and sleeper see each other's store
//   3  signal     seq_cst  2      the same where the sleeper's barrier acts on all threads of the process
#ifndef LOCKSTEP_SRC_PLATFORM_ALONE_HPP
#define LOCKSTEP_SRC_PLATFORM_ALONE_HPP

#define LOCKSTEP_SRC_PLATFORM_SYSTEM_HPP
#define LOCKSTEP_DETAIL_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_SRC_PLATFORM_NATIVE_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESS_FENCE_HPP
#define LOCKSTEP_SRC_OBSERVE_HOOKS_HPP
#define LOCKSTEP_DETAIL_OBSERVE_OBSERVERS_HPP
#define LOCKSTEP_SRC_WAIT_CPU_SEPARATION_HPP
#define LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESS_HPP
#define LOCKSTEP_SRC_PLATFORM_WINDOWS_HPP
#define LOCKSTEP_SRC_PLATFORM_CPUS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

#include "linux_calls.hpp"
#if defined(__linux__)
#include <sched.h>
#else
#include <condition_variable>
#endif
#if defined(_WIN32)
extern "C" __declspec(dllimport) void __stdcall Sleep(unsigned long);
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline std::uint64_t native::monotonic_nanoseconds() noexcept {
  const std::chrono::nanoseconds time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(time.count());
}
using native::monotonic_nanoseconds;
using native::polling_pause;

enum class machine_load : unsigned char { unknown, has_room, full };

#if defined(__linux__)
struct futex : linux_futex<FUTEX_PRIVATE_FLAG> {
  static void wake_one(const wait_word* word) { wake(word, true); }
  static void wake_all(const wait_word* word) { wake(word, true); }
};
#else
/// Never destroyed: threads may wait while the program ends.
struct sleepers {
  std::mutex mutex;
  std::condition_variable woken;
  static sleepers& all() {
    static sleepers& made = *new sleepers;
    return made;
  }
};
struct futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    std::unique_lock<std::mutex> lock(sleepers::all().mutex);
    if (word.load(memory_order_relaxed) != expected) return;  // 1
    if (deadline == no_deadline) return sleepers::all().woken.wait(lock);
    const std::uint64_t now = monotonic_nanoseconds(), rest = deadline > now ? deadline - now : 0;
    sleepers::all().woken.wait_for(lock, std::chrono::nanoseconds(rest));
  }
  static void wake_one(const wait_word* word) { wake_all(word); }
  static void wake_all(const wait_word*) {
    const std::lock_guard<std::mutex> lock(sleepers::all().mutex);
    sleepers::all().woken.notify_all();
  }
};
#endif

/// Linux leaves a new thread for some ms on the CPU of the thread that made it. If the two wait for each other there,
/// they only yield. So a thread that has yielded often leaves its CPU, each time after twice as many yields.
inline void leave_cpu() noexcept {
#if defined(__linux__)
  const int cpu = sched_getcpu();
  cpu_set_t all;
  if (cpu < 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<std::size_t>(cpu), &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  sched_setaffinity(0, sizeof all, &all);
#endif
}
inline void yield_thread() noexcept {
  static thread_local unsigned yields = 0, enough = 64;
  if (++yields == enough) {
    yields = 0;
    if (enough < 65536) enough *= 2;
    leave_cpu();
  }
  std::this_thread::yield();
}
#if !defined(__linux__)
struct linux_barrier {
  static bool is_granted() noexcept { return false; }
  static bool pass() noexcept { return false; }
};
#endif
/// As in process_fence.hpp: a notifier does not wait until its store has reached other CPUs.
struct process_fence {
  static bool prepare() noexcept {
    static const bool granted = linux_barrier::is_granted();
    return granted;
  }
};
inline void fence_light() noexcept {
  if (process_fence::prepare()) {
    signal_fence(memory_order_seq_cst);  // 3
  } else {
    thread_fence(memory_order_seq_cst);  // 2
  }
}
inline bool fence_heavy() noexcept {
  thread_fence(memory_order_seq_cst);  // 2
  return !process_fence::prepare() || linux_barrier::pass();
}
inline unsigned usable_cpus() {
  static const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : count;
}
inline unsigned cpus_for_waits() { return usable_cpus(); }
inline std::uint64_t shorten_timer_slack(std::uint64_t) noexcept { return 0; }
inline void set_timer_slack(std::uint64_t) noexcept {}
template <class Type, class Name>
Type& per_thread() noexcept {
  static thread_local Type value = Type();
  return value;
}
enum class message { last_words };
constexpr bool is_first_to_print(message) noexcept { return true; }

constexpr std::uint32_t observers() noexcept { return 0; }
struct observed_wait {
  template <class Subject>
  explicit observed_wait(const Subject&) noexcept {}
  template <class Stage>
  void enter(Stage) noexcept {}
};
inline void note_wake(const void*) noexcept {}
inline void notify_point(const void*) noexcept {}
inline void sync_point() noexcept {}

template <class Lock>
using holding = std::lock_guard<Lock>;

class round_pace;
struct cpu_separation {
  cpu_separation(std::size_t, bool) noexcept {}
  static constexpr bool may_move_anybody() noexcept { return false; }
};
struct whereabouts {
  static constexpr std::size_t everybody = static_cast<std::size_t>(-1);

  cpu_separation* board;
  std::size_t self, other;
  round_pace* rounds;

  static constexpr bool is_separated() noexcept { return false; }
  template <class Subject>
  static void describe(Subject&) noexcept {}
};

inline std::uint64_t number_of_this_thread() noexcept { return 0; }

namespace misuse {
constexpr bool diagnosed = false;
template <class Object>
class watched {};
enum class role : unsigned char { waiter };
inline void note(const void*, role) noexcept {}
inline bool forget(const void*, role, std::uint64_t) noexcept { return true; }
inline void check_only_waiter(const void*, const char*) noexcept {}
inline void destroying(const void*, const char*) noexcept {}
}  // namespace misuse

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_ALONE_HPP
