// SPDX-License-Identifier: MIT
// tests/trace/ledger_test.cpp -- the ledger of a team: which member came last, the counts, switching it while regions
// run
//
// No test asserts on a time but one, which compares two of one run. Who comes last is staged: the others have arrived when it begins to work.
#include <lockstep/external_team.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/ledger.hpp>
#include <lockstep/plan.hpp>
#include <lockstep/sub_team.hpp>
#include <lockstep/team.hpp>
#include <lockstep/trace.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "observe/hooks.hpp"
#include "support/small_files.hpp"

namespace {

using lockstep::call_site;
using lockstep::ledger;
using lockstep::member;
using lockstep::team;
using lockstep::team_options;

team_options kept(std::size_t members) { return team_options().members(members).ledger(true); }

/// The only construct of that kind.
const ledger::construct& find(const ledger& in, const std::string& kind) {
  const ledger::construct* found = nullptr;
  for (const ledger::construct& each : in.constructs) {
    if (each.kind != kind) continue;
    EXPECT_EQ(found, nullptr) << "twice: " << kind;
    found = &each;
  }
  static const ledger::construct none;
  EXPECT_NE(found, nullptr) << in.table();
  return found != nullptr ? *found : none;
}
std::uint64_t sum(const std::vector<std::uint64_t>& of) {
  return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
}

/// A member is held back in so many rounds: in at least how many it comes last. Others may lose their CPU between their
/// look and their arrival, often so with LOCKSTEP_DELAY.
std::uint64_t most_of(std::uint64_t rounds) {
  const bool has_delays = lockstep::detail::is_observed_by(lockstep::detail::observer::delays);
  return has_delays ? rounds / 3 : rounds - rounds / 10;
}

/// Holds one member back until all others have come to the same place. They arrive afterwards, without doing anything:
/// so it comes well behind them, if it has counted to a number.
struct held_back {
  std::atomic<std::size_t> come{0}, counted{0};

