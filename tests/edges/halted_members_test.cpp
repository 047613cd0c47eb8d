// SPDX-License-Identifier: MIT
// tests/edges/halted_members_test.cpp -- loops while threads of the team do not run: not begun, halted between regions, or
// halted in a part
//
// A thread that has not begun is kept in its start hook; one is halted in a signal handler, which reads from a pipe. Nothing
// but the test lets it go on, so a loop that waits for it never ends, and meets the ctest timeout.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/wide_team.hpp"

namespace {

using lockstep::member;
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
  team alone(1);
  lockstep::weighted_schedule weights(workers.size());
  for (int round = 0; round < 5; ++round) {
    for (const schedule how : schedules) {
      std::vector<int> visits(n), pairs(n), triples(n);
      EXPECT_TRUE(workers.for_each(std::size_t{0}, n, [&](std::size_t i) { ++visits[i]; }, how));
      EXPECT_TRUE(workers.for_each(
          lockstep::index_range_2{{0, 20}, {0, 20}},
          [&](std::size_t i, std::size_t j) { ++pairs[20 * i + j]; }, how));
      EXPECT_TRUE(workers.for_each(
          lockstep::index_range_3{{0, 4}, {0, 10}, {0, 10}},
          [&](std::size_t i, std::size_t j, std::size_t k) { ++triples[100 * i + 10 * j + k]; },
          how));
      expect_once(visits, "range");
      expect_once(pairs, "pairs");
      expect_once(triples, "triples");
    }
    std::vector<int> weighted(n);
    EXPECT_TRUE(
        workers.for_each(std::size_t{0}, n, [&](std::size_t i) { ++weighted[i]; }, weights));
    expect_once(weighted, "weighted");
    const auto value = [](std::size_t i) { return static_cast<long>(i); };
    const long sum = static_cast<long>(n * (n - 1) / 2);
    EXPECT_EQ(workers.reduce_each(std::size_t{0}, n, 0L, value, std::plus<long>()), sum);
    EXPECT_EQ(
        workers.reduce_each(std::size_t{0}, n, 0L, value, std::plus<long>(), lockstep::grain(1)),
        sum);
    const auto inverse = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
    const auto harmonic = [&](auto& by) {
      return by.reduce_each(std::size_t{0}, n, 0.0, inverse, std::plus<double>());
    };
    EXPECT_EQ(harmonic(workers), harmonic(alone)) << "the bits are always the same";
    const auto text = [](std::size_t i) { return std::to_string(i); };  // does not fit a cell
    const auto joined = [&](auto& by) {
      return by.reduce_each(std::size_t{0}, n, std::string(), text, std::plus<std::string>());
    };
    EXPECT_EQ(joined(workers), joined(alone));
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
  EXPECT_TRUE(workers.run([&](member& me) { threads[me.rank()] = pthread_self(); }));
  halt halted;
  for (std::size_t i = 0; i < count; ++i) halted.stop(threads[members - 1 - i]);
  expect_all_loops(workers);
  halted.let_go(count);
  std::vector<int> came(members);
  EXPECT_TRUE(workers.run([&](member& me) { ++came[me.rank()]; }));
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

/// A team whose workers do not begin before let_go().
class team_with_late_members {
 public:
  explicit team_with_late_members(std::size_t members)
      : gate_(std::make_shared<std::atomic<bool>>(false)),
        all_(team_options().members(members).on_start([gate = gate_](std::size_t rank) {
          if (rank > 0) gate->wait(false);
        })) {}
  ~team_with_late_members() { let_go(); }

  team& operator*() { return all_; }
  team* operator->() { return &all_; }
  void let_go() {
    *gate_ = true;
    gate_->notify_all();
  }

 private:
  std::shared_ptr<std::atomic<bool>> gate_;
  team all_;
};

class late_members : public testing::TestWithParam<std::size_t> {
 protected:
  static std::size_t members() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, late_members, testing::Values(2, 3, 8, 9, 20));

TEST_P(late_members, keep_no_loop_from_its_end) {
  team_with_late_members all(members());
  expect_all_loops(*all);
}

TEST_P(late_members, an_exception_in_a_taken_share_is_that_of_the_loop) {
  team_with_late_members all(members());
  for (std::size_t thrower = 0; thrower < members(); ++thrower) {
    EXPECT_THROW(all->for_each(0, members(),
                               [&](std::size_t i) {
                                 if (i == thrower) throw std::runtime_error("in a share");
                               }),
                 std::runtime_error);
    std::vector<int> visits(100);
    EXPECT_TRUE(all->for_each(0, 100, [&](std::size_t i) { ++visits[i]; }));
    expect_once(visits, "after the exception");
  }
}

TEST_P(late_members, shares_that_were_not_begun_when_the_loop_was_stopped_are_not_run) {
  team_with_late_members all(members());
  std::vector<int> visits(members());
  const auto visit = [&](std::size_t i) {
    ++visits[i];
    all->request_stop();
  };
  // With a grain the loop has several shares, also if an earlier team learned that loops of this place are short.
  EXPECT_FALSE(all->for_each(0, members(), visit, lockstep::grain(1)));
  EXPECT_EQ(visits[0], 1);
  // There are no more shares than CPUs.
  const int of_last_share = lockstep::detail::usable_cpus() > 1 ? 0 : 1;
  EXPECT_EQ(visits.back(), of_last_share);
  EXPECT_TRUE(all->for_each(0, members(), [&](std::size_t i) { ++visits[i]; }));
}

TEST_P(late_members, loops_nested_in_shares_end) {
  team_with_late_members all(members());
  std::vector<int> visits(members() * 10);
  all->for_each(0, members(), [&](std::size_t i) {
    all->for_each(0, 10, [&](std::size_t j) { ++visits[10 * i + j]; });
  });
  expect_once(visits, "nested");
}

TEST_P(late_members, come_to_the_next_run_however_many_loops_they_have_missed) {
  team_with_late_members all(members());
  std::vector<int> visits(members());
  for (int loop = 0; loop < 1000; ++loop) {
    all->for_each(0, members(), [&](std::size_t i) { ++visits[i]; });
  }
  EXPECT_EQ(visits, std::vector<int>(members(), 1000));
  all.let_go();
  std::vector<int> came(members());
  all->run([&](member& me) {
    ++came[me.rank()];
    EXPECT_TRUE(me.sync_threads());
  });
  expect_once(came, "members");
}

TEST_P(late_members, that_begin_in_the_middle_of_many_loops_take_part_or_not) {
  team_with_late_members all(members());
  std::thread later([&] {
    std::this_thread::yield();
    all.let_go();
  });
  constexpr int loops = 3000;
  std::vector<int> visits(members());
  double sum = 0;
  for (int loop = 0; loop < loops; ++loop) {
    all->for_each(0, members(), [&](std::size_t i) { ++visits[i]; });
    sum += all->reduce_each(0, 10, 0.0, [](std::size_t) { return 1.0; }, std::plus<double>());
  }
  later.join();
  EXPECT_EQ(visits, std::vector<int>(members(), loops));
  EXPECT_EQ(sum, 10.0 * loops);
}

TEST_P(late_members, a_team_that_ends_while_they_are_late_ends) {
  for (int round = 0; round < 20; ++round) {
    team_with_late_members all(members());
    std::vector<int> visits(members());
    all->for_each(0, members(), [&](std::size_t i) { ++visits[i]; });
    expect_once(visits, "the last loop");
  }
}

TEST_P(late_members, of_a_paused_team_come_anew) {
  team all(members());
  for (int round = 0; round < 20; ++round) {
    std::vector<int> visits(members());
    all.for_each(0, members(), [&](std::size_t i) { ++visits[i]; });
    expect_once(visits, "loop");
    all.pause();
  }
}

TEST_P(late_members, of_an_external_team_need_not_serve_for_loops) {
  lockstep::external_team all(members());
  std::vector<int> visits(1000);
  EXPECT_TRUE(all.for_each(0, 1000, [&](std::size_t i) { ++visits[i]; }));
  expect_once(visits, "nobody serves");
  std::thread serving([&] { all.serve(1); });
  for (int loop = 0; loop < 1000; ++loop) {
    std::vector<int> again(100);
    all.for_each(0, 100, [&](std::size_t i) { ++again[i]; });
    expect_once(again, "one serves, or comes");
  }
  all.release();
  serving.join();
}

}  // namespace
