// SPDX-License-Identifier: MIT
// lockstep/detail/platform/futex_windows.hpp -- sleeping in WaitOnAddress (layer: platform)
//
// The contract is in futex.hpp. The three calls are there from Windows 8 on, and are looked up at run time
// (late_call.hpp). On Windows 7 the portable futex takes their place. Run on Wine.
//
// Timed waits end on a tick of the system's timer, 15.6 ms apart where no program asked for shorter ones, and are
// rounded up to milliseconds. No call of Windows waits for an address and for a finer timer at once.
//
// Cost   wait that must sleep: one call and a context switch. Wake: one call, which does not enter the kernel where
//        nobody sleeps.
#ifndef LOCKSTEP_DETAIL_PLATFORM_FUTEX_WINDOWS_HPP
#define LOCKSTEP_DETAIL_PLATFORM_FUTEX_WINDOWS_HPP

#if defined(_WIN32)

#include <cstddef>
#include <cstdint>

#include "atomic.hpp"
#include "clock.hpp"
#include "config.hpp"
#include "futex_portable.hpp"
#include "late_call.hpp"
#include "windows.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct windows_futex {
  static const char* name() noexcept {
    return wait_call::get() != nullptr ? "WaitOnAddress" : portable_futex::name();
  }
  static void prepare_for_fork() noexcept {}

  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    const wait_call::type call = wait_call::get();
    if (call == nullptr) return portable_futex::wait(word, expected, deadline);
    const unsigned long saved = GetLastError();
    call(const_cast<wait_word*>(&word), &expected, sizeof expected,
         windows_milliseconds_until(deadline));
    SetLastError(saved);
  }

  static void wake_one(const wait_word* word) {
    const wake_one_call::type call = wake_one_call::get();
    if (call == nullptr) return portable_futex::wake_one(word);
    call(const_cast<wait_word*>(word));
  }

  static void wake_all(const wait_word* word) {
    const wake_all_call::type call = wake_all_call::get();
    if (call == nullptr) return portable_futex::wake_all(word);
    call(const_cast<wait_word*>(word));
  }

 private:
  struct wait_name {
    static const char* text() noexcept { return "WaitOnAddress"; }
  };
  struct wake_one_name {
    static const char* text() noexcept { return "WakeByAddressSingle"; }
  };
  struct wake_all_name {
    static const char* text() noexcept { return "WakeByAddressAll"; }
  };
  using wait_call =
      late_call<wait_name, int(__stdcall*)(volatile void*, void*, std::size_t, unsigned long)>;
  using wake_one_call = late_call<wake_one_name, void(__stdcall*)(void*)>;
  using wake_all_call = late_call<wake_all_name, void(__stdcall*)(void*)>;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_FUTEX_WINDOWS_HPP
