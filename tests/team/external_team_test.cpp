// SPDX-License-Identifier: MIT
// tests/team/external_team_test.cpp -- a team over threads of the user's: serve, release, regions, errors
//
// Child processes are in tests/fork/team_test.cpp.
#include <lockstep/external_team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/asleep.hpp"
#include "support/message_of.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::external_team;
using lockstep::member;
using lockstep::test::message_of;
using lockstep::test::watched_thread;

/// The user's threads.
class servers {
 public:
  explicit servers(external_team& team) {
    for (std::size_t rank = 1; rank < team.size(); ++rank) {
      threads_.emplace_back([&team, rank] { team.serve(rank); });
    }
  }
  ~servers() { join(); }
  void join() {
    for (std::thread& each : threads_) each.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

void expect_usable(external_team& team) {
  std::vector<int> calls(team.size());
  EXPECT_TRUE(team.run([&](member& me) {
    EXPECT_EQ(me.sync_sum(std::size_t{1}), team.size());
    ++calls[me.rank()];
  }));
  EXPECT_EQ(calls, std::vector<int>(team.size(), 1));
}

using parameters = std::tuple<lockstep::test::named_policy, std::size_t>;

class external_team_of : public testing::TestWithParam<parameters> {
 protected:
  lockstep::wait_policy policy() const { return std::get<0>(GetParam()).policy; }
  std::size_t members() const { return std::get<1>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(sizes, external_team_of,
                         testing::Combine(testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                                          testing::Values<std::size_t>(1, 2, 3, 9, 17)));

TEST_P(external_team_of, run_calls_each_rank_once_on_the_thread_that_serves_it) {
  external_team team(members(), policy());
  EXPECT_EQ(team.size(), members());
  std::vector<std::thread::id> expected(members()), found(members());
  expected[0] = std::this_thread::get_id();
  std::vector<std::thread> threads;
  for (std::size_t rank = 1; rank < members(); ++rank) {
    threads.emplace_back([&, rank] {
      expected[rank] = std::this_thread::get_id();  // plain: serve() happens before its regions
      team.serve(rank);
    });
  }
  std::vector<int> calls(members());
  for (int region = 1; region <= 50; ++region) {
    EXPECT_TRUE(team.run([&](member& me) {
      EXPECT_EQ(me.size(), members());
      found[me.rank()] = std::this_thread::get_id();
      ++calls[me.rank()];
      EXPECT_TRUE(me.sync_threads());
    }));
    ASSERT_EQ(calls, std::vector<int>(members(), region));
    ASSERT_EQ(found, expected);
  }
  team.release();
  for (std::thread& each : threads) each.join();
}

TEST_P(external_team_of, a_region_waits_for_threads_that_come_late) {
  external_team team(members(), policy());
  watched_thread caller;
  std::vector<int> calls(members());
  bool all_have_come = false;  // plain: serve() happens before the region's part
  std::thread other([&] {
    caller.enter();
    EXPECT_TRUE(team.run([&](member& me) {
      ++calls[me.rank()];
      EXPECT_TRUE(me.sync_threads());
      EXPECT_TRUE(me.size() == 1 || all_have_come);
    }));
  });
  if (members() > 1) caller.wait_until_asleep();  // its region waits
  all_have_come = true;
  servers threads(team);
  other.join();
  EXPECT_EQ(calls, std::vector<int>(members(), 1));
  expect_usable(team);
  team.release();
}

TEST_P(external_team_of, release_lets_go_threads_that_wait_for_a_region) {
  external_team team(members(), policy());
  std::vector<watched_thread> watched(members());
  std::vector<std::thread> threads;
  for (std::size_t rank = 1; rank < members(); ++rank) {
    threads.emplace_back([&, rank] {
      watched[rank].enter();
      team.serve(rank);
    });
  }
  for (std::size_t rank = 1; rank < members(); ++rank) watched[rank].wait_until_asleep();
  team.release();
  team.release();  // nothing is left to be done
  for (std::thread& each : threads) each.join();
}

TEST_P(external_team_of, its_end_waits_for_the_threads_that_serve) {
  for (int i = 0; i < 20; ++i) {
    auto team = std::make_unique<external_team>(members(), policy());
    std::vector<std::thread> threads;
    std::atomic<std::size_t> serving{0};
    for (std::size_t rank = 1; rank < members(); ++rank) {
      threads.emplace_back([&, rank, raw = team.get()] {
        if (rank % 2 == 0) ++serving;
        raw->serve(rank);
        if (rank % 2 != 0) ++serving;
      });
    }
    expect_usable(*team);  // all serve
    team.reset();          // without release(): a use after the end otherwise
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(serving.load(), members() - 1);
  }
}

TEST_P(external_team_of,
       TEAM_3_the_exception_of_the_lowest_rank_comes_out_and_the_team_stays_usable) {
  external_team team(members(), policy());
  servers threads(team);
  for (std::size_t lowest = 0; lowest < members(); ++lowest) {
    EXPECT_EQ(message_of<std::runtime_error>([&] {
                team.run([&](member& me) {
                  if (me.rank() >= lowest) {
                    throw std::runtime_error("rank " + std::to_string(me.rank()));
                  }
                  while (me.sync_threads_unless_stopped()) {
                  }
                });
              }),
              "rank " + std::to_string(lowest));
    expect_usable(team);
  }
  team.release();
}

TEST_P(external_team_of, run_on_k_members_calls_the_first_k) {
  external_team team(members(), policy());
  servers threads(team);
  std::vector<int> calls(members()), expected(members());
  for (std::size_t region = 0; region < 40; ++region) {
    const std::size_t k = 1 + region * 3 % members();
    EXPECT_TRUE(team.run(k, [&](member& me) {
      EXPECT_EQ(me.size(), k);
      ++calls[me.rank()];
      EXPECT_TRUE(me.sync_threads());
    }));
    for (std::size_t rank = 0; rank < k; ++rank) ++expected[rank];
    ASSERT_EQ(calls, expected);
  }
  team.release();
}

TEST_P(external_team_of, TEAM_1_callers_are_served_one_after_the_other_each_as_member_0) {
  external_team team(members(), policy());
  servers threads(team);
  long sum = 0;  // plain: one region at a time
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      const std::thread::id own = std::this_thread::get_id();
      for (int i = 0; i < 50; ++i) {
        team.run([&](member& me) {
          if (me.rank() != 0) return;
          EXPECT_EQ(std::this_thread::get_id(), own);
          ++sum;
        });
      }
    });
  }
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(sum, 150);
  team.release();
}

TEST_P(external_team_of, request_stop_ends_the_region_that_runs) {
  external_team team(members(), policy());
  servers threads(team);
  for (int region = 0; region < 10; ++region) {
    std::atomic<bool> runs{false};
    std::thread other([&] {
      while (!runs) std::this_thread::yield();
      team.request_stop();
    });
    EXPECT_FALSE(team.run([&](member& me) {
      runs = true;
      while (me.sync_threads_unless_stopped()) {
      }
    }));
    other.join();
    expect_usable(team);
  }
  team.release();
}

TEST(external_team, a_wrong_rank_is_refused_by_name) {
  external_team team(3);
  const std::string out_of_range = message_of<std::out_of_range>([&] { team.serve(3); });
  EXPECT_NE(out_of_range.find("lockstep::external_team::serve: rank 3 of 3"), std::string::npos)
      << out_of_range;
  const std::string of_the_caller = message_of<std::invalid_argument>([&] { team.serve(0); });
  EXPECT_NE(of_the_caller.find("lockstep::external_team::serve: rank 0 is the caller of run()"),
            std::string::npos)
      << of_the_caller;
  servers threads(team);
  expect_usable(team);
  const std::string taken = message_of<std::invalid_argument>([&] { team.serve(2); });
  EXPECT_NE(taken.find("lockstep::external_team::serve:"), std::string::npos) << taken;
  EXPECT_NE(taken.find("give every thread a rank of its own"), std::string::npos) << taken;
  expect_usable(team);
  team.release();
}

TEST(external_team, of_two_threads_that_want_one_rank_one_is_refused) {
  for (int i = 0; i < 50; ++i) {
    external_team team(2);
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < 2; ++k) {
      threads.emplace_back([&] {
        try {
          team.serve(1);
        } catch (const std::invalid_argument&) {
          ++refused;
        }
      });
    }
    while (refused == 0) std::this_thread::yield();
    expect_usable(team);
    team.release();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(refused.load(), 1);
  }
}

