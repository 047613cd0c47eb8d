// SPDX-License-Identifier: MIT
// tests/platform/futex_linux_test.cpp -- what the contract's test (futex_test.cpp) cannot see
#include "platform/system.hpp"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "support/refuse.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::native_futex;
using lockstep::detail::no_deadline;
using lockstep::detail::wait_word;

/// How often the calling thread has given up its CPU of its own accord.
long voluntary_switches() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

/// Systems of 32 bits have two calls, and the library takes the other one where one is refused.
bool refuse_futex(int operation, int error) {
#if defined(SYS_futex_time64)
  if (!lockstep::test::refuse_system_call(SYS_futex_time64, operation, error)) return false;
#endif
  return lockstep::test::refuse_system_call(SYS_futex, operation, error);
}

class refused_futex : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(errors, refused_futex, testing::Values(ENOSYS, EPERM));

TEST_P(refused_futex, is_replaced_by_short_sleeps_that_leave_errno_alone) {
  bool refused = false;
  long switches = 0;
  int error = 0;
  constexpr int waits = 20;
  lockstep::test::run_threads(1, [&](unsigned) {
    refused = refuse_futex(FUTEX_WAIT_BITSET, GetParam());
    if (!refused) return;
    wait_word word{0};
    errno = 77;
    switches = -voluntary_switches();
    for (int i = 0; i < waits; ++i) native_futex::wait(word, 0, no_deadline);
    switches += voluntary_switches();
    error = errno;
  });
  if (!refused) GTEST_SKIP() << "no system call filters here";
  // A thread that is preempted may find its time over before it sleeps.
  EXPECT_GE(switches, waits / 2) << "a refused wait must not burn the CPU";
  EXPECT_EQ(error, 77);
}

TEST_P(refused_futex, does_not_let_a_wake_change_errno) {
  bool refused = false;
  int error = 0;
  lockstep::test::run_threads(1, [&](unsigned) {
    refused = refuse_futex(FUTEX_WAKE, GetParam());
    const wait_word word{0};
    errno = 77;
    native_futex::wake_one(&word);
    native_futex::wake_all(&word);
    error = errno;
  });
  if (!refused) GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(error, 77);
}

TEST_P(refused_futex, of_the_waiter_alone_does_not_strand_it) {
  wait_word word{0};
  std::atomic<bool> ready{false};
  bool refused = false;
  std::thread waiter([&] {
    refused = refuse_futex(FUTEX_WAIT_BITSET, GetParam());
    ready.store(true, std::memory_order_release);
    while (word.load(std::memory_order_acquire) == 0) native_futex::wait(word, 0, no_deadline);
  });
  while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
  word.store(1, std::memory_order_release);
  native_futex::wake_one(&word);
  waiter.join();
  if (!refused) GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(word.load(std::memory_order_relaxed), 1u);
}

}  // namespace
