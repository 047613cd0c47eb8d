// SPDX-License-Identifier: MIT
// tests/edges/late_members_test.cpp -- loops end without the members that have not begun
//
// A member's start hook keeps it from beginning. Nothing but the test lets it go on, so a loop that waits for it never
// ends, and meets the ctest timeout.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using lockstep::index_range;
using lockstep::member;
using lockstep::team;
using lockstep::team_options;

/// A team whose workers of rank `first_late` and above do not begin before let_go().
class team_with_late_members {
 public:
  explicit team_with_late_members(std::size_t members, std::size_t first_late = 1)
      : gate_(std::make_shared<std::atomic<bool>>(false)),
        all_(team_options().members(members).on_start([gate = gate_, first_late](std::size_t rank) {
          if (rank >= first_late) gate->wait(false);
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

/// Expects each index once.
void expect_once(const std::vector<int>& visits, const std::string& what) {
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << what;
}

class late_members : public testing::TestWithParam<std::size_t> {
 protected:
  static std::size_t members() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(sizes, late_members, testing::Values(2, 3, 8, 9, 20));

TEST_P(late_members, every_loop_ends_and_runs_each_iteration_once) {
  team_with_late_members all(members());
  constexpr std::size_t n = 1000;
  const lockstep::schedule schedules[] = {lockstep::static_schedule(), lockstep::static_schedule(7),
                                          lockstep::dynamic_schedule(3),
                                          lockstep::guided_schedule()};
  for (const lockstep::schedule how : schedules) {
    std::vector<int> visits(n), pairs(n), triples(n);
    EXPECT_TRUE(all->for_each(0, n, [&](std::size_t i) { ++visits[i]; }, how));
    EXPECT_TRUE(all->for_each(
        lockstep::index_range_2{{0, 10}, {0, 100}},
        [&](std::size_t i, std::size_t j) { ++pairs[100 * i + j]; }, how));
    EXPECT_TRUE(all->for_each(
        lockstep::index_range_3{{0, 10}, {0, 10}, {0, 10}},
        [&](std::size_t i, std::size_t j, std::size_t k) { ++triples[100 * i + 10 * j + k]; },
        how));
    expect_once(visits, "range");
    expect_once(pairs, "pairs");
    expect_once(triples, "triples");
  }
  std::vector<int> blocks(n);
  EXPECT_TRUE(all->for_each(0, n, [&](std::size_t i) { ++blocks[i]; }));
  expect_once(blocks, "blocks");
  lockstep::weighted_schedule weighted(members());
  for (int loop = 0; loop < 5; ++loop) {
    std::vector<int> visits(n);
    EXPECT_TRUE(all->for_each(0, n, [&](std::size_t i) { ++visits[i]; }, weighted));
    expect_once(visits, "weighted");
  }
  std::vector<int> called(3);
  EXPECT_TRUE(all->sections([&] { ++called[0]; }, [&] { ++called[1]; }, [&] { ++called[2]; }));
  expect_once(called, "functions");
}

TEST_P(late_members, reductions_end_with_the_bits_that_they_always_have) {
  team_with_late_members all(members());
  team alone(1);
  constexpr std::size_t n = 100000;
  const auto value = [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); };
  const auto sum = [&](team& by) { return by.reduce_each(0, n, 0.0, value, std::plus<double>()); };
  EXPECT_EQ(sum(*all), sum(alone));
  const auto text = [](std::size_t i) { return std::to_string(i); };  // does not fit a cell
  const auto join = [&](team& by) {
    return by.reduce_each(0, 1000, std::string(), text, std::plus<std::string>());
  };
  EXPECT_EQ(join(*all), join(alone));
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

TEST_P(late_members, that_never_began_do_not_keep_others_from_their_shares) {
  if (members() == 2) GTEST_SKIP() << "there are no others";
  team_with_late_members all(members(), members() - 1);
  for (int loop = 0; loop < 200; ++loop) {
    std::vector<int> visits(500);
    all->for_each(0, 500, [&](std::size_t i) { ++visits[i]; });
    expect_once(visits, "loop");
  }
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
