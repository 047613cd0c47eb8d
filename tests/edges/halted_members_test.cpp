// SPDX-License-Identifier: MIT
// tests/edges/halted_members_test.cpp -- loops while threads of the team do not run: halted between regions, or in a part
//
// A thread is halted in a signal handler, which reads from a pipe. Nothing but the test lets it go on, so a loop that
// waits for it never ends, and meets the ctest timeout.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/wide_team.hpp"

namespace {

using lockstep::schedule;
using lockstep::team;
using lockstep::team_options;
using lockstep::test::wide_team;

/// Bytes from one thread to another, also from a signal handler.
class channel {
 public:
  channel() {
    if (pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~channel() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void put() {
    const char byte = 'x';
    while (write(ends_[1], &byte, 1) != 1) {
    }
  }
  void take() {
    char byte;
    while (read(ends_[0], &byte, 1) != 1) {
    }
  }

 private:
  int ends_[2];
};

/// Halts threads of this process.
class halt {
 public:
  halt() {
    now() = this;
    struct sigaction how = {};
    how.sa_handler = [](int) {
      const int error = errno;
      halt& here = *now();
      here.halted_.put();
      here.go_on_.take();
      errno = error;
    };
    sigaction(SIGUSR1, &how, &before_);
  }
  ~halt() { sigaction(SIGUSR1, &before_, nullptr); }

  /// Returns when the thread is halted.
  void stop(pthread_t thread) {
    ASSERT_EQ(pthread_kill(thread, SIGUSR1), 0);
    halted_.take();
  }
  /// Halts the calling thread until let_go().
  void stop_me() { pthread_kill(pthread_self(), SIGUSR1); }
  void wait_for_one() { halted_.take(); }
  void let_go(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) go_on_.put();
  }

 private:
  static halt*& now() {
    static halt* only = nullptr;
    return only;
  }

  channel halted_, go_on_;
  struct sigaction before_ = {};
};

void expect_once(const std::vector<int>& visits, const std::string& what) {
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << what;
}

const schedule schedules[] = {lockstep::static_schedule(),  lockstep::grain(1),
                              lockstep::grain(50),          lockstep::static_schedule(3),
                              lockstep::dynamic_schedule(), lockstep::dynamic_schedule(5),
                              lockstep::guided_schedule(2)};

/// Runs every kind of loop, and expects each index once.
template <class Team>
void expect_all_loops(Team& workers) {
  constexpr std::size_t n = 400;
  for (int round = 0; round < 5; ++round) {
    for (const schedule how : schedules) {
      std::vector<int> visits(n), pairs(n);
      EXPECT_TRUE(workers.for_each(std::size_t{0}, n, [&](std::size_t i) { ++visits[i]; }, how));
      EXPECT_TRUE(workers.for_each(
          lockstep::index_range_2{{0, 20}, {0, 20}},
          [&](std::size_t i, std::size_t j) { ++pairs[20 * i + j]; }, how));
      expect_once(visits, "range");
      expect_once(pairs, "pairs");
    }
    const auto value = [](std::size_t i) { return static_cast<long>(i); };
    const long sum = static_cast<long>(n * (n - 1) / 2);
    EXPECT_EQ(workers.reduce_each(std::size_t{0}, n, 0L, value, std::plus<long>()), sum);
    EXPECT_EQ(
        workers.reduce_each(std::size_t{0}, n, 0L, value, std::plus<long>(), lockstep::grain(1)),
        sum);
    std::vector<long> prefix(n);
    EXPECT_EQ(workers.scan_each(std::size_t{0}, n, 0L, value, std::plus<long>(),
                                [&](std::size_t i, long at) { prefix[i] = at; }),
              sum);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(prefix[i], static_cast<long>(i * (i + 1) / 2));
    std::vector<int> called(3);
    EXPECT_TRUE(workers.sections([&] { ++called[0]; }, [&] { ++called[1]; }, [&] { ++called[2]; }));
    expect_once(called, "functions");
    EXPECT_THROW(workers.for_each(std::size_t{0}, n,
                                  [](std::size_t i) {
                                    if (i == 390) throw std::runtime_error("late");
                                  }),
                 std::runtime_error);
  }
}

class halted_members : public testing::TestWithParam<std::size_t> {
 protected:
  static std::size_t members() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, halted_members, testing::Values(2, 3, 4, 7, 16));

/// Halts the last `count` workers of a team, which wait for the next region.
template <class Team>
void check_halted_between_regions(Team& workers, std::size_t members, std::size_t count) {
  std::vector<pthread_t> threads(members);
  EXPECT_TRUE(workers.run([&](lockstep::member& me) { threads[me.rank()] = pthread_self(); }));
  halt halted;
  for (std::size_t i = 0; i < count; ++i) halted.stop(threads[members - 1 - i]);
  expect_all_loops(workers);
  halted.let_go(count);
  std::vector<int> came(members);
  EXPECT_TRUE(workers.run([&](lockstep::member& me) { ++came[me.rank()]; }));
  expect_once(came, "a region of all");
  expect_all_loops(workers);
}

TEST_P(halted_members, that_have_not_begun_keep_no_loop_from_its_end) {
  for (const bool learns : {true, false}) {
    team workers(team_options().members(members()).learn(learns));
    check_halted_between_regions(workers, members(), 1);
    check_halted_between_regions(workers, members(), members() - 1);
  }
}

TEST_P(halted_members, that_have_not_begun_keep_no_loop_with_a_share_for_each_from_its_end) {
  for (const bool learns : {true, false}) {
    wide_team workers(members(), learns);
    check_halted_between_regions(workers, members(), 1);
    check_halted_between_regions(workers, members(), members() - 1);
  }
}

/// A loop in whose first iteration a worker is halted. The caller begins after that, and counts what the others have
/// done meanwhile. Its team must not learn: it could run the loop on the caller, which waits for a worker.
class loop_with_halted_worker {
 public:
  explicit loop_with_halted_worker(std::size_t iterations) : visits_(iterations) {}

