// SPDX-License-Identifier: MIT
// tests/platform/other_systems.hpp -- the futexes of macOS and FreeBSD, on stand-ins of those systems' calls
//
// No machine here runs these systems. So their calls are made from Linux's futex, by their manual pages and sources.
// Arguments that such a system would refuse or understand otherwise end the program. Each eighth wait ends with an
// error that the page lists. futex_test.cpp shows whether our files keep the contract with such calls, not how the
// system really behaves.
//
// `futex` is one of them: each round of the tests (--gtest_repeat) takes the next.
#pragma once

#include "platform/posix_system.hpp"
#include "platform/system.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace other_systems {

using std::uint32_t;
using std::uint64_t;

inline void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "a call that this system would refuse or misunderstand: %s\n", what);
  std::abort();
}

constexpr int linux_wait = FUTEX_WAIT_PRIVATE, linux_wake = FUTEX_WAKE_PRIVATE;
constexpr int linux_wait_until = FUTEX_WAIT_BITSET_PRIVATE;

/// These functions return -1 and set errno, or return what Linux returns.
inline long sleep_on(const volatile void* word, uint32_t value, int operation,
                     const timespec* time) {
  return ::syscall(SYS_futex, word, operation, value, time, nullptr, FUTEX_BITSET_MATCH_ANY);
}
inline long wake(const volatile void* word, long count) {
  expect(count > 0, "the number of threads to wake");
  return ::syscall(SYS_futex, word, linux_wake, count, nullptr, nullptr, 0);
}
inline int fail(int error) {
  errno = error;
  return -1;
}
/// Whether this wait is one that fails.
inline bool is_unlucky() {
  static thread_local unsigned waits = 0;
  return ++waits % 8 == 0;
}

// Apple: os/os_sync_wait_on_address.h; bsd/kern/sys_ulock.c of XNU.

inline timespec nanoseconds(uint64_t time) {
  return {static_cast<time_t>(time / 1000000000), static_cast<long>(time % 1000000000)};
}
/// Returns the number of threads that still wait, which our code ignores; a word that differs is no error.
inline int apple_sleep(void* word, uint64_t value, const timespec* time) {
  expect(value <= UINT32_MAX, "a value that is wider than the word");
  if (is_unlucky()) return fail(EFAULT);  // the page is not there at this moment
  if (sleep_on(word, static_cast<uint32_t>(value), linux_wait, time) == 0 || errno == EAGAIN)
    return 0;
  return -1;
}
inline int apple_wake(void* word, long count) { return wake(word, count) > 0 ? 0 : fail(ENOENT); }
inline void expect_sync(std::size_t size, uint32_t flags) {
  expect(size == 4 || size == 8, "EINVAL: size");
  expect(size == 4, "a word of 8 bytes is compared");
  expect(flags == 0, "the flags: 0 is private, 1 shared between processes");
}
inline int sync_wait(void* word, uint64_t value, std::size_t size, uint32_t flags) {
  expect_sync(size, flags);
  return apple_sleep(word, value, nullptr);
}
inline int sync_wait_for(void* word, uint64_t value, std::size_t size, uint32_t flags,
                         uint32_t clock, uint64_t time) {
  expect_sync(size, flags);
  expect(clock == 32, "EINVAL: a clock that is not OS_CLOCK_MACH_ABSOLUTE_TIME");
  expect(time != 0, "EINVAL: no time");
  const timespec rest = nanoseconds(time);
  return apple_sleep(word, value, &rest);
}
inline int sync_wake_one(void* word, std::size_t size, uint32_t flags) {
  expect_sync(size, flags);
  return apple_wake(word, 1);
}
inline int sync_wake_all(void* word, std::size_t size, uint32_t flags) {
  expect_sync(size, flags);
  return apple_wake(word, INT_MAX);
}

/// What dlsym() finds on a system of these years.
template <int Year>
void* apple_symbol(void*, const char* name) noexcept {
  const struct {
    int since;
    const char* name;
    void* call;
  } calls[] = {
      {2024, "os_sync_wait_on_address", reinterpret_cast<void*>(sync_wait)},
      {2024, "os_sync_wait_on_address_with_timeout", reinterpret_cast<void*>(sync_wait_for)},
      {2024, "os_sync_wake_by_address_any", reinterpret_cast<void*>(sync_wake_one)},
      {2024, "os_sync_wake_by_address_all", reinterpret_cast<void*>(sync_wake_all)},
  };
  for (const auto& each : calls) {
    if (each.since <= Year && std::strcmp(each.name, name) == 0) return each.call;
  }
  return nullptr;
}

}  // namespace other_systems

// What else our files call of Apple's, besides sleeping: here it does nothing.
inline int pthread_setname_np(const char*) { return 0; }
inline int pthread_threadid_np(std::nullptr_t, std::uint64_t*) { return EINVAL; }

