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

#include <cstddef>
#include <cstdint>

#include "futex_portable.hpp"
#include "late_call.hpp"
#include "posix.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct apple_futex {
  // mach_clock: OS_CLOCK_MACH_ABSOLUTE_TIME. The others: UL_COMPARE_AND_WAIT and ULF_WAKE_ALL.
  enum : std::uint32_t { mach_clock = 32, compare_and_wait = 1, all_of_them = 0x100 };
  /// What fits into microseconds of 32 bits, and more. A waiter that is let go for no reason looks again.
  static constexpr std::uint64_t longest = 1800000000000u;

  using wait_call = late_call<int (*)(void*, std::uint64_t, std::size_t, std::uint32_t)>;
  using timed_call = late_call<int (*)(void*, std::uint64_t, std::size_t, std::uint32_t,
                                       std::uint32_t, std::uint64_t)>;
  using wake_call = late_call<int (*)(void*, std::size_t, std::uint32_t)>;
  using ulock_call = late_call<int (*)(std::uint32_t, void*, std::uint64_t, std::uint32_t)>;
  using ulock2_call =
      late_call<int (*)(std::uint32_t, void*, std::uint64_t, std::uint64_t, std::uint64_t)>;
  using ulock_wake_call = late_call<int (*)(std::uint32_t, void*, std::uint64_t)>;

  wait_call wait{"os_sync_wait_on_address"};
  timed_call wait_for{"os_sync_wait_on_address_with_timeout"};
  wake_call wake_one{"os_sync_wake_by_address_any"}, wake_all{"os_sync_wake_by_address_all"};
  ulock_call ulock{"__ulock_wait"};
  ulock2_call ulock2{"__ulock_wait2"};
  ulock_wake_call ulock_wake{"__ulock_wake"};

  constexpr apple_futex() noexcept = default;
  bool documented() noexcept {
    return wait.get() != nullptr && wait_for.get() != nullptr && wake_one.get() != nullptr &&
           wake_all.get() != nullptr;
  }
  bool native() noexcept {
    return documented() || (ulock.get() != nullptr && ulock_wake.get() != nullptr);
  }

  static apple_futex& calls() noexcept {
    static apple_futex instance;
    return instance;
  }
};

LOCKSTEP_INLINE const char* native_futex::name() noexcept {
  apple_futex& calls = apple_futex::calls();
  return calls.documented()              ? "os_sync_wait_on_address"
         : calls.ulock2.get() != nullptr ? "__ulock_wait2"
         : calls.ulock.get() != nullptr  ? "__ulock_wait"
                                         : portable_futex::name();
}

LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  apple_futex& calls = apple_futex::calls();
  if (!calls.native()) return portable_futex::wait(word, expected, deadline);
  std::uint64_t time = 0;  // for ever
  if (deadline != no_deadline) {
    const std::uint64_t now = steady_nanoseconds();
    if (deadline <= now) return;
    time = deadline - now < apple_futex::longest ? deadline - now : apple_futex::longest;
  }
  void* const address = const_cast<wait_word*>(&word);
  const kept_errno kept;
  if (calls.documented() && time == 0) {
    calls.wait.get()(address, expected, sizeof expected, 0);
  } else if (calls.documented()) {
    calls.wait_for.get()(address, expected, sizeof expected, 0, apple_futex::mach_clock, time);
  } else if (calls.ulock2.get() != nullptr) {
    calls.ulock2.get()(apple_futex::compare_and_wait, address, expected, time, 0);
  } else {
    calls.ulock.get()(apple_futex::compare_and_wait, address, expected,
                      static_cast<std::uint32_t>((time + 999) / 1000));
  }
}

LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  apple_futex& calls = apple_futex::calls();
  if (!calls.native()) return portable_futex::wake_all(word);
  void* const address = const_cast<wait_word*>(word);
  const kept_errno kept;
  if (calls.documented()) {
    (all ? calls.wake_all : calls.wake_one).get()(address, sizeof(std::uint32_t), 0);
  } else {
    calls.ulock_wake.get()(apple_futex::compare_and_wait | (all ? apple_futex::all_of_them : 0u),
                           address, 0);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
