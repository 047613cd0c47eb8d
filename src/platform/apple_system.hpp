// SPDX-License-Identifier: MIT
// src/platform/apple_system.hpp -- macOS and iOS (layer: platform)
//
// Compiled and linked for macOS; its futex is run on stand-ins of the calls only (tests/platform/other_systems.hpp).
#ifndef LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP

#if defined(__APPLE__)

#include <dlfcn.h>
#include <sys/types.h>
// After what it needs.
#include <sys/sysctl.h>

#include "once.hpp"
#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// From macOS 14.4 and iOS 17.4 on there is os_sync_wait_on_address, which Apple documents. Before, there are __ulock_wait2
/// (macOS 11) and __ulock_wait (macOS 10.12), in which Apple's C++ library sleeps. Where there is none of them, the portable
/// futex takes their place. All take how long to sleep, not until when: a waiter that is preempted before it sleeps
/// oversleeps so much.
struct apple_calls {
  // mach_clock: OS_CLOCK_MACH_ABSOLUTE_TIME. The others: UL_COMPARE_AND_WAIT and ULF_WAKE_ALL.
  enum : std::uint32_t { mach_clock = 32, compare_and_wait = 1, all_of_them = 0x100 };

  static std::uintptr_t find(const char* name) noexcept {
    return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
  }
  template <class... Arguments>
  using call = late_call<int (*)(Arguments...), &apple_calls::find>;
  using number = std::uint32_t;
  using wide = std::uint64_t;

  call<void*, wide, std::size_t, number> wait{"os_sync_wait_on_address"};
  call<void*, wide, std::size_t, number, number, wide> wait_for{
      "os_sync_wait_on_address_with_timeout"};
  call<void*, std::size_t, number> wake_one{"os_sync_wake_by_address_any"};
  call<void*, std::size_t, number> wake_all{"os_sync_wake_by_address_all"};
  call<number, void*, wide, number> ulock{"__ulock_wait"};
  call<number, void*, wide, wide, wide> ulock2{"__ulock_wait2"};
  call<number, void*, wide> ulock_wake{"__ulock_wake"};

  constexpr apple_calls() noexcept = default;
  bool documented() noexcept {
    return wait.get() != nullptr && wait_for.get() != nullptr && wake_one.get() != nullptr &&
           wake_all.get() != nullptr;
  }
  bool native() noexcept {
    return documented() || (ulock.get() != nullptr && ulock_wake.get() != nullptr);
  }

  static apple_calls& all() noexcept {
    static apple_calls instance;
    return instance;
  }
};

struct apple_system : bsd_system {
  struct futex {
    static const char* name() noexcept {
      apple_calls& calls = apple_calls::all();
      return calls.documented()              ? "os_sync_wait_on_address"
             : calls.ulock2.get() != nullptr ? "__ulock_wait2"
             : calls.ulock.get() != nullptr  ? "__ulock_wait"
                                             : portable_futex::name();
    }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      // What fits into microseconds of 32 bits, and more. A waiter that is let go for no reason looks again.
      constexpr std::uint64_t longest = 1800000000000u;
      apple_calls& calls = apple_calls::all();
      if (!calls.native()) return portable_futex::wait(word, expected, deadline);
      std::uint64_t time = 0;  // for ever
      if (deadline != no_deadline) {
        const std::uint64_t now = steady_nanoseconds();
        if (deadline <= now) return;
        time = deadline - now < longest ? deadline - now : longest;
      }
      void* const address = const_cast<wait_word*>(&word);
      const kept_error kept;
      if (calls.documented() && time == 0) {
        calls.wait.get()(address, expected, sizeof expected, 0);
      } else if (calls.documented()) {
        calls.wait_for.get()(address, expected, sizeof expected, 0, apple_calls::mach_clock, time);
      } else if (calls.ulock2.get() != nullptr) {
        calls.ulock2.get()(apple_calls::compare_and_wait, address, expected, time, 0);
      } else {
        calls.ulock.get()(apple_calls::compare_and_wait, address, expected,
                          static_cast<std::uint32_t>((time + 999) / 1000));
      }
    }
    static void wake(const wait_word* word, bool all) {
      apple_calls& calls = apple_calls::all();
      if (!calls.native()) return portable_futex::wake(word, all);
      void* const address = const_cast<wait_word*>(word);
      const kept_error kept;
      if (calls.documented()) {
        (all ? calls.wake_all : calls.wake_one).get()(address, sizeof(std::uint32_t), 0);
      } else {
        calls.ulock_wake.get()(
            apple_calls::compare_and_wait | (all ? apple_calls::all_of_them : 0u), address, 0);
      }
    }
  };

  static cpu_topology read_machine() {
    return topology_of_numbers([](const char* name, void* value, std::size_t* size) {
      return sysctlbyname(name, value, size, nullptr, 0);
    });
  }
  static bool set_name(const char* name) noexcept {
    return pthread_setname_np(short_name<64>(name).text) == 0;
  }
  static void get_name(char* text, std::size_t size) noexcept {
    pthread_getname_np(pthread_self(), text, size);
  }
  static std::uint64_t thread_number() noexcept {
    std::uint64_t number = 0;
    return pthread_threadid_np(nullptr, &number) == 0 ? number : system_thread_number();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif

#endif  // LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP
