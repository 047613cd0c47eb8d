// SPDX-License-Identifier: MIT
// src/platform/futex_windows.cpp -- sleeping in WaitOnAddress (layer: platform)
//
// The three calls are there from Windows 8 on, and are looked up at run time
// (late_call.hpp). On Windows 7 the portable futex takes their place. Run on Wine.
//
// WaitOnAddress ends on a tick of the system's timer, up to 15.6 ms late, and takes milliseconds. So the last 32 ms before
// a deadline are slept for in the portable futex's table, with a finer timer (timed_sleep_windows.hpp), where the system
// has one; who sleeps there is woken beside those in WaitOnAddress. A longer wait returns 20 ms before its deadline, which
// FUTEX-1 allows, and the caller waits again. The first wait near a deadline makes the table.
//
// Cost   wait that must sleep: one call and a context switch; near a deadline: see timed_sleep_windows.hpp. Wake: one call,
//        which does not enter the kernel where nobody sleeps; a fence; and a mutex, once anybody has slept near a deadline.
#include <lockstep/detail/platform/system.hpp>

#if defined(_WIN32) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <cstddef>
#include <cstdint>

#include "futex_portable.hpp"
#include "late_call.hpp"
#include "windows.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct windows_futex {
  /// Two ticks; and one, with what milliseconds are rounded up by and a thread needs to wake.
  static constexpr std::uint64_t near_time = 32000000, tick_time = 20000000;

  late_call<int(__stdcall*)(volatile void*, void*, std::size_t, unsigned long)> wait{
      "WaitOnAddress"};
  late_call<void(__stdcall*)(void*)> wake_one{"WakeByAddressSingle"}, wake_all{"WakeByAddressAll"};

  constexpr windows_futex() noexcept = default;
  static windows_futex& calls() noexcept {
    static windows_futex instance;
    return instance;
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept {
  return windows_futex::calls().wait.get() != nullptr ? "WaitOnAddress" : portable_futex::name();
}

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  const auto call = windows_futex::calls().wait.get();
  if (call == nullptr) return portable_futex::wait(word, expected, deadline);
  const unsigned long saved = GetLastError();
  std::uint64_t until = deadline;
  bool has_slept = false;
  if (deadline != no_deadline && has_fine_timers()) {
    const std::uint64_t now = steady_nanoseconds();
    if (deadline <= now) return;
    if (deadline - now <= windows_futex::near_time) {
      has_slept = portable_futex::wait_beside(word, expected, deadline);
    } else {
      until = deadline - windows_futex::tick_time;
    }
  }
  if (!has_slept) {
    call(const_cast<wait_word*>(&word), &expected, sizeof expected,
         windows_milliseconds_until(until));
  }
  SetLastError(saved);
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  windows_futex& calls = windows_futex::calls();
  const auto call = (all ? calls.wake_all : calls.wake_one).get();
  if (call == nullptr) return portable_futex::wake_all(word);
  call(const_cast<wait_word*>(word));
  portable_futex::wake_if_used(word);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
