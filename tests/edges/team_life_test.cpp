// SPDX-License-Identifier: MIT
// tests/edges/team_life_test.cpp -- regions that are open while something else happens: exceptions, stops, handles
// that move, threads that a member starts
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using lockstep::external_team;
using lockstep::inside_region;
using lockstep::member;
using lockstep::region_token;
using lockstep::started_region;
using lockstep::team;
using lockstep::this_region;

/// Expects that a region calls every member once, and that its members can meet.
void expect_usable(team& workers) {
  std::vector<int> calls(workers.size());
  EXPECT_TRUE(workers.run([&](member& me) {
    EXPECT_TRUE(me.sync_threads());
    ++calls[me.rank()];
  }));
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 1));
}

/// The same from another thread: it hangs if a turn was never ended.
void expect_usable_elsewhere(team& workers) {
  std::thread([&] { expect_usable(workers); }).join();
}

TEST(started_region, START_2_a_handle_that_goes_joins_its_region) {
  for (const std::size_t members : {1u, 2u, 3u, 9u}) {
    team workers(members);
    std::vector<int> calls(members);
    for (int region = 1; region <= 20; ++region) {
      {
        const started_region open = workers.start([&calls](member& me) {
          ++calls[me.rank()];
          me.sync_threads();
        });
        EXPECT_TRUE(open);
      }
      ASSERT_EQ(calls, std::vector<int>(members, region));
    }
    expect_usable_elsewhere(workers);
  }
}

TEST(started_region, START_2_an_exception_after_start_stops_the_region_and_the_team_stays_usable) {
  for (const std::size_t members : {1u, 2u, 3u, 9u}) {
    team workers(members);
    for (int region = 0; region < 20; ++region) {
      std::atomic<std::size_t> ended{0};
      bool callers_part = false;
      const auto f = [&](member& me) {
        if (me.rank() == 0) callers_part = true;
        while (me.sync_threads_unless_stopped()) {
        }
        ++ended;
      };
      std::string text;
      try {
        const started_region open = workers.start(f);
        throw std::runtime_error("between");
      } catch (const std::runtime_error& error) {
        text = error.what();
      }
      EXPECT_EQ(text, "between");
      EXPECT_EQ(ended.load(), members - 1) << "the others have been awaited";
      EXPECT_FALSE(callers_part);
      expect_usable(workers);
    }
    expect_usable_elsewhere(workers);
  }
}

TEST(started_region, START_2_a_handle_that_goes_drops_what_the_members_threw_and_join_reports_it) {
  static_assert(std::is_nothrow_destructible<started_region>::value, "as a std::future");
  static_assert(std::is_nothrow_move_assignable<started_region>::value, "as a std::future");
  team workers(3);
  for (const std::size_t thrower : {0u, 2u}) {
    const auto f = [thrower](member& me) {
      if (me.rank() == thrower) throw std::runtime_error("rank " + std::to_string(thrower));
      while (me.sync_threads()) {
      }
    };
    {
      const started_region open = workers.start(f);
    }
    expect_usable(workers);
    {
      started_region open = workers.start(f);
      open = started_region();
      EXPECT_FALSE(open);
    }
    expect_usable(workers);
    started_region open = workers.start(f);
    std::string text;
    try {
      open.join();
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "rank " + std::to_string(thrower));
    EXPECT_FALSE(open);
    EXPECT_THROW(open.join(), std::logic_error);
    expect_usable_elsewhere(workers);
  }
}

/// Starts and joins a region in its destructor.
struct runs_at_its_end {
  team& workers;
  int& complete;
  ~runs_at_its_end() {
    std::atomic<std::size_t> calls{0};
    const auto f = [&calls](member& me) {
      me.sync_threads();
      ++calls;
    };
    {
      const started_region open = workers.start(f);
    }
    complete += calls == workers.size() ? 1 : 0;
  }
};

