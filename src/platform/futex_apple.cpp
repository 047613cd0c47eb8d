// SPDX-License-Identifier: MIT
// src/platform/futex_apple.cpp -- sleeping in the calls of Apple's systems (layer: platform)
//
// Compiled and linked for macOS; run on stand-ins of the calls only
// (tests/platform/other_systems.hpp).
//
// From macOS 14.4 and iOS 17.4 on there is os_sync_wait_on_address, which Apple documents. Before, there are
// __ulock_wait2 (macOS 11) and __ulock_wait (macOS 10.12), in which Apple's C++ library sleeps. They are looked up at run
// time (late_call.hpp). Where there is none of them, the portable futex takes their place.
//
// All take how long to sleep, not until when: a waiter that is preempted before it sleeps oversleeps so much.
#include <lockstep/detail/platform/system.hpp>

#if defined(__APPLE__) && !LOCKSTEP_FORCE_PORTABLE_FUTEX

#include <errno.h>

#include <cstddef>
#include <cstdint>

#include "futex_portable.hpp"
#include "late_call.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct apple_futex {
  // mach_clock: OS_CLOCK_MACH_ABSOLUTE_TIME. The others: UL_COMPARE_AND_WAIT and ULF_WAKE_ALL.
  enum : std::uint32_t { mach_clock = 32, compare_and_wait = 1, all_of_them = 0x100 };
  /// What fits into microseconds of 32 bits, and more. A waiter that is let go for no reason looks again.
  static constexpr std::uint64_t longest = 1800000000000u;

  static void wake(const wait_word* word, bool all) {
    void* const address = const_cast<wait_word*>(word);
    const int saved = errno;
    if (!native()) {
      portable_futex::wake_all(word);
    } else if (documented()) {
      (all ? sync_wake_all::get() : sync_wake_one::get())(address, sizeof(std::uint32_t), 0);
    } else {
      ulock_wake::get()(all ? compare_and_wait | all_of_them : compare_and_wait, address, 0);
    }
    errno = saved;
  }

  static bool documented() noexcept {
    return sync_wait::get() != nullptr && sync_wait_for::get() != nullptr &&
           sync_wake_one::get() != nullptr && sync_wake_all::get() != nullptr;
  }
  static bool native() noexcept {
    return documented() || (ulock_wait::get() != nullptr && ulock_wake::get() != nullptr);
  }

  struct sync_wait_name {
    static const char* text() noexcept { return "os_sync_wait_on_address"; }
  };
  struct sync_wait_for_name {
    static const char* text() noexcept { return "os_sync_wait_on_address_with_timeout"; }
  };
  struct sync_wake_one_name {
    static const char* text() noexcept { return "os_sync_wake_by_address_any"; }
  };
  struct sync_wake_all_name {
    static const char* text() noexcept { return "os_sync_wake_by_address_all"; }
  };
  struct ulock_wait_name {
    static const char* text() noexcept { return "__ulock_wait"; }
  };
  struct ulock_wait2_name {
    static const char* text() noexcept { return "__ulock_wait2"; }
  };
  struct ulock_wake_name {
    static const char* text() noexcept { return "__ulock_wake"; }
  };
  using sync_wait =
      late_call<sync_wait_name, int (*)(void*, std::uint64_t, std::size_t, std::uint32_t)>;
  using sync_wait_for =
      late_call<sync_wait_for_name, int (*)(void*, std::uint64_t, std::size_t, std::uint32_t,
                                            std::uint32_t, std::uint64_t)>;
  using sync_wake_one = late_call<sync_wake_one_name, int (*)(void*, std::size_t, std::uint32_t)>;
  using sync_wake_all = late_call<sync_wake_all_name, int (*)(void*, std::size_t, std::uint32_t)>;
  using ulock_wait =
      late_call<ulock_wait_name, int (*)(std::uint32_t, void*, std::uint64_t, std::uint32_t)>;
  using ulock_wait2 = late_call<ulock_wait2_name, int (*)(std::uint32_t, void*, std::uint64_t,
                                                          std::uint64_t, std::uint64_t)>;
  using ulock_wake = late_call<ulock_wake_name, int (*)(std::uint32_t, void*, std::uint64_t)>;
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept {
  return apple_futex::documented()                    ? "os_sync_wait_on_address"
         : apple_futex::ulock_wait2::get() != nullptr ? "__ulock_wait2"
         : apple_futex::ulock_wait::get() != nullptr  ? "__ulock_wait"
                                                      : portable_futex::name();
}

LOCKSTEP_INLINE void native_futex::prepare_for_fork() {
  if (!apple_futex::native()) portable_futex::prepare_for_fork();
}

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  if (!apple_futex::native()) return portable_futex::wait(word, expected, deadline);
  std::uint64_t time = 0;  // for ever
  if (deadline != no_deadline) {
    const std::uint64_t now = steady_nanoseconds();
    if (deadline <= now) return;
    time = deadline - now < apple_futex::longest ? deadline - now : apple_futex::longest;
  }
  void* const address = const_cast<wait_word*>(&word);
  const int saved = errno;
  if (apple_futex::documented()) {
    if (time == 0) {
      apple_futex::sync_wait::get()(address, expected, sizeof expected, 0);
    } else {
      apple_futex::sync_wait_for::get()(address, expected, sizeof expected, 0,
                                        apple_futex::mach_clock, time);
    }
  } else if (const apple_futex::ulock_wait2::type call = apple_futex::ulock_wait2::get()) {
    call(apple_futex::compare_and_wait, address, expected, time, 0);
  } else {
    apple_futex::ulock_wait::get()(apple_futex::compare_and_wait, address, expected,
                                   static_cast<std::uint32_t>((time + 999) / 1000));
  }
  errno = saved;
}

LOCKSTEP_INLINE void native_futex::wake_one(const wait_word* word) {
  apple_futex::wake(word, false);
}

LOCKSTEP_INLINE void native_futex::wake_all(const wait_word* word) {
  apple_futex::wake(word, true);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
