// SPDX-License-Identifier: MIT
// tests/loop/late_shares_test.cpp -- the share of a member that has not come is run by others (LOOPS-5, LOOPS-7)
#include "loop/loops.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <lockstep/event.hpp>
#include <lockstep/member.hpp>
#include <lockstep/team.hpp>

#include "support/team_sizes.hpp"

namespace {

using lockstep::index_range_2;
using lockstep::manual_reset_event;
using lockstep::member;
using lockstep::schedule;
using lockstep::static_schedule;
using lockstep::sub_team;
using lockstep::team;

class late_shares : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, late_shares, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// Holds the last member up until `calls` iterations have been run.
class hold_up {
 public:
  explicit hold_up(std::size_t calls) : left_(calls) {}

  void before_loop(member& me) {
    if (me.rank() + 1 == me.size() && me.size() > 1) all_run_.wait();
  }
  void count() {
    if (--left_ == 0) all_run_.notify();
  }

 private:
  std::atomic<std::size_t> left_;
  manual_reset_event all_run_;
};

TEST_P(late_shares, LOOPS_5_of_a_member_that_is_held_up_are_run_by_others_each_index_once) {
  team workers(members(), policy());
  for (const schedule how : {static_schedule(), static_schedule(3)}) {
    std::vector<int> visits(6 * members(), 0);  // plain
    hold_up last(visits.size());
    std::atomic<int> wrong{0};
    workers.run([&](member& me) {
      last.before_loop(me);
      me.for_each(
          0, visits.size(),
          [&](std::size_t i) {
            ++visits[i];
            last.count();
          },
          how);
      for (const int each : visits) wrong += each != 1;
    });
    EXPECT_EQ(wrong.load(), 0);
  }
}

TEST_P(late_shares, LOOPS_5_of_nested_ranges_too) {
  team workers(members(), policy());
  const std::size_t rows = members();
  std::vector<int> visits(rows * 5, 0);
  hold_up last(visits.size());
  workers.run([&](member& me) {
    last.before_loop(me);
    me.for_each(index_range_2{{0, rows}, {0, 5}}, [&](std::size_t i, std::size_t j) {
      ++visits[5 * i + j];
      last.count();
    });
  });
  EXPECT_EQ(visits, std::vector<int>(rows * 5, 1));
}

TEST_P(late_shares, LOOPS_5_of_reductions_put_the_values_of_their_member) {
  team workers(members(), policy());
  const std::size_t length = 3 * members() + 1;
  std::string expected = "begin";
  for (std::size_t i = 0; i < length; ++i) expected += static_cast<char>('a' + i % 26);
  hold_up last(length), last_of_sum(length);
  std::atomic<int> wrong{0};
  workers.run([&](member& me) {
    last.before_loop(me);
    const auto letter = [&](std::size_t i) {
      last.count();
      return std::string(1, static_cast<char>('a' + i % 26));
    };
    wrong += me.reduce_each(0, length, std::string("begin"), letter, std::plus<std::string>()) !=
             expected;
    last_of_sum.before_loop(me);
    const auto number = [&](std::size_t first, std::size_t past) {
      for (std::size_t i = first; i < past; ++i) last_of_sum.count();
      return past - first;
    };
    wrong +=
        me.reduce_range(0, length, std::size_t{7}, number, std::plus<std::size_t>()) != length + 7;
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(late_shares, LOOPS_5_of_a_sub_team_are_run_by_its_members) {
  team workers(members(), policy());
  std::vector<int> visits(4 * members(), 0);
  hold_up last(visits.size());
  workers.run([&](member& me) {
    sub_team all = me.split(0);
    last.before_loop(*all);
    all->for_each(0, visits.size(), [&](std::size_t i) {
      ++visits[i];
      last.count();
    });
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST_P(late_shares, LOOPS_5_who_comes_while_its_share_is_run_waits_for_it) {
  if (members() == 1) GTEST_SKIP() << "nobody is late";
  team workers(members(), policy());
  manual_reset_event is_taken, has_come;
  std::atomic<bool> was_taken{false};
  std::vector<int> visits(members(), 0);
  std::atomic<int> wrong{0};
  workers.run([&](member& me) {
    const std::size_t late = me.size() - 1;
    if (me.rank() == late) {
      is_taken.wait();
      has_come.notify();
    }
    me.for_each(0, me.size(), [&](std::size_t i) {
      if (i == late) {
        was_taken = me.rank() != late;
        is_taken.notify();
        has_come.wait();
      }
      visits[i] = 1;
    });
    for (const int each : visits) wrong += each != 1;
  });
  EXPECT_TRUE(was_taken.load());
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(late_shares, LOOPS_7_an_exception_in_a_share_that_was_taken_ends_the_region) {
  if (members() == 1) GTEST_SKIP() << "nobody is late";
  team workers(members(), policy());
  manual_reset_event is_over;
  std::atomic<int> wrong{0};
  const auto late_share_throws = [&](member& me) {
    if (me.rank() + 1 == me.size()) is_over.wait();
    me.for_each(0, me.size(), [&](std::size_t i) {
      if (i + 1 < me.size()) return;
      is_over.notify();
      throw std::runtime_error("in a share");
    });
    ++wrong;
  };
  EXPECT_THROW(workers.run(late_share_throws), std::runtime_error);
  EXPECT_EQ(wrong.load(), 0);
  std::vector<int> visits(members(), 0);
  EXPECT_TRUE(workers.run(
      [&](member& me) { me.for_each(0, visits.size(), [&](std::size_t i) { ++visits[i]; }); }));
  EXPECT_EQ(visits, std::vector<int>(members(), 1));
}

}  // namespace
