// SPDX-License-Identifier: MIT
// tests/fault/sandbox_test.cpp -- a kernel, or a filter before it, that refuses futex or membarrier
//
// Below the seam: the errors are those of the system call. Each sandbox is a child process. Only the
// library's own futex operations are refused, not those of the C library, which ends the program then.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "fault/workloads.hpp"
#include "platform/process_fence.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::detail::process_fence;
namespace native = lockstep::detail::native;
using lockstep::test::cannot_be_tested;
using lockstep::test::in_child;
using lockstep::test::run_all_workloads;

constexpr unsigned short load = BPF_LD | BPF_W | BPF_ABS, equal = BPF_JMP | BPF_JEQ | BPF_K,
                         give = BPF_RET | BPF_K;

/// The low half of an argument, on a little-endian machine.
constexpr unsigned argument(unsigned index) {
  return static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * index;
}

/// Puts a filter before the system calls of the calling thread, or of all there are. For good.
bool install(std::vector<sock_filter> program, bool for_all_threads) {
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 for_all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0ul, &filter) == 0;
}

/// From now on `error` is what membarrier gives.
bool refuse_membarrier(int error, bool for_all_threads = false) {
  return install({{load, 0, 0, offsetof(seccomp_data, nr)},
                  {equal, 0, 1, SYS_membarrier},
                  {give, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)},
                  {give, 0, 0, SECCOMP_RET_ALLOW}},
                 for_all_threads);
}

/// From now on `error` is what the library's futex operation gives to the calling thread, and to the
/// threads that it makes. The library gives all bits as the last argument also to wakes, which is how
/// they differ from the C library's.
bool refuse_futex(unsigned operation, int error) {
  return install({{load, 0, 0, offsetof(seccomp_data, nr)},
                  {equal, 0, 5, SYS_futex},
                  {load, 0, 0, argument(1)},
                  {equal, 0, 3, operation},
                  {load, 0, 0, argument(5)},
                  {equal, 0, 1, FUTEX_BITSET_MATCH_ANY},
                  {give, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)},
                  {give, 0, 0, SECCOMP_RET_ALLOW}},
                 false);
}

bool filters_are_possible() {
  return in_child([] { return refuse_futex(FUTEX_CMP_REQUEUE, EPERM) ? 0 : 1; }) == 0;
}

constexpr unsigned waits = FUTEX_WAIT_BITSET_PRIVATE, wakes = FUTEX_WAKE_PRIVATE;

/// Whether a wait of the calling thread fails with this error.
bool waits_fail_with(int error) {
  unsigned word = 0;
  const timespec past = {0, 0};
  return syscall(SYS_futex, &word, waits, 0, &past, nullptr, FUTEX_BITSET_MATCH_ANY) == -1 &&
         errno == error;
}

int run_workloads(std::size_t threads, std::size_t steps = 20,
                  const std::function<void(std::size_t)>& on_start = {}) {
  long wrong = 0;
  for (const wait_policy policy : {wait_policy::block(), wait_policy()}) {
    wrong += run_all_workloads({policy, threads, steps, on_start});
  }
  return wrong == 0 ? 0 : 1;
}

struct named_error {
  const char* name;
  int error;

  friend std::ostream& operator<<(std::ostream& out, const named_error& self) {
    return out << self.name;
  }
};
constexpr named_error interrupted = {"EINTR", EINTR}, again = {"EAGAIN", EAGAIN},
                      no_call = {"ENOSYS", ENOSYS}, no_permission = {"EPERM", EPERM};

void expect_success(int status) {
  if (status == cannot_be_tested) GTEST_SKIP() << "no system call filters here";
  EXPECT_EQ(status, 0) << "1: something was lost; others: see the test; negative: a signal";
}

class futex_in_a_sandbox : public testing::TestWithParam<named_error> {};
INSTANTIATE_TEST_SUITE_P(errors, futex_in_a_sandbox,
                         testing::Values(interrupted, again, no_call, no_permission),
                         testing::PrintToStringParamName());

