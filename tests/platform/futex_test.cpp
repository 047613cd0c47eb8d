// SPDX-License-Identifier: MIT
// tests/platform/futex_test.cpp -- the contract FUTEX-1 to FUTEX-4, for whichever back end is built in, or for those of systems
// that no machine here runs, on stand-ins of their calls
#include "platform/futex_portable.hpp"
#include "platform/system.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <lockstep/detail/platform/clock.hpp>
#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/threads.hpp"

#if defined(LOCKSTEP_TEST_OTHER_SYSTEMS)
#include "other_systems.hpp"
#endif

namespace {

#if defined(LOCKSTEP_TEST_OTHER_SYSTEMS)
using futex = other_systems::futex_of_this_round;
#else
using futex = lockstep::detail::native_futex;
#endif
using lockstep::detail::no_deadline;
using lockstep::detail::wait_word;
using lockstep::detail::native::monotonic_nanoseconds;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

/// Some sleepers that wait until a word is no longer 0.
class sleepers {
 public:
  static constexpr unsigned count = 4;

  explicit sleepers(std::uint64_t deadline = no_deadline) {
    for (unsigned i = 0; i < count; ++i)
      threads_[i] = std::thread([=, this] { sleep(i, deadline); });
  }
  ~sleepers() {
    for (std::thread& thread : threads_) thread.join();
  }
  void wait_until_all_sleep() const {
    for (const watched_thread& one : watched_) one.wait_until_asleep();
  }
  void change() { word.store(1, memory_order_release); }
  /// How often a wait returned to any of them.
  int returns() const { return returns_.load(memory_order_relaxed); }
  unsigned awake() const { return awake_.load(memory_order_acquire); }
  void wait_until_awake(unsigned wanted) const {
    while (awake() < wanted) std::this_thread::yield();
  }

  wait_word word{0};

 private:
  void sleep(unsigned i, std::uint64_t deadline) {
    watched_[i].enter();
    while (word.load(memory_order_acquire) == 0) {
      futex::wait(word, 0, deadline);
      returns_.fetch_add(1, memory_order_relaxed);
    }
    awake_.fetch_add(1, memory_order_release);
  }

  std::array<watched_thread, count> watched_;
  std::atomic<int> returns_{0};
  std::atomic<unsigned> awake_{0};
  std::array<std::thread, count> threads_;
};

TEST(futex, prints_which_back_end_is_tested) {
  RecordProperty("back_end", futex::name());
  EXPECT_STRNE(futex::name(), "");
}

TEST(futex, FUTEX_1_a_wait_for_a_word_that_differs_returns_at_once) {
  wait_word word{5};
  futex::wait(word, 4, no_deadline);
  futex::wait(word, 0, no_deadline);
  futex::wait(word, 0xFFFFFFFFu, no_deadline);
  futex::wait(word, 5u | 0x80000000u, no_deadline);
  EXPECT_EQ(word.load(memory_order_relaxed), 5u);
}

TEST(futex, FUTEX_2_wake_one_lets_at_least_one_sleeper_return) {
  sleepers all;
  all.wait_until_all_sleep();
  all.change();
  for (unsigned woken = 1; woken <= sleepers::count; ++woken) {
    futex::wake_one(&all.word);
    all.wait_until_awake(woken);
  }
  EXPECT_EQ(all.awake(), sleepers::count);
}

TEST(futex, FUTEX_2_wake_all_lets_every_sleeper_return) {
  sleepers all;
  all.wait_until_all_sleep();
  all.change();
  futex::wake_all(&all.word);
  all.wait_until_awake(sleepers::count);
  EXPECT_EQ(all.awake(), sleepers::count);
}

TEST(futex, FUTEX_2_a_wake_of_another_word_loses_nobody) {
  std::array<sleepers, 3> groups;
  for (sleepers& group : groups) group.wait_until_all_sleep();
  for (sleepers& group : groups) {
    group.change();
    futex::wake_all(&group.word);
    group.wait_until_awake(sleepers::count);
  }
  for (sleepers& group : groups) EXPECT_EQ(group.awake(), sleepers::count);
}

TEST(futex, FUTEX_2_wakes_without_a_sleeper_are_not_remembered_and_do_no_harm) {
  wait_word word{0};
  for (int i = 0; i < 100; ++i) {
    futex::wake_one(&word);
    futex::wake_all(&word);
  }
  EXPECT_EQ(word.load(memory_order_relaxed), 0u);
}

#if defined(_WIN32)
void* new_page() { return VirtualAlloc(nullptr, 4096, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE); }
bool give_back(void* page) { return VirtualFree(page, 0, MEM_RELEASE) != 0; }
#else
void* new_page() {
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page != MAP_FAILED ? page : nullptr;
}
bool give_back(void* page) { return munmap(page, 4096) == 0; }
#endif

TEST(futex, FUTEX_2_a_wake_of_memory_that_is_gone_does_no_harm) {
  void* const page = new_page();
  ASSERT_NE(page, nullptr);
  const wait_word* const word = new (page) wait_word{0};
  ASSERT_TRUE(give_back(page));
  errno = 77;
  futex::wake_one(word);
  futex::wake_all(word);
  EXPECT_EQ(errno, 77);
}

constexpr std::uint64_t hour = 3600000000000;

// Two threads hand a number to and fro, both asleep whenever it is not their turn.
TEST(futex, FUTEX_3_no_wake_is_lost_between_comparison_and_sleep) {
  constexpr std::uint32_t rounds = 10000;
  for (const std::uint64_t deadline : {no_deadline, monotonic_nanoseconds() + hour}) {
    wait_word there{0}, back{0};
    run_threads(2, [&](unsigned rank) {
      wait_word& mine = rank == 0 ? there : back;
      wait_word& other = rank == 0 ? back : there;
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        if (rank == 0) {
          mine.store(round, memory_order_release);
          futex::wake_one(&mine);
        }
        while (other.load(memory_order_acquire) != round) futex::wait(other, round - 1, deadline);
        if (rank == 1) {
          mine.store(round, memory_order_release);
          futex::wake_one(&mine);
        }
      }
    });
    EXPECT_EQ(back.load(memory_order_relaxed), rounds);
  }
}

