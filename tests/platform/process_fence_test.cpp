// SPDX-License-Identifier: MIT
// tests/platform/process_fence_test.cpp -- FENCE-1 as the store-buffering litmus test
//
// The kind is decided once in a process. Tests that need a fresh or a refused one run in a child.
#include "platform/process_fence.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/refuse.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::process_fence;
namespace native = lockstep::detail::native;
using lockstep::detail::wait_word;
using std::memory_order_relaxed;

/// Notifier and sleeper count upwards, each in a word of its own, and note what they see of the other.
/// Both missed the other's store if the notifier, in a step that the sleeper has not seen in its step j,
/// has not seen j either. What is seen never decreases, so the first such step decides.
class litmus {
 public:
  /// How many of about `rounds` steps of the sleeper were missed.
  static int both_missed(int rounds) {
    litmus test;
    int missed = 0;
    for (int done = 0; done < rounds; done += steps_) missed += test.batch();
    return missed;
  }

 private:
  static constexpr std::uint32_t steps_ = 500, longest_ = 1 << 20;

  int batch() {
    notified_.store(0, memory_order_relaxed);
    announced_.store(0, memory_order_relaxed);
    ended_.store(false, memory_order_relaxed);
    lockstep::test::run_threads(2, [this](unsigned rank) { rank == 0 ? notify() : sleep(); });
    int missed = 0;
    for (std::uint32_t j = 1; j <= steps_; ++j) {
      const std::size_t first_unseen = sleeper_saw_[j] + 1u;
      missed += first_unseen < notifier_saw_.size() && notifier_saw_[first_unseen] < j;
    }
    return missed;
  }

  void notify() {
    notifier_saw_.reserve(longest_);
    notifier_saw_.assign(1, 0);
    gate_.arrive_and_wait();
    for (std::uint32_t i = 1; i < longest_ && !ended_.load(memory_order_relaxed); ++i) {
      notified_.store(i, memory_order_relaxed);
      native::fence_light();
      notifier_saw_.push_back(announced_.load(memory_order_relaxed));
    }
  }

  void sleep() {
    sleeper_saw_.assign(1, 0);
    gate_.arrive_and_wait();
    for (std::uint32_t j = 1; j <= steps_; ++j) {
      announced_.store(j, memory_order_relaxed);
      native::fence_heavy();
      sleeper_saw_.push_back(notified_.load(memory_order_relaxed));
    }
    ended_.store(true, memory_order_relaxed);
  }

  alignas(128) wait_word notified_{0};
  alignas(128) wait_word announced_{0};
  alignas(128) std::atomic<bool> ended_{false};
  lockstep::test::start_gate gate_{2};
  std::vector<std::uint32_t> notifier_saw_, sleeper_saw_;
};

int both_missed(int rounds) { return litmus::both_missed(rounds); }

const char* name_of(process_fence::kind kind) {
  switch (kind) {
    case process_fence::kind::asymmetric: return "asymmetric";
    case process_fence::kind::symmetric: return "symmetric";
    default: return "unknown";
  }
}

bool refuse_membarrier() { return lockstep::test::refuse_system_call(SYS_membarrier, -1, EPERM); }

/// For statements of a child process: its exit status says which condition did not hold.
void require(bool condition, int status) {
  if (!condition) std::_Exit(status);
}
constexpr int no_filters = 99;

class process_fence_test : public testing::Test {
 protected:
  process_fence_test() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

bool held(int status) { return testing::ExitedWithCode(0)(status); }
bool held_or_cannot_be_tested(int status) {
  return held(status) || testing::ExitedWithCode(no_filters)(status);
}

TEST_F(process_fence_test, prepare_decides_once) {
  const process_fence::kind first = process_fence::prepare();
  RecordProperty("kind", name_of(first));
  std::printf("process fence: %s\n", name_of(first));
  EXPECT_NE(first, process_fence::kind::unknown);
  lockstep::test::run_threads(4, [&](unsigned) { EXPECT_EQ(process_fence::prepare(), first); });
  EXPECT_EQ(process_fence::prepare(), first);
}

TEST_F(process_fence_test, heavy_is_granted_and_leaves_errno_alone) {
  errno = 77;
  EXPECT_TRUE(native::fence_heavy());
  EXPECT_EQ(errno, 77);
}

TEST_F(process_fence_test, FENCE_1_light_and_heavy_never_both_miss) {
  EXPECT_EQ(both_missed(60000), 0);
}

TEST_F(process_fence_test, FENCE_1_holds_before_prepare_was_called) {
  EXPECT_EXIT(
      {
        require(both_missed(10000) == 0, 1);
        std::_Exit(0);
      },
      held, "");
}

TEST_F(process_fence_test, FENCE_1_holds_where_the_system_refuses_its_barrier) {
  EXPECT_EXIT(
      {
        require(refuse_membarrier(), no_filters);
        require(process_fence::prepare() == process_fence::kind::symmetric, 1);
        require(native::fence_heavy(), 2);
        require(both_missed(100000) == 0, 3);
        std::_Exit(0);
      },
      held_or_cannot_be_tested, "");
}

TEST_F(process_fence_test, heavy_says_so_when_a_barrier_once_granted_is_refused) {
  EXPECT_EXIT(
      {
        if (process_fence::prepare() != process_fence::kind::asymmetric) std::_Exit(no_filters);
        require(native::fence_heavy(), 1);
        require(refuse_membarrier(), no_filters);
        require(!native::fence_heavy(), 2);
        std::_Exit(0);
      },
      held_or_cannot_be_tested, "");
}

}  // namespace