  void hold(member& me, std::size_t late, std::size_t round) {
    if (me.rank() != late) {
      come.fetch_add(1);
      return;
    }
    while (come.load() < (round + 1) * (me.size() - 1)) std::this_thread::yield();
    for (std::size_t i = 0; i < 100000; ++i) counted.store(i, std::memory_order_relaxed);
  }
};

TEST(ledger, is_empty_where_none_is_kept) {
  team two(2);
  two.run([](member& me) { me.sync_threads(); });
  const ledger result = two.ledger();
  EXPECT_TRUE(result.constructs.empty());
  EXPECT_EQ(result.members, 2u);
  EXPECT_EQ(result.team, "lockstep");
}

TEST(ledger, counts_each_construct_on_each_member) {
  constexpr std::size_t members = 3;
  team three(kept(members).name("counting"));
  for (int region = 0; region < 5; ++region) {
    three.run([](member& me) {
      for (int i = 0; i < 200; ++i) me.sync_threads();
      for (int i = 0; i < 7; ++i) (void)me.sync_sum(1);
      me.for_each(0, 10, [](int) {});
    });
  }
  const ledger result = three.ledger();
  EXPECT_EQ(result.team, "counting");
  EXPECT_EQ(find(result, "run").count, 5u);
  EXPECT_EQ(find(result, "sync_threads").count, 1000u);
  EXPECT_EQ(find(result, "sync_sum").count, 35u);
  EXPECT_EQ(find(result, "for_each").count, 5u);
  for (const ledger::waits& each : find(result, "sync_threads").members)
    EXPECT_EQ(each.count, 1000u);
  EXPECT_NE(find(result, "sync_threads").file.find("ledger_test.cpp"), std::string::npos);
  EXPECT_NE(find(result, "run").file.find("ledger_test.cpp"), std::string::npos);
}

TEST(ledger, names_the_member_that_is_always_last) {
  for (std::size_t late = 0; late < 3; ++late) {
    team three(kept(3));
    held_back others;
    three.run([&](member& me) {
      me.sync_threads(call_site{"before.cpp", 1});
      for (std::size_t round = 0; round < 20; ++round) {
        others.hold(me, late, round);
        me.sync_threads(call_site{"late.cpp", 2});
      }
    });
    const ledger result = three.ledger();
    for (const ledger::construct& each : result.constructs) {
      if (each.file != "late.cpp") continue;
      EXPECT_EQ(each.count, 20u);
      EXPECT_EQ(each.seen, 20u);
      EXPECT_EQ(sum(each.last), 20u);
      EXPECT_GE(each.last[late], most_of(20)) << result.table();
      EXPECT_GT(each.gain, 0);
      EXPECT_GT(each.busy[1], 0);
    }
  }
}

TEST(ledger, knows_who_ends_a_region_last) {
  team two(kept(2));
  held_back others;
  for (std::size_t round = 0; round < 10; ++round)
    two.run([&](member& me) { others.hold(me, 1, round); });
  const ledger::construct run = find(two.ledger(), "run");
  EXPECT_EQ(run.seen, 10u);
  EXPECT_GE(run.last[1], most_of(10));
  EXPECT_GT(run.time, 0);
  EXPECT_GT(run.members[0].total, 0);
}

TEST(ledger, counts_loops_by_the_members_they_ran_on) {
  team two(kept(2).learn(false));
  std::vector<int> values(1000);
  for (int i = 0; i < 9; ++i) two.for_each(0, 1000, [&](int k) { ++values[std::size_t(k)]; });
  for (int i = 0; i < 4; ++i) two.for_each(0, 1, [&](int k) { ++values[std::size_t(k)]; });
  const ledger result = two.ledger();
  EXPECT_EQ(result.decided.loops_on.at(2), 9u);
  EXPECT_EQ(result.decided.loops_on.at(1), 4u);
  std::uint64_t loops = 0;
  for (const ledger::construct& each : result.constructs)
    loops += each.kind == "loop" ? each.count : 0;
  EXPECT_EQ(loops, 13u);
}

TEST(ledger, counts_loops_and_regions_that_members_call_and_run_alone) {
  team two(kept(2).learn(false));
  std::atomic<int> sum_of_all{0};
  two.run([&](member& me) {
    for (std::size_t i = 0; i <= me.rank(); ++i)
      two.for_each(0, 10, [&](int k) { sum_of_all += k; });
    two.run([&](member&) { sum_of_all += 1000; });
  });
  EXPECT_EQ(sum_of_all.load(), 3 * 45 + 2 * 1000);
  const ledger result = two.ledger();
  EXPECT_EQ(result.decided.inline_loops, 3u);
  EXPECT_EQ(result.decided.inline_runs, 2u);
  EXPECT_EQ(sum(result.decided.loops_on), 0u);
}

TEST(ledger, counts_regions_of_more_members_than_cpus) {
  const std::size_t many = std::thread::hardware_concurrency() + 1;
  team crowd(kept(many)), one(kept(1));
  for (int i = 0; i < 5; ++i) crowd.run([](member&) {});
  crowd.run(1, [](member&) {});
  one.run([](member&) {});
  EXPECT_EQ(crowd.ledger().decided.crowded, 5u);
  EXPECT_EQ(one.ledger().decided.crowded, 0u);
}

std::uint64_t count_in(const ledger& in, const std::string& kind, const std::string& label) {
  std::uint64_t count = 0;
  for (const ledger::construct& each : in.constructs)
    if (each.kind == kind && each.label == label) count += each.count;
  return count;
}

TEST(ledger, constructs_are_told_apart_by_the_users_region_around_them) {
  team two(kept(2));
  const auto step = [&](int times) {
    two.run([times](member& me) {
      for (int i = 0; i < times; ++i) me.sync_threads();
    });
  };
  {
    const std::string name = "assemble";  // no longer there when the ledger is read
    lockstep::trace_scope here(name.c_str());
    step(100);
    step(100);
  }
  {
    LOCKSTEP_TRACE_SCOPE("solve");
    step(7);
    {
      LOCKSTEP_TRACE_SCOPE("inner");
      step(3);
      two.for_each(0, 10, [](int) {});
    }
    step(5);
  }
  step(1);
  const ledger result = two.ledger();
  EXPECT_EQ(count_in(result, "sync_threads", "assemble"), 200u) << result.table();
  EXPECT_EQ(count_in(result, "run", "assemble"), 2u);
  EXPECT_EQ(count_in(result, "sync_threads", "solve"), 12u);
  EXPECT_EQ(count_in(result, "sync_threads", "inner"), 3u);
  EXPECT_EQ(count_in(result, "loop", "inner"), 1u);
  EXPECT_EQ(count_in(result, "sync_threads", ""), 1u);
  for (const ledger::construct& each : result.constructs) {
    if (each.kind != "sync_threads") continue;
    for (const ledger::waits& member : each.members) EXPECT_EQ(member.count, each.count);
  }
}

TEST(ledger, has_the_time_of_each_place_and_that_of_the_whole) {
  team two(kept(2).learn(false));
  for (int i = 0; i < 20; ++i) {
    two.run([](member& me) {
      for (std::size_t k = 0; k < 100; ++k) me.sync_threads();
    });
    two.for_each(0, 1000, [](std::size_t) {});
  }
  const ledger result = two.ledger();
  const ledger::construct &run = find(result, "run"), &loop = find(result, "loop"),
                          &meeting = find(result, "sync_threads");
  EXPECT_GT(run.time, 0);
  EXPECT_GT(loop.time, 0);
  EXPECT_GT(meeting.time, 0);
  EXPECT_LE(run.time + loop.time, result.time) << "regions come one after the other";
  double busy = 0;
  for (const double each : meeting.busy) busy += each;
  EXPECT_DOUBLE_EQ(meeting.time, busy);
  EXPECT_NE(result.table().find("of all"), std::string::npos);
  EXPECT_NE(result.table().find(", kept for "), std::string::npos);
  two.keep_ledger(false);
  const double then = two.ledger().time;
  EXPECT_GE(then, result.time);
  EXPECT_EQ(two.ledger().time, then) << "it is not kept now";
  two.keep_ledger(true);
  const auto begin = std::chrono::steady_clock::now();
  two.reset_ledger();
  two.keep_ledger(false);
  const std::chrono::duration<double, std::nano> since = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(two.ledger().time, since.count() + then / 2) << "all that was before is forgotten";
}

TEST(ledger, a_region_of_the_user_inside_of_a_part_goes_before_the_one_around) {
  team two(kept(2));
  LOCKSTEP_TRACE_SCOPE("outer");
  two.run([](member& me) {
    me.sync_threads();
    {
      LOCKSTEP_TRACE_SCOPE("part");
      me.sync_threads();
      me.sync_threads();
    }
    me.sync_threads();
  });
  const ledger result = two.ledger();
  EXPECT_EQ(count_in(result, "sync_threads", "outer"), 2u) << result.table();
  EXPECT_EQ(count_in(result, "sync_threads", "part"), 2u);
  EXPECT_EQ(count_in(result, "run", "outer"), 1u);
}

TEST(ledger, each_plan_is_a_construct_of_its_own) {
  team two(kept(2));
  lockstep::graph diamond;
  std::atomic<int> runs{0};
  const auto node = [&](const char* name) { return diamond.node(name, [&] { ++runs; }); };
  const lockstep::graph_node a = node("a"), left = node("left"), right = node("right"),
                             z = node("z");
  diamond.edge(a, left).edge(a, right).edge(left, z).edge(right, z);
  lockstep::plan one(diamond, two, call_site{"one.cpp", 1});
  lockstep::plan other(diamond, two, call_site{"other.cpp", 2});
  lockstep::plan alone(diamond, two, 1, call_site{"alone.cpp", 3});
  const unsigned line = __LINE__ + 1;
  lockstep::plan here(diamond, two);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(one.run());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(other.run());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(alone.run());
  EXPECT_TRUE(here.run());
  here.start().join();
  const ledger result = two.ledger();
  const auto count_of = [&](const std::string& file, unsigned at) {
    std::uint64_t count = 0;
    for (const ledger::construct& each : result.constructs) {
      if (each.kind == "plan" && each.line == at && each.file.find(file) != std::string::npos)
        count += each.count;
    }
    return count;
  };
  EXPECT_EQ(count_of("one.cpp", 1), 20u) << result.table();
  EXPECT_EQ(count_of("other.cpp", 2), 3u);
  EXPECT_EQ(count_of("alone.cpp", 3), 2u);
  EXPECT_EQ(count_of("ledger_test.cpp", line), 2u);
  EXPECT_EQ(count_in(result, "run", ""), 0u);
  EXPECT_EQ(runs.load(), 4 * (20 + 3 + 2 + 2));
}

TEST(ledger, names_the_node_that_a_member_had_to_wait_for) {
  team two(kept(2));
  lockstep::graph g;
  std::atomic<std::size_t> counted{0};
  const lockstep::graph_node quick = g.node("quick", [] {});
  const lockstep::graph_node slow = g.node("slow", [&] {
    for (std::size_t i = 0; i < 100000; ++i) counted.store(i);
  });
  const lockstep::graph_node end = g.node("end", [] {});
  g.edge(quick, end).edge(slow, end);
  quick.pin(0);
  slow.pin(1);
  end.pin(0);
  lockstep::plan plan(g, two);
  // In a run in which member 0 loses its CPU it may find that all is done.
  std::uint64_t runs = 0;
  do {
    EXPECT_TRUE(plan.run());
    ++runs;
  } while (count_in(two.ledger(), "node", "slow") == 0);
  const ledger result = two.ledger();
  EXPECT_EQ(count_in(result, "plan", ""), runs);
  for (const ledger::construct& each : result.constructs) {
    if (each.kind != "node" || each.label != "slow") continue;
    EXPECT_GT(each.members.at(0).total, 0);
    EXPECT_NE(each.file.find("ledger_test.cpp"), std::string::npos);
  }
}

TEST(ledger, a_wait_for_a_node_is_without_the_nodes_that_the_waiter_runs_meanwhile) {
  lockstep::external_team on(
      2);  // nobody serves: member 0 runs the other's node while it waits for it
  on.keep_ledger(true);
  using clock = std::chrono::steady_clock;
  lockstep::graph g;
  clock::duration shortest{};
  const auto side = [&] {
    const clock::time_point begin = clock::now();
    while (clock::now() - begin < std::chrono::microseconds(500)) continue;
    shortest = (std::min)(shortest, clock::now() - begin);
  };
  const std::chrono::milliseconds hint(1);
  g.series(g.parallel(g.node("left", side).cost(hint), g.node("right", side).cost(hint)),
           g.node("end", [] {}));
  lockstep::plan plan(g, on);
  ASSERT_EQ(plan.members(), 2u);
  double waited = 0, helped = 0;
  // The thread may lose its CPU in a wait, but hardly for as long as a node in each of many runs.
  for (int tries = 0; tries < 100 && waited >= helped; ++tries) {
    on.reset_ledger();
    shortest = clock::duration::max();
    ASSERT_TRUE(plan.run());
    waited = 0;
    for (const ledger::construct& each : on.ledger().constructs) {
      if (each.kind == "node") waited += each.all.total;
    }
    ASSERT_GT(waited, 0);
    helped = std::chrono::duration<double, std::nano>(shortest).count();
  }
  EXPECT_LT(waited, helped) << on.ledger().table();
}

TEST(ledger, constructs_of_sub_teams_are_counted_by_rank_in_the_team) {
  team four(kept(4));
  four.run([](member& me) {
    lockstep::sub_team part = me.split(me.rank() % 2);
    for (int i = 0; i < 50; ++i) part->sync_threads();
  });
  const ledger::construct sync = find(four.ledger(), "sync_threads");
  ASSERT_EQ(sync.members.size(), 4u);
  for (const ledger::waits& each : sync.members) EXPECT_EQ(each.count, 50u);
  EXPECT_EQ(sum(sync.last), sync.seen);
}

TEST(ledger, stays_as_it_is_while_off_and_goes_on_when_on_again) {
  team two(2);
  const auto sync = [&] { two.run([](member& me) { me.sync_threads(); }); };
  sync();
  two.keep_ledger(true);
  sync();
  two.keep_ledger(false);
  sync();
  EXPECT_EQ(find(two.ledger(), "sync_threads").count, 1u);
  two.keep_ledger(true);
  two.keep_ledger(true);
  sync();
  EXPECT_EQ(find(two.ledger(), "sync_threads").count, 2u);
  two.reset_ledger();
  EXPECT_TRUE(two.ledger().constructs.empty());
  sync();
  EXPECT_EQ(find(two.ledger(), "sync_threads").count, 1u);
}

TEST(ledger, of_one_team_knows_nothing_of_another) {
  team one(kept(2)), other(2);
  other.run([](member& me) { me.sync_threads(); });
  EXPECT_TRUE(one.ledger().constructs.empty());
  EXPECT_TRUE(other.ledger().constructs.empty());
  one.run([&](member& me) {
    if (me.rank() == 0) other.run([](member& inner) { inner.sync_threads(); });
    me.sync_threads();
  });
  EXPECT_EQ(find(one.ledger(), "sync_threads").count, 1u);
}

TEST(ledger, is_read_inside_a_region_and_not_switched_there) {
  team two(kept(2));
  two.run([&](member& me) {
    me.sync_threads();
    if (me.rank() != 0) return;
    EXPECT_GE(find(two.ledger(), "sync_threads").count, 1u);
    EXPECT_THROW(two.keep_ledger(false), std::logic_error);
    EXPECT_THROW(two.reset_ledger(), std::logic_error);
  });
}

TEST(ledger, regions_that_are_stopped_leave_it_usable) {
  team two(kept(2));
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(two.run([](member& me) {
      me.sync_threads();
      if (me.rank() == 1) throw std::runtime_error("staged");
      me.sync_threads();
    }),
                 std::runtime_error);
  }
  EXPECT_EQ(find(two.ledger(), "run").count, 20u);
}

