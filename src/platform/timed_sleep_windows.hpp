// SPDX-License-Identifier: MIT
// src/platform/timed_sleep_windows.hpp -- sleeping until a time, finer than Windows' ticks (layer: platform)
//
// Time limits of Windows' calls end on a tick of the system's timer, 15.6 ms apart where no program asked for shorter ones.
// Timers made with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, which there are from Windows 10, version 1803, on, end within
// half a millisecond. A thread cannot wait for such a timer and in WaitOnAddress at once, so here it waits for the
// timer and an event, which a waker sets. The portable futex (futex_portable.hpp) keeps a list of such threads in each
// bucket of its table, under the bucket's mutex.
//
// Wine takes the flag and has timers as fine without it: what was run there is the code, not what the flag does.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  known.load   relaxed  -      a fact of the system, which stays
//   2  known.store  relaxed  -      as 1; whoever looks finds the same
//
// Cost   three system calls and a context switch; a waker's is one for each such thread in the bucket.
#ifndef LOCKSTEP_SRC_PLATFORM_TIMED_SLEEP_WINDOWS_HPP
#define LOCKSTEP_SRC_PLATFORM_TIMED_SLEEP_WINDOWS_HPP

#if defined(_WIN32)

#include <cstdint>
#include <new>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "windows.hpp"

extern "C" {
__declspec(dllimport) void* __stdcall CreateWaitableTimerExW(_SECURITY_ATTRIBUTES*, const wchar_t*,
                                                             unsigned long, unsigned long);
__declspec(dllimport) int __stdcall SetWaitableTimer(void*, const _LARGE_INTEGER*, long,
                                                     void(__stdcall*)(void*, unsigned long,
                                                                      unsigned long),
                                                     void*, int);
__declspec(dllimport) void* __stdcall CreateEventA(_SECURITY_ATTRIBUTES*, int, int, const char*);
__declspec(dllimport) int __stdcall SetEvent(void*);
__declspec(dllimport) int __stdcall ResetEvent(void*);
__declspec(dllimport) unsigned long __stdcall WaitForMultipleObjects(unsigned long, void* const*,
                                                                     int, unsigned long);
}

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Null if this version of Windows has no timers of high resolution.
inline void* make_fine_timer() noexcept {
  constexpr unsigned long high_resolution = 2, all_access = 0x1F0003;
  return CreateWaitableTimerExW(nullptr, nullptr, high_resolution, all_access);
}

inline bool has_fine_timers() noexcept {
  enum : std::uint32_t { not_asked, no, yes };
  static unseamed_atomic<std::uint32_t> known{not_asked};
  const std::uint32_t answer = known.load(memory_order_relaxed);  // 1
  if (answer != not_asked) return answer == yes;
  const unsigned long saved = GetLastError();
  void* const timer = make_fine_timer();
  if (timer != nullptr) CloseHandle(timer);
  SetLastError(saved);
  known.store(timer != nullptr ? yes : no, memory_order_relaxed);  // 2
  return timer != nullptr;
}

/// Those who sleep until a time: in a list, which the mutex of its owner guards.
class timed_sleepers {
 public:
  /// Until wake_all(), or until then, or for no reason. Lets go of the mutex meanwhile. False, and nothing was done, if
  /// there is no memory or handle for it. Requires the mutex held, and has_fine_timers().
  bool sleep(windows_mutex& held, std::uint64_t deadline) noexcept {
    sleeper* const mine = take();
    if (mine == nullptr) return false;
    mine->is_woken = false;
    mine->next = sleeping_;
    sleeping_ = mine;
    held.unlock();
    const bool was_event = mine->wait(deadline);
    held.lock();
    remove(mine);
    // It was woken just when its time had come.
    if (mine->is_woken && !was_event) ResetEvent(mine->event);
    mine->next = idle_;
    idle_ = mine;
    return true;
  }

  /// Requires the mutex held.
  void wake_all() noexcept {
    for (sleeper* each = sleeping_; each != nullptr; each = each->next) {
      if (each->is_woken) continue;
      each->is_woken = true;
      SetEvent(each->event);
    }
  }

 private:
  struct sleeper {
    void* event;
    void* timer;
    sleeper* next;
    bool is_woken;

    /// Whether the event came.
    bool wait(std::uint64_t deadline) noexcept {
      constexpr unsigned long without_end = 0xffffffff;
      constexpr std::uint64_t unit = 100;  // nanoseconds; a negative number of them is from now on
      const std::uint64_t now = steady_nanoseconds();
      if (deadline <= now) return false;
      const std::int64_t time = -static_cast<std::int64_t>((deadline - now - 1) / unit + 1);
      const void* const due = &time;
      if (SetWaitableTimer(timer, static_cast<const _LARGE_INTEGER*>(due), 0, nullptr, nullptr,
                           0) == 0) {
        return false;
      }
      void* const both[] = {event, timer};
      return WaitForMultipleObjects(2, both, 0, without_end) == 0;
    }
  };

  /// One that nobody uses. They are used again, and stay until the process ends.
  sleeper* take() noexcept {
    sleeper* const kept = idle_;
    if (kept == nullptr) return make();
    idle_ = kept->next;
    return kept;
  }

  LOCKSTEP_NOINLINE static sleeper* make() noexcept {
    void* const timer = make_fine_timer();
    void* const event = timer != nullptr ? CreateEventA(nullptr, 0, 0, nullptr) : nullptr;
    sleeper* const made = event != nullptr ? new (std::nothrow) sleeper : nullptr;
    if (made != nullptr) {
      made->event = event;
      made->timer = timer;
    } else {
      if (event != nullptr) CloseHandle(event);
      if (timer != nullptr) CloseHandle(timer);
    }
    return made;
  }

  void remove(const sleeper* gone) noexcept {
    sleeper** at = &sleeping_;
    while (*at != gone) at = &(*at)->next;
    *at = gone->next;
  }

  sleeper* sleeping_ = nullptr;
  sleeper* idle_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_TIMED_SLEEP_WINDOWS_HPP