// Our files are read as such a system would, once more. That of Apple once for each generation of the system, which it would
// find out only once.
#undef LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP
#undef LOCKSTEP_SRC_PLATFORM_FREEBSD_SYSTEM_HPP
#define __APPLE__ 1
#define apple_system system_of_2024
#define apple_calls calls_of_2024
#define dlsym other_systems::apple_symbol<2024>
#include "platform/apple_system.hpp"
#undef apple_system
#undef apple_calls
#undef dlsym
#undef LOCKSTEP_SRC_PLATFORM_APPLE_SYSTEM_HPP
#define apple_system system_of_2010
#define apple_calls calls_of_2010
#define dlsym other_systems::apple_symbol<2010>
#include "platform/apple_system.hpp"
#undef apple_system
#undef apple_calls
#undef dlsym
#undef __APPLE__

// FreeBSD: _umtx_op(2), sys/kern/kern_umtx.c.

#define __FreeBSD__ 14
#include "platform/freebsd_system.hpp"
#undef __FreeBSD__

extern "C" inline int _umtx_op(void* object, int operation, unsigned long value, void* first,
                               void* second) {
  using namespace other_systems;
  if (operation == UMTX_OP_WAKE_PRIVATE) {
    expect(value <= INT_MAX, "a count that the kernel takes for a negative one");
    expect(first == nullptr && second == nullptr, "more than a wake has");
    return wake(object, static_cast<long>(value)) >= 0 ? 0 : -1;  // nobody to wake: no error
  }
  expect(operation == UMTX_OP_WAIT_UINT_PRIVATE, "the operation");
  expect(value <= UINT32_MAX, "the value");
  if (is_unlucky()) return fail(EINTR);
  const _umtx_time* const time = static_cast<const _umtx_time*>(second);
  if (time != nullptr) {
    expect(reinterpret_cast<std::uintptr_t>(first) == sizeof(_umtx_time),
           "a size by which the kernel takes the time for a timespec, which is from now on");
    expect(time->_flags == UMTX_ABSTIME && time->_clockid == CLOCK_MONOTONIC, "the clock");
    expect(time->_timeout.tv_sec >= 0 && time->_timeout.tv_nsec >= 0 &&
               time->_timeout.tv_nsec < 1000000000,
           "EINVAL: the time");
  }
  // A word that differs is no error.
  const long done = sleep_on(object, static_cast<uint32_t>(value), linux_wait_until,
                             time != nullptr ? &time->_timeout : nullptr);
  return done == 0 || errno == EAGAIN ? 0 : -1;
}

namespace other_systems {

using lockstep::detail::wait_word;

struct system_futex {
  const char* (*name)();
  void (*wait)(const wait_word&, uint32_t, uint64_t);
  void (*wake_one)(const wait_word*);
  void (*wake_all)(const wait_word*);
};
template <class Futex>
constexpr system_futex made_of() {
  return {[] { return Futex::name(); },
          [](const wait_word& word, uint32_t expected, uint64_t deadline) {
            Futex::wait(word, expected, deadline);
          },
          [](const wait_word* word) { Futex::wake(word, false); },
          [](const wait_word* word) { Futex::wake(word, true); }};
}

inline constexpr std::array<system_futex, 3> all = {
    made_of<lockstep::detail::system_of_2024::futex>(),
    made_of<lockstep::detail::system_of_2010::futex>(),
    made_of<lockstep::detail::freebsd_system::futex>()};
inline constexpr std::array<const char*, 3> names = {"os_sync_wait_on_address",
                                                     "mutex and condition variable", "_umtx_op"};
inline std::size_t chosen = 0;

struct futex_of_this_round {
  static const char* name() { return all[chosen].name(); }
  static void wait(const wait_word& word, uint32_t expected, uint64_t deadline) {
    all[chosen].wait(word, expected, deadline);
  }
  static void wake_one(const wait_word* word) { all[chosen].wake_one(word); }
  static void wake_all(const wait_word* word) { all[chosen].wake_all(word); }
};

class rounds : public testing::EmptyTestEventListener {
  void OnTestIterationStart(const testing::UnitTest&, int round) override {
    chosen = static_cast<std::size_t>(round) % all.size();
    std::printf("%s\n", names[chosen]);
  }
};
TEST(other_systems, the_round_has_the_futex_of_its_system) {
  EXPECT_STREQ(futex_of_this_round::name(), names[chosen]);
}

}  // namespace other_systems

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  GTEST_FLAG_SET(repeat, static_cast<int>(other_systems::all.size()));
  testing::UnitTest::GetInstance()->listeners().Append(new other_systems::rounds);  // owned there
  return RUN_ALL_TESTS();
}