TEST_P(futex_in_a_sandbox, that_refuses_every_wait_makes_waiting_slow_but_loses_nothing) {
  const int error = GetParam().error;
  expect_success(in_child([error] {
    if (!refuse_futex(waits, error)) return cannot_be_tested;
    if (!waits_fail_with(error)) return 2;
    // Waits that are always interrupted spin: no crowd.
    return error == EINTR || error == EAGAIN ? run_workloads(2, 8) : run_workloads(4);
  }));
}

TEST_P(futex_in_a_sandbox, of_half_of_the_threads_loses_nothing) {
  const int error = GetParam().error;
  expect_success(in_child([error] {
    if (!filters_are_possible()) return cannot_be_tested;
    std::atomic<int> open{0};
    const int lost = run_workloads(3, 20, [&](std::size_t rank) {
      if (rank % 2 == 0) return;
      open += !waits_fail_with(error) && !refuse_futex(waits, error);
    });
    return open != 0 ? 2 : lost;
  }));
}

class no_futex : public testing::TestWithParam<named_error> {};
INSTANTIATE_TEST_SUITE_P(errors, no_futex, testing::Values(no_call, no_permission),
                         testing::PrintToStringParamName());

TEST_P(no_futex, at_all_makes_waiting_slow_but_loses_nothing) {
  const int error = GetParam().error;
  expect_success(in_child([error] {
    if (!refuse_futex(waits, error) || !refuse_futex(wakes, error)) return cannot_be_tested;
    if (!waits_fail_with(error)) return 2;
    return run_workloads(4);
  }));
}

class no_membarrier : public testing::TestWithParam<named_error> {};
INSTANTIATE_TEST_SUITE_P(errors, no_membarrier, testing::Values(no_call, no_permission),
                         testing::PrintToStringParamName());

TEST_P(no_membarrier, from_the_start_is_replaced_by_fences_and_said_by_name) {
  const int error = GetParam().error;
  expect_success(in_child([error] {
    if (!refuse_membarrier(error)) return cannot_be_tested;
    if (process_fence::prepare() != process_fence::kind::symmetric) return 2;
    if (std::string(process_fence::name()) != "seq_cst fence, both pay") return 3;
    if (!native::fence_heavy()) return 4;
    return run_workloads(4);
  }));
}

/// A team, a fan_out and a barrier whose members have always fallen asleep before they are notified.
int wake_sleepers_of_boards(int rounds) {
  constexpr std::size_t members = 2;
  const auto idle = [] { std::this_thread::sleep_for(std::chrono::microseconds(500)); };
  lockstep::team workers(members);
  lockstep::fan_out out(1);
  lockstep::ranked_barrier all(members);
  lockstep::joinable_thread other([&] {
    for (int round = 0; round < rounds; ++round) {
      out.wait(0);
      all.arrive_and_wait(1);
    }
  });
  int calls = 0;
  for (int round = 0; round < rounds; ++round) {
    idle();
    workers.run([&](lockstep::member& self) {
      if (self.rank() == 1) ++calls;
    });
    out.notify();
    idle();
    all.arrive_and_wait(0);
  }
  return calls == rounds ? 0 : 1;
}

TEST_P(no_membarrier, any_more_after_it_was_granted_makes_sleepers_look_again_and_loses_nothing) {
  const int error = GetParam().error;
  expect_success(in_child([error] {
    if (process_fence::prepare() != process_fence::kind::asymmetric) return cannot_be_tested;
    if (std::string(process_fence::name()) != "membarrier, the sleeper pays") return 2;
    std::atomic<bool> refused{false}, failed{false};
    std::thread refuser([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // in the middle of the work
      failed = !refuse_membarrier(error, true);
      refused = true;
    });
    int lost = 0;
    while (!refused) lost += wake_sleepers_of_boards(5);
    refuser.join();
    if (failed) return cannot_be_tested;
    if (native::fence_heavy()) return 3;
    return lost + wake_sleepers_of_boards(100) + run_workloads(4);
  }));
}

}  // namespace