// Wakes come at all times of a wait.
TEST(futex, FUTEX_2_wakes_reach_those_who_are_near_their_deadline) {
  for (int round = 0; round < 50; round += lockstep::test::is_brief() ? 5 : 1) {
    wait_word word{0};
    std::uint64_t woken_at = 0;
    std::thread waiter([&] {
      const std::uint64_t deadline = monotonic_nanoseconds() + 60000000;
      while (word.load(memory_order_acquire) == 0 && monotonic_nanoseconds() < deadline)
        futex::wait(word, 0, deadline);
      while (word.load(memory_order_acquire) == 0) futex::wait(word, 0, no_deadline);
      woken_at = monotonic_nanoseconds();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    word.store(1, memory_order_release);
    futex::wake_one(&word);
    waiter.join();
    EXPECT_NE(woken_at, 0u);
  }
}

TEST(futex, FUTEX_4_a_deadline_in_the_past_lets_the_wait_return) {
  wait_word word{0};
  for (const std::uint64_t deadline :
       {std::uint64_t{0}, std::uint64_t{1}, monotonic_nanoseconds() - 1}) {
    futex::wait(word, 0, deadline);
  }
  EXPECT_EQ(word.load(memory_order_relaxed), 0u);
}

// Where a call takes larger units, a time that is rounded down to 0 of them may mean "for ever".
TEST(futex, FUTEX_4_the_nearest_deadlines_let_the_wait_return) {
  wait_word word{0};
  for (std::uint64_t rest = 0; rest < 3000; rest += 10)
    futex::wait(word, 0, monotonic_nanoseconds() + rest);
  EXPECT_EQ(word.load(memory_order_relaxed), 0u);
}

TEST(futex, FUTEX_4_a_deadline_is_slept_for_on_the_monotonic_clock) {
  wait_word word{0};
  const std::uint64_t deadline = monotonic_nanoseconds() + 20000000;
  int returns = 0;
  while (monotonic_nanoseconds() < deadline) {
    futex::wait(word, 0, deadline);
    ++returns;
  }
  EXPECT_LT(returns, 100) << "a wait that returns at once is no sleep";
}

TEST(futex, FUTEX_4_deadlines_that_never_come_are_slept_for) {
  for (const std::uint64_t deadline :
       {no_deadline, no_deadline - 1, no_deadline / 2 + 1, no_deadline / 2, no_deadline / 4}) {
    sleepers all(deadline);
    all.wait_until_all_sleep();
    all.change();
    futex::wake_all(&all.word);
    all.wait_until_awake(sleepers::count);
    EXPECT_LT(all.returns(), 100) << "a wait that returns at once is no sleep; deadline "
                                  << deadline;
  }
}

TEST(futex, errno_is_left_as_it_was) {
  wait_word word{0};
  errno = 77;
  futex::wait(word, 1, no_deadline);
  EXPECT_EQ(errno, 77) << "word differs";
  futex::wait(word, 0, 1);
  EXPECT_EQ(errno, 77) << "timed out";
  futex::wake_one(&word);
  futex::wake_all(&word);
  EXPECT_EQ(errno, 77) << "nobody to wake";
}

// Windows and WebAssembly have no signals that end a wait.
#if !defined(_WIN32) && !defined(__wasm__)

std::atomic<int> signals_handled{0};

TEST(futex, FUTEX_1_a_storm_of_signals_neither_surfaces_nor_loses_a_wake) {
  struct sigaction action = {}, old = {};
  action.sa_handler = [](int) { signals_handled.fetch_add(1, memory_order_relaxed); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);  // without SA_RESTART: waits end with EINTR

  constexpr std::uint32_t rounds = 1000;
  wait_word word{0}, seen{0};
  std::atomic<int> errors{0};
  std::thread waiter([&] {
    errno = 77;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      while (word.load(memory_order_acquire) != round) futex::wait(word, round - 1, no_deadline);
      if (errno != 77) errors.fetch_add(1, memory_order_relaxed);
      seen.store(round, memory_order_release);
    }
    while (word.load(memory_order_acquire) == rounds) futex::wait(word, rounds, no_deadline);
  });
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    word.store(round, memory_order_release);
    futex::wake_one(&word);
    while (seen.load(memory_order_acquire) != round) {
      pthread_kill(waiter.native_handle(), SIGUSR1);
      std::this_thread::yield();
    }
  }
  word.store(rounds + 1, memory_order_release);
  futex::wake_all(&word);
  waiter.join();
  EXPECT_EQ(errors.load(), 0) << "errno was changed";
  EXPECT_GT(signals_handled.load(), 0);
  sigaction(SIGUSR1, &old, nullptr);
}

#endif

}  // namespace