TEST(started_region, START_2_a_region_of_a_destructor_that_an_exception_calls_is_run_to_its_end) {
  team workers(3);
  int complete = 0;
  for (int round = 1; round <= 10; ++round) {
    try {
      const runs_at_its_end last{workers, complete};
      throw std::runtime_error("the stack is unwound");
    } catch (const std::runtime_error&) {
    }
    ASSERT_EQ(complete, round);
  }
}

TEST(started_region, a_handle_may_move_and_joins_what_it_had_when_it_is_given_another) {
  team workers(2), others(3);
  std::vector<int> calls(workers.size());
  const auto f = [&calls](member& me) { ++calls[me.rank()]; };
  started_region open = workers.start(f);
  started_region moved = std::move(open);
  EXPECT_FALSE(open);
  EXPECT_TRUE(moved);
  EXPECT_THROW(open.join(), std::logic_error);
  started_region& same = moved;
  moved = std::move(same);
  EXPECT_TRUE(moved);
  moved = started_region();
  EXPECT_FALSE(moved);
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 1));
  const auto make = [&] { return workers.start(f); };
  std::unique_ptr<started_region> kept(new started_region(make()));
  EXPECT_TRUE(kept->join());
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 2));
  open = others.start([](member&) {});
  EXPECT_TRUE(open.join());
  static_cast<void>(workers.start(f));  // dropped: joined at once
  EXPECT_EQ(calls, std::vector<int>(workers.size(), 3));
  expect_usable_elsewhere(workers);
}

TEST(started_region, START_2_two_teams_whose_regions_are_open_are_both_left_by_the_exception) {
  team first(2), second(3);
  const auto throws = [](member& me) {  // dropped for the one that unwinds
    throw std::invalid_argument("rank " + std::to_string(me.rank()));
  };
  const auto waits = [](member& me) {
    while (me.sync_threads()) {
    }
  };
  for (int region = 0; region < 40; ++region) {
    EXPECT_THROW(
        {
          const started_region a = region % 2 == 0 ? first.start(throws) : first.start(waits);
          const started_region b = second.start(waits);
          if (region % 4 < 2) second.request_stop();
          throw std::runtime_error("between");
        },
        std::runtime_error);
    expect_usable(first);
    expect_usable_elsewhere(second);
  }
}

TEST(started_region, a_handle_that_belongs_to_a_thread_is_joined_when_the_thread_ends) {
  static team workers(3);
  static std::atomic<int> calls{0};
  std::thread([] {
    static thread_local started_region open;
    open = workers.start([](member& me) {
      me.sync_threads();
      ++calls;
    });
  }).join();
  EXPECT_EQ(calls.load(), 3);
  expect_usable(workers);
}

TEST(inside_region, GUEST_1_a_thread_that_a_member_waits_for_may_use_the_team) {
  team workers(3);
  for (int region = 0; region < 20; ++region) {
    std::atomic<int> inner{0};
    EXPECT_TRUE(workers.run([&](member& me) {
      const region_token here = this_region();
      auto helper = std::async(std::launch::async, [&workers, &inner, here] {
        const inside_region guest(here);
        EXPECT_TRUE(workers.run([&](member& alone) {
          EXPECT_EQ(alone.size(), 1u);
          ++inner;
        }));
        EXPECT_EQ(
            workers.reduce_each(
                0, 100, std::size_t{0}, [](std::size_t i) { return i; }, std::plus<std::size_t>()),
            4950u);
        EXPECT_THROW(workers.pause(), std::logic_error);
      });
      helper.get();
      EXPECT_TRUE(me.sync_threads());
    }));
    EXPECT_EQ(inner.load(), 3);
  }
  expect_usable_elsewhere(workers);
}