TEST(external_team, bad_counts_are_refused_by_name) {
  EXPECT_NE(message_of<std::invalid_argument>([] {
              external_team none(0);
            }).find("lockstep::external_team: 0 members given"),
            std::string::npos);
  EXPECT_THROW(external_team(65537), std::invalid_argument);
  external_team team(3);
  servers threads(team);
  for (const std::size_t k : {0u, 4u}) {
    const std::string text =
        message_of<std::invalid_argument>([&] { team.run(k, [](member&) {}); });
    EXPECT_NE(text.find("lockstep::external_team::run"), std::string::npos) << text;
    EXPECT_NE(text.find("must be 1 to 3"), std::string::npos) << text;
  }
  expect_usable(team);
  team.release();
}

TEST(external_team, a_region_of_several_after_release_is_refused_by_name) {
  external_team team(2);
  {
    servers threads(team);
    expect_usable(team);
    team.release();
  }
  const std::string text = message_of<std::logic_error>([&] { team.run([](member&) {}); });
  EXPECT_NE(text.find("lockstep::external_team::run: release() was called"), std::string::npos)
      << text;
  EXPECT_TRUE(team.run(1, [](member&) {}));
}

TEST(external_team, that_nobody_has_served_ends_at_once) {
  for (int i = 0; i < 20; ++i) external_team(5);
}

}  // namespace
