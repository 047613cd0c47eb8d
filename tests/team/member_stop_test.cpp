// SPDX-License-Identifier: MIT
// tests/team/member_stop_test.cpp -- exceptions and stops in every construct (MEMBER-3, GROUP-1)
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <lockstep/team.hpp>

#include "region/loop_board.hpp"
#include "support/every_construct.hpp"
#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::nowait;
using lockstep::ordered_turn;
using lockstep::region_stopped;
using lockstep::team;
using lockstep::test::use_everything;

/// A phase with values, tickets, and turns: what a stop may leave in disorder.
int use_boards(member& self, std::atomic<int>& visits) {
  int wrong = self.sync_sum(std::size_t{1}) != self.size();
  wrong += !self.for_each(0, 9, [&](std::size_t) { ++visits; }, lockstep::dynamic_schedule());
  wrong +=
      !self.for_ordered(0, 3, [&](std::size_t, ordered_turn& turn) { turn([&] { ++visits; }); });
  return wrong;
}

class member_stop : public lockstep::test::each_team {
 protected:
  /// After what has happened, a region works as one of a new team.
  void expect_usable(team& workers) const {
    std::atomic<int> wrong{0}, visits{0};
    const int rounds = is_slow() ? 1 : 3;
    EXPECT_TRUE(workers.run([&](member& self) {
      for (int round = 0; round < rounds; ++round) wrong += use_boards(self, visits);
    }));
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(visits.load(), rounds * 12);
  }
  void expect_usable_in_all(team& workers) const {
    std::vector<int> visits(is_slow() ? 4 : 50, 0);
    std::atomic<int> wrong{0};
    EXPECT_TRUE(workers.run([&](member& self) { wrong += use_everything(self, visits); }));
    EXPECT_EQ(wrong.load(), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(teams, member_stop, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

/// A construct in which members wait for rank 0, which does not come; each ends by a stop.
struct waiting_place {
  const char* name;
  /// Returns true if the construct said that the region is stopped.
  std::function<bool(member&)> wait;
};

std::vector<waiting_place> waiting_places() {
  const auto throws = [](auto call) {
    return [call](member& self) {
      try {
        call(self);
      } catch (const region_stopped&) {
        return true;
      }
      return false;
    };
  };
  const auto add = std::plus<double>();
  const auto one = [](std::size_t) { return 1.0; };
  return {
      {"sync_threads", throws([](member& self) { self.sync_threads(); })},
      {"sync_threads_unless_stopped",
       [](member& self) { return !self.sync_threads_unless_stopped(); }},
      {"single", throws([](member& self) { self.single([] {}); })},
      {"single_unless_stopped", [](member& self) { return !self.single_unless_stopped([] {}); }},
      {"for_each", throws([](member& self) { self.for_each(0, 9, [](std::size_t) {}); })},
      {"for_each_unless_stopped",
       [](member& self) { return !self.for_each_unless_stopped(0, 9, [](std::size_t) {}); }},
      {"for_each dynamic", throws([](member& self) {
         self.for_each(0, 9, [](std::size_t) {}, lockstep::dynamic_schedule());
       })},
      {"for_each_unless_stopped dynamic",
       [](member& self) {
         return !self.for_each_unless_stopped(
             0, 9, [](std::size_t) {}, lockstep::dynamic_schedule());
       }},
      {"for_each nowait, the ring is full", throws([](member& self) {
         while (true) {
           self.for_each(nowait, 0, 9, [](std::size_t) {}, lockstep::dynamic_schedule());
         }
       })},
      {"for_each_unless_stopped nowait, the ring is full",
       [](member& self) {
         const std::uint32_t places = lockstep::detail::loop_board::usual_slots;
         bool going = true;
         for (std::uint32_t i = 0; i <= places && going; ++i) {
           going = self.for_each_unless_stopped(
               nowait, 0, 9, [](std::size_t) {}, lockstep::dynamic_schedule());
         }
         return !going;
       }},
      {"for_range again and again", throws([](member& self) {
         while (true) self.for_range(lockstep::nowait, 0, 9, [](std::size_t, std::size_t) {});
       })},
      {"single nowait, the ring is full", throws([](member& self) {
         while (true) self.single(nowait, [] {});
       })},
      {"single_unless_stopped nowait, the ring is full",
       [](member& self) {
         while (self.single_unless_stopped(nowait, [] {})) continue;
         return true;
       }},
      {"sections", throws([](member& self) { self.sections([] {}, [] {}); })},
      {"sections_unless_stopped",
       [](member& self) { return !self.sections_unless_stopped([] {}, [] {}); }},
      {"for_ordered", throws([](member& self) {
         self.for_ordered(0, 100, [](std::size_t, ordered_turn& turn) { turn([] {}); });
       })},
      {"for_ordered_unless_stopped",
       [](member& self) {
         return !self.for_ordered_unless_stopped(
             0, 100, [](std::size_t, ordered_turn& turn) { turn([] {}); });
       }},
      {"await_step", throws([](member& self) { self.await_step(0, 1); })},
      {"await_step_unless_stopped",
       [](member& self) { return !self.await_step_unless_stopped(0, 1); }},
      {"sync_sum", throws([](member& self) { self.sync_sum(1); })},
      {"sync_sum of strings", throws([](member& self) { self.sync_sum(std::string(99, 'a')); })},
      {"broadcast", throws([](member& self) { self.broadcast(0, 1); })},
      {"reduce_each", throws([=](member& self) { self.reduce_each(0, 99, 0.0, one, add); })},
      {"reduce_each dynamic", throws([=](member& self) {
         self.reduce_each(0, 99, 0.0, one, add, lockstep::dynamic_schedule());
       })},
      {"scan_each", throws([=](member& self) {
         self.scan_each(0, 99, 0.0, one, add, [](std::size_t, double) {});
       })},
      {"split", throws([](member& self) { self.split(0); })},
      {"first", throws([](member& self) { self.first(1); })},
  };
}

TEST_P(member_stop, MEMBER_3_whoever_waits_is_let_go_by_an_exception_and_the_team_stays_usable) {
  if (members() == 1) GTEST_SKIP() << "nobody waits";
  team workers(members(), policy());
  int turn = 0;
  for (const waiting_place& place : waiting_places()) {
    SCOPED_TRACE(place.name);
    if (is_slow() && ++turn % 8 != 0) continue;
    std::atomic<std::size_t> told{0};
    EXPECT_THROW(workers.run([&](member& self) {
      if (self.rank() == 0) throw std::logic_error("rank 0 does not come");
      told += place.wait(self);
    }),
                 std::logic_error);
    EXPECT_EQ(told.load(), members() - 1);
    expect_usable(workers);
  }
}

TEST_P(member_stop, MEMBER_3_whoever_waits_is_let_go_by_request_stop_and_run_says_so) {
  if (members() == 1) GTEST_SKIP() << "nobody waits";
  team workers(members(), policy());
  for (const bool from_outside : {false, true}) {
    int turn = 0;
    for (const waiting_place& place : waiting_places()) {
      SCOPED_TRACE(place.name);
      if (is_slow() && (++turn % 8 != 1 || from_outside)) continue;
      std::atomic<bool> is_inside{false};
      std::thread outside([&] {
        while (from_outside && !is_inside) std::this_thread::yield();
        if (from_outside) workers.request_stop();
      });
      std::atomic<std::size_t> told{0};
      EXPECT_FALSE(workers.run([&](member& self) {
        if (self.rank() != 0) {
          told += place.wait(self);
          return;
        }
        is_inside = true;
        lockstep::test::dawdle(0, static_cast<std::size_t>(turn));
        if (!from_outside) self.request_stop();
        while (!self.stop_requested()) std::this_thread::yield();
      }));
      outside.join();
      EXPECT_EQ(told.load(), members() - 1);
      expect_usable(workers);
    }
  }
}

TEST_P(member_stop, MEMBER_3_members_that_do_not_look_at_the_answer_do_no_harm) {
  // They overtake the member that still combines the values of an earlier phase. That member stops the region
  // meanwhile, and takes its time.
  team workers(members(), policy());
  for (int region = 0; region < times(60); ++region) {
    std::atomic<int> wrong{0};
    EXPECT_EQ(workers.run([&](member& self) {
      for (int step = 0; step < (is_slow() ? 4 : 12); ++step) {
        const auto join = [&](const std::string& a, const std::string& b) {
          if (step == 1) self.request_stop();
          for (int k = 0; step == 1 && k < (is_slow() ? 1 : 20); ++k) std::this_thread::yield();
          return a + b;
        };
        const char letter = static_cast<char>('a' + step);
        static_cast<void>(self.sync_threads_unless_stopped());
        try {
          wrong += self.sync_reduce(std::string(20, letter), join) !=
                   std::string(20 * self.size(), letter);
        } catch (const region_stopped&) {
          wrong += !self.stop_requested();
        }
      }
    }),
              members() == 1);
    ASSERT_EQ(wrong.load(), 0) << region;
    if (region % 16 == 0) expect_usable(workers);
  }
}

TEST_P(member_stop, a_stop_between_regions_does_nothing_to_the_next_one) {
  team workers(members(), policy());
  for (int region = 0; region < times(50); ++region) {
    workers.request_stop();
    EXPECT_TRUE(workers.run([](member& self) { EXPECT_TRUE(self.sync_threads()); }));
  }
}

TEST_P(member_stop, an_exception_in_the_body_of_each_construct_reaches_run) {
  team workers(members(), policy());
  struct failure {};
  const auto fail_at = [](std::size_t i) {
    if (i == 7) throw failure();
  };
  const std::vector<std::function<void(member&)>> bodies = {
      [&](member& self) { self.for_each(0, 20, fail_at); },
      [&](member& self) { self.for_each(0, 20, fail_at, lockstep::dynamic_schedule()); },
      [&](member& self) { self.for_each(0, 20, fail_at, lockstep::guided_schedule()); },
      [&](member& self) { self.single([&] { fail_at(7); }); },
      [&](member& self) { self.single(nowait, [&] { fail_at(7); }); },
      [&](member& self) { self.sections([] {}, [&] { fail_at(7); }); },
      [&](member& self) {
        self.for_ordered(0, 20,
                         [&](std::size_t i, ordered_turn& turn) { turn([&] { fail_at(i); }); });
      },
      [&](member& self) {
        self.sync_reduce(1, [&](int a, int b) { return fail_at(7), a + b; });
        fail_at(7);  // one member alone calls no operation
      },
  };
  for (const auto& body : bodies) {
    EXPECT_THROW(workers.run([&](member& self) {
      body(self);
      self.sync_threads();
    }),
                 failure);
    if (!is_slow()) expect_usable(workers);
  }
  expect_usable_in_all(workers);
}

}  // namespace