  void operator()(std::size_t i) {
    visits_[i].fetch_add(1);
    if (std::this_thread::get_id() == caller_) {
      has_halted_.wait(false);
    } else if (!is_taken_.exchange(true)) {
      halted_.stop_me();
    }
    done_.fetch_add(1);
    done_.notify_all();
  }

  /// Runs a loop with this as its function, and lets the worker go when all but `begun` iterations are done.
  template <class Run>
  void check(std::size_t begun, Run run) {
    std::thread watcher([&] {
      halted_.wait_for_one();
      has_halted_ = true;
      has_halted_.notify_all();
      for (std::size_t seen = done_; seen + begun < visits_.size(); seen = done_) done_.wait(seen);
      has_ended_early_ = has_ended_;
      halted_.let_go(1);
    });
    run();
    has_ended_ = true;
    watcher.join();
    EXPECT_FALSE(has_ended_early_) << "the loop ends after the last iteration";
    EXPECT_EQ(done_.load(), visits_.size());
    for (std::size_t i = 0; i < visits_.size(); ++i) EXPECT_EQ(visits_[i].load(), 1) << i;
  }

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
  halt halted_;
  std::vector<std::atomic<int>> visits_;
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> is_taken_{false}, has_halted_{false}, has_ended_{false};
  bool has_ended_early_ = true;
};

TEST_P(halted_members, in_the_middle_of_a_share_leave_its_other_parts_to_others) {
  wide_team workers(members(), false);
  const std::size_t n = members() * 16;  // 16 parts a share
  for (int round = 0; round < 5; ++round) {
    loop_with_halted_worker loop(n);
    loop.check(1, [&] {
      EXPECT_TRUE(
          workers.for_each(std::size_t{0}, n, [&](std::size_t i) { loop(i); }, lockstep::grain(1)));
    });
  }
}

TEST_P(halted_members, in_the_middle_of_a_share_leave_its_other_parts_to_others_in_2d) {
  wide_team workers(members(), false);
  loop_with_halted_worker loop(members() * 16);
  loop.check(1, [&] {
    EXPECT_TRUE(workers.for_each(
        lockstep::index_range_2{{0, members()}, {0, 16}},
        [&](std::size_t i, std::size_t j) { loop(16 * i + j); }, lockstep::grain(1)));
  });
}

TEST_P(halted_members, in_a_chunk_leave_the_other_chunks_to_others) {
  wide_team workers(members(), false);
  for (const schedule how : {lockstep::dynamic_schedule(), lockstep::guided_schedule()}) {
    const std::size_t n = 100;
    // A guided loop's first chunks are large, the dynamic one's not.
    const std::size_t largest =
        how.kind() == lockstep::schedule_kind::guided ? n / (2 * members()) + 1 : 1;
    loop_with_halted_worker loop(n);
    loop.check(largest, [&] {
      EXPECT_TRUE(workers.for_each(std::size_t{0}, n, [&](std::size_t i) { loop(i); }, how));
    });
  }
}

TEST_P(halted_members, in_a_part_of_a_reduction_leave_the_other_parts_to_others) {
  wide_team workers(members(), false);
  constexpr std::size_t n = 112;  // iterations that are a leaf each
  for (int round = 0; round < 5; ++round) {
    loop_with_halted_worker loop(n);
    loop.check(2, [&] {  // 64 nodes, of one leaf or two
      EXPECT_EQ(workers.reduce_each(
                    std::size_t{0}, n, std::size_t{0},
                    [&](std::size_t i) {
                      loop(i);
                      return i;
                    },
                    std::plus<std::size_t>(), lockstep::grain(1)),
                n * (n - 1) / 2);
    });
  }
}

TEST_P(halted_members, in_a_function_of_sections_leave_the_others_to_others) {
  wide_team workers(members(), false);
  loop_with_halted_worker loop(6);
  loop.check(1, [&] {
    EXPECT_TRUE(workers.sections([&] { loop(0); }, [&] { loop(1); }, [&] { loop(2); },
                                 [&] { loop(3); }, [&] { loop(4); }, [&] { loop(5); }));
  });
}

}  // namespace