TEST(ledger, counts_all_of_many_short_meetings_of_several_kinds) {
  team two(kept(2));
  constexpr std::uint64_t rounds = 3000;
  two.run([](member& me) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      me.sync_threads();
      me.sync_threads(call_site{"second.cpp", 2});
      (void)me.sync_sum(1);
      me.for_each(0, 2, [](int) {});
      me.single([] {});
    }
  });
  const ledger result = two.ledger();
  std::uint64_t places = 0;
  for (const ledger::construct& each : result.constructs) {
    if (each.kind == "run") continue;
    ++places;
    EXPECT_EQ(each.count, rounds) << each.kind;
    EXPECT_EQ(each.all.count, 2 * rounds) << each.kind;
    EXPECT_GT(each.seen, 0u) << each.kind;
  }
  EXPECT_EQ(places, 5u) << result.table();
}

TEST(ledger, of_an_external_team_counts_those_who_serve) {
  lockstep::external_team two(2);
  two.keep_ledger(true);
  std::thread other([&] { two.serve(1); });
  for (int i = 0; i < 30; ++i) two.run([](member& me) { me.sync_threads(); });
  two.release();
  other.join();
  const ledger result = two.ledger();
  EXPECT_EQ(find(result, "sync_threads").count, 30u);
  EXPECT_EQ(find(result, "sync_threads").members.at(1).count, 30u);
}

TEST(ledger, of_a_team_above_eight_members_counts_all) {
  team many(kept(11));
  many.run([](member& me) {
    for (int i = 0; i < 20; ++i) me.sync_threads();
  });
  const ledger::construct sync = find(many.ledger(), "sync_threads");
  for (const ledger::waits& each : sync.members) EXPECT_EQ(each.count, 20u);
  EXPECT_EQ(sync.seen, 20u);
}

TEST(ledger, FILE_5_a_file_that_may_not_grow_raises_no_signal) {
  lockstep::test::counted_signals handler(SIGXFSZ);
  team two(kept(2));
  two.run([](member& me) { me.sync_threads(); });
  const std::string file = ::testing::TempDir() + "lockstep_ledger_" + std::to_string(getpid());
  {
    const lockstep::test::small_files limit;
    lockstep::detail::print_ledger(two.ledger(),
                                   {true, file.c_str(), "LOCKSTEP_LEDGER", file.c_str()});
  }
  std::remove(file.c_str());
  EXPECT_EQ(handler.count(), 0);
}

}  // namespace