TEST(inside_region, GUEST_1_holds_between_start_and_join_and_in_an_external_team) {
  team workers(2);
  const auto as_guest = [](auto& of, region_token here) {
    std::thread([&] {
      const inside_region guest(here);
      EXPECT_TRUE(of.run([](member& alone) { EXPECT_EQ(alone.size(), 1u); }));
    }).join();
  };
  started_region open = workers.start([](member& me) { me.sync_threads(); });
  as_guest(workers, this_region());
  EXPECT_TRUE(open.join());

  external_team lent(2);
  std::thread server([&] { lent.serve(1); });
  EXPECT_TRUE(lent.run([&](member& me) {
    as_guest(lent, this_region());
    me.sync_threads();
  }));
  lent.release();
  server.join();
}

TEST(inside_region, GUEST_1_a_guest_is_inside_all_regions_around_and_stays_in_its_own) {
  team outer(2), middle(2), own(2);
  std::atomic<int> inline_runs{0};
  const auto is_inline = [&](team& of) {
    of.run([&](member& me) { inline_runs += me.size() == 1; });
  };
  outer.run([&](member& out) {
    if (out.rank() != 1) return;
    middle.run([&](member& mid) {
      if (mid.rank() != 1) return;
      const region_token here = this_region();
      std::thread([&, here] {
        own.run([&](member& me) {  // this thread is in a region of its own already
          if (me.rank() != 0) return;
          {
            const inside_region guest(here);
            is_inline(outer), is_inline(middle), is_inline(own);
            const inside_region again(here);
            is_inline(outer), is_inline(middle), is_inline(own);
            const region_token both = this_region();
            std::thread([&, both] {
              const inside_region second_hand(both);
              is_inline(outer), is_inline(middle), is_inline(own);
            }).join();
          }
          is_inline(own);
        });
      }).join();
    });
  });
  EXPECT_EQ(inline_runs.load(), 10);
  expect_usable_elsewhere(outer);
  expect_usable_elsewhere(middle);
  expect_usable_elsewhere(own);
}

TEST(inside_region, a_guest_is_a_stranger_again_afterwards_and_no_token_changes_nothing) {
  team workers(2);
  std::promise<region_token> given;
  std::promise<void> used;
  std::thread other([&] {
    {
      const inside_region guest(given.get_future().get());
      EXPECT_TRUE(workers.run([](member& me) { EXPECT_EQ(me.size(), 1u); }));
    }
    used.set_value();
    expect_usable(workers);  // has waited for its turn
  });
  workers.run([&](member& me) {
    if (me.rank() != 0) return;
    given.set_value(this_region());
    used.get_future().get();
  });
  other.join();
  const inside_region none{region_token()};
  const inside_region outside(this_region());
  expect_usable(workers);
}

TEST(external_team_edges, serve_after_release_returns_at_once_whoever_had_the_rank) {
  external_team lent(3);
  std::vector<std::thread> servers;
  std::atomic<int> returns{0};
  for (const std::size_t rank : {1u, 2u}) {
    servers.emplace_back([&, rank] {
      for (int i = 0; i < 3; ++i) {
        lent.serve(rank);
        ++returns;
      }
    });
  }
  EXPECT_TRUE(lent.run([](member& me) { me.sync_threads(); }));
  lent.release();
  for (std::thread& each : servers) each.join();
  EXPECT_EQ(returns.load(), 6);
  EXPECT_THROW(lent.serve(0), std::invalid_argument);
  EXPECT_THROW(lent.serve(3), std::out_of_range);
  EXPECT_THROW(lent.run([](member&) {}), std::logic_error);
  EXPECT_TRUE(lent.run(1, [](member&) {}));

  external_team never_served(2);
  never_served.release();
  never_served.serve(1);
  never_served.serve(1);
}

TEST(team_edges, a_team_of_a_thread_and_one_that_another_thread_ends) {
  std::thread([] {
    static thread_local team own(3);
    expect_usable(own);
  }).join();
  auto workers = std::make_unique<team>(3);
  expect_usable(*workers);
  std::thread([&] {
    expect_usable(*workers);
    workers.reset();
  }).join();
  EXPECT_EQ(workers, nullptr);
}

}  // namespace
