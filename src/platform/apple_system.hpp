// SPDX-License-Identifier: MIT
// src/platform/apple_system.hpp -- macOS and iOS (layer: platform)
//
// Compiled and linked for macOS. Its futex has only run on stand-ins of the calls (tests/platform/other_systems.hpp).
#ifndef LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP

#if defined(__APPLE__)

#include <dlfcn.h>
#include <sys/types.h>

#include "once.hpp"
#include "posix_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// os_sync_wait_on_address exists from macOS 14.4 and iOS 17.4 on; older systems use the portable futex. The call takes
/// a duration, not a time: a waiter that is preempted before the call wakes that much too late.
struct apple_calls {
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

  constexpr apple_calls() noexcept = default;
  bool exist() noexcept {
    return wait.get() != nullptr && wait_for.get() != nullptr && wake_one.get() != nullptr &&
           wake_all.get() != nullptr;
  }
  static apple_calls& all() noexcept {
    static apple_calls instance;
    return instance;
  }
};

struct apple_system : bsd_system {
  static constexpr bool names_threads = true;

  struct futex {
    static const char* name() noexcept {
      return apple_calls::all().exist() ? "os_sync_wait_on_address" : portable_futex::name();
    }
    static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
      constexpr std::uint32_t mach_clock = 32;              // OS_CLOCK_MACH_ABSOLUTE_TIME
      constexpr std::uint64_t longest = 1000000000000000u;  // its ticks fit, whatever the clock
      apple_calls& calls = apple_calls::all();
      if (!calls.exist()) return portable_futex::wait(word, expected, deadline);
      void* const address = const_cast<wait_word*>(&word);
      const kept_error kept;
      if (deadline == no_deadline) {
        calls.wait.get()(address, expected, sizeof expected, 0);
        return;
      }
      const std::uint64_t now = native::monotonic_nanoseconds();
      if (deadline <= now) return;
      const std::uint64_t time = deadline - now < longest ? deadline - now : longest;
      calls.wait_for.get()(address, expected, sizeof expected, 0, mach_clock, time);
    }
    static void wake(const wait_word* word, bool all) {
      apple_calls& calls = apple_calls::all();
      if (!calls.exist()) return portable_futex::wake(word, all);
      const kept_error kept;
      (all ? calls.wake_all : calls.wake_one)
          .get()(const_cast<wait_word*>(word), sizeof(std::uint32_t), 0);
    }
  };

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
