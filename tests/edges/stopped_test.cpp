// SPDX-License-Identifier: MIT
// tests/edges/stopped_test.cpp -- programs that do not look at answers end when their region is stopped
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace {

using lockstep::dynamic_schedule;
using lockstep::guided_schedule;
using lockstep::index_range_2;
using lockstep::member;
using lockstep::nowait;
using lockstep::ordered_turn;
using lockstep::region_stopped;
using lockstep::static_schedule;
using lockstep::team;

/// Called in a loop that has no end: it would go on for ever if the construct only returned at a stop.
struct construct {
  const char* name;
  std::function<void(member&)> call;
};
std::vector<construct> constructs() {
  static lockstep::weighted_schedule weighted(3);
  const auto none = [](auto...) {};
  return {
      {"sync_threads", [](member& me) { me.sync_threads(); }},
      {"single", [](member& me) { me.single([] {}); }},
      {"single nowait", [](member& me) { me.single(nowait, [] {}); }},
      {"for_range", [=](member& me) { me.for_range(0, 9, none); }},
      {"for_range nowait", [=](member& me) { me.for_range(nowait, 0, 9, none); }},
      {"for_range dynamic",
       [=](member& me) { me.for_range(nowait, 0, 9, none, dynamic_schedule()); }},
      {"for_range weighted", [=](member& me) { me.for_range(0, 9, none, weighted); }},
      {"for_each", [=](member& me) { me.for_each(0, 9, none); }},
      {"for_each empty", [=](member& me) { me.for_each(nowait, 0, 0, none); }},
      {"for_each chunks", [=](member& me) { me.for_each(0, 9, none, static_schedule(2)); }},
      {"for_each guided", [=](member& me) { me.for_each(nowait, 0, 9, none, guided_schedule()); }},
      {"for_each nested", [=](member& me) { me.for_each(index_range_2{{0, 3}, {0, 3}}, none); }},
      {"for_each weighted", [=](member& me) { me.for_each(0, 9, none, weighted); }},
      {"for_ordered",
       [](member& me) { me.for_ordered(0, 9, [](int, ordered_turn& turn) { turn([] {}); }); }},
      {"sections", [](member& me) { me.sections([] {}, [] {}); }},
      {"sections nowait", [](member& me) { me.sections(nowait, [] {}); }},
      {"sections without any", [](member& me) { me.sections(); }},
      {"sync_sum", [](member& me) { me.sync_sum(1); }},
      {"broadcast", [](member& me) { me.broadcast(0, 1); }},
      {"reduce_each",
       [](member& me) { me.reduce_each(0, 9, 0, [](int i) { return i; }, std::plus<int>()); }},
      {"await_step", [](member& me) { me.await_step(me.rank(), 0); }},
      {"split", [](member& me) { me.split(0); }},
  };
}

class stopped_regions_of : public testing::TestWithParam<std::size_t> {
 protected:
  team workers{GetParam()};
  void expect_usable() {
    EXPECT_TRUE(workers.run([](member& me) { EXPECT_EQ(me.sync_sum(std::size_t{1}), me.size()); }));
  }
};
INSTANTIATE_TEST_SUITE_P(members, stopped_regions_of, testing::Values(1, 2, 3));

TEST_P(stopped_regions_of, MEMBER_3_an_exception_ends_loops_that_do_not_look_at_any_answer) {
  for (const construct& each : constructs()) {
    SCOPED_TRACE(each.name);
    EXPECT_THROW(workers.run([&](member& me) {
      if (me.rank() == 0) throw std::runtime_error("rank 0");
      while (true) each.call(me);
    }),
                 std::runtime_error);
    expect_usable();
  }
}

TEST_P(stopped_regions_of,
       MEMBER_3_a_member_that_stopped_the_region_itself_leaves_it_at_its_next_construct) {
  for (const construct& each : constructs()) {
    SCOPED_TRACE(each.name);
    EXPECT_FALSE(workers.run([&](member& me) {
      me.request_stop();
      each.call(me);
      ADD_FAILURE() << "went on";
    }));
    expect_usable();
  }
}

TEST_P(stopped_regions_of, MEMBER_3_alone_inside_a_region_is_as_in_a_team) {
  for (const construct& each : constructs()) {
    SCOPED_TRACE(each.name);
    EXPECT_TRUE(workers.run([&](member& outer) {
      EXPECT_FALSE(workers.run([&](member& alone) {
        alone.request_stop();
        each.call(alone);
        ADD_FAILURE() << "went on";
      }));
      outer.sync_threads();
    }));
  }
}

TEST_P(stopped_regions_of, MEMBER_3_in_a_sub_team_is_as_in_a_team) {
  for (const construct& each : constructs()) {
    SCOPED_TRACE(each.name);
    EXPECT_FALSE(workers.run([&](member& me) {
      lockstep::sub_team half = me.split(me.rank() % 2);
      me.sync_threads();
      if (me.rank() == 0) me.request_stop();
      while (true) each.call(*half);
    }));
    expect_usable();
  }
}

TEST_P(stopped_regions_of, MEMBER_3_catching_std_exception_does_not_swallow_the_end) {
  static_assert(!std::is_base_of<std::exception, region_stopped>::value, "see stop_source.hpp");
  EXPECT_FALSE(workers.run([&](member& me) {
    if (me.rank() + 1 == me.size()) me.request_stop();
    while (true) {
      try {
        me.for_each(0, 9, [](int) {});
      } catch (const std::exception&) {
        ADD_FAILURE();
      }
    }
  }));
}

TEST_P(stopped_regions_of,
       LOOPS_8_no_function_is_called_by_a_construct_that_begins_in_a_stopped_region) {
  std::atomic<int> calls{0};
  const auto count = [&](auto&&...) { ++calls; };
  std::atomic<std::size_t> told{0};
  lockstep::weighted_schedule weighted(workers.size());
  EXPECT_FALSE(workers.run([&](member& me) {
    me.request_stop();
    bool any = me.sync_threads_unless_stopped();
    any = me.single_unless_stopped(count) || any;
    any = me.single_unless_stopped(nowait, count) || any;
    for (const lockstep::schedule how :
         {static_schedule(), static_schedule(2), dynamic_schedule(), guided_schedule()}) {
      any = me.for_range_unless_stopped(0, 9, count, how) || any;
      any = me.for_range_unless_stopped(nowait, 0, 9, count, how) || any;
      any = me.for_each_unless_stopped(0, 9, count, how) || any;
      any = me.for_each_unless_stopped(nowait, 0, 9, count, how) || any;
      any = me.for_each_unless_stopped(index_range_2{{0, 3}, {0, 3}}, count, how) || any;
      any = me.for_each_unless_stopped(nowait, index_range_2{{0, 3}, {0, 3}}, count, how) || any;
      any = me.for_ordered_unless_stopped(0, 9, count, how) || any;
    }
    any = me.for_each_unless_stopped(0, 9, count, weighted) || any;
    any = me.sections_unless_stopped(count, count) || any;
    any = me.sections_unless_stopped(nowait, count) || any;
    any = me.await_step_unless_stopped(me.rank(), 0) || any;
    told += !any;
    me.publish(1);
    me.masked([] {});
    me.critical([] {});
  }));
  EXPECT_EQ(calls.load(), 0);
  EXPECT_EQ(told.load(), workers.size());
  expect_usable();
}

TEST_P(stopped_regions_of,
       LOOPS_8_a_stop_inside_a_loop_with_chunks_is_noticed_before_the_next_chunk) {
  const std::int64_t endless = std::int64_t{1} << 40;
  for (const lockstep::schedule how : {static_schedule(16), dynamic_schedule(16)}) {
    std::atomic<std::int64_t> calls{0};
    EXPECT_FALSE(workers.run([&](member& me) {
      me.for_each(
          0, endless,
          [&](std::int64_t i) {
            ++calls;
            if (i >= 160) me.request_stop();
          },
          how);
      ADD_FAILURE() << "went on";
    }));
    EXPECT_GT(calls.load(), 0);
    expect_usable();
  }
}

TEST_P(stopped_regions_of, LOOPS_8_a_block_that_was_begun_is_run_to_its_end_by_one_as_by_many) {
  std::vector<int> visits(1000);
  EXPECT_FALSE(workers.run([&](member& me) {
    me.for_each(0, 1000, [&](int i) {
      ++visits[static_cast<std::size_t>(i)];
      if (i == 0) me.request_stop();
    });
  }));
  for (std::size_t i = 0; i < 1000 / workers.size(); ++i) ASSERT_EQ(visits[i], 1) << i;
}

TEST_P(stopped_regions_of, LOOPS_8_sections_after_one_that_stopped_the_region_are_not_run) {
  std::atomic<int> late{0};
  EXPECT_FALSE(workers.run([&](member& me) {
    if (me.size() > 1 && me.rank() == 1) return;  // leaves all to the others
    me.sections([&] { me.request_stop(); }, [&] { late += me.size() == 1; },
                [&] { late += me.size() == 1; });
    ADD_FAILURE() << "went on";
  }));
  EXPECT_EQ(late.load(), 0);
  expect_usable();
}

TEST_P(stopped_regions_of, MEMBER_3_a_turn_that_cannot_come_throws_or_says_so) {
  std::atomic<int> turns{0}, after{0}, told{0};
  EXPECT_FALSE(workers.run([&](member& me) {
    me.for_ordered(0, 9, [&](int i, ordered_turn& turn) {
      if (i == 0) me.request_stop();
      turn([&] { ++turns; });
      ++after;
    });
  }));
  EXPECT_FALSE(workers.run([&](member& me) {
    const bool goes_on = me.for_ordered_unless_stopped(0, 9, [&](int i, ordered_turn& turn) {
      if (i == 0) me.request_stop();
      if (!turn([&] { ++turns; })) ++told;
    });
    EXPECT_FALSE(goes_on);
  }));
  EXPECT_EQ(turns.load(), 0);
  EXPECT_EQ(after.load(), 0);
  EXPECT_GT(told.load(), 0);
  expect_usable();
}

TEST_P(stopped_regions_of, MEMBER_3_the_stop_of_an_outer_region_passes_through_an_inner_one) {
  EXPECT_FALSE(workers.run([&](member& outer) {
    outer.request_stop();
    EXPECT_TRUE(outer.stop_requested());
    workers.run([&](member& alone) {
      EXPECT_FALSE(alone.sync_threads_unless_stopped());
      outer.sync_threads();
      ADD_FAILURE() << "went on";
    });
    ADD_FAILURE() << "went on";
  }));
  expect_usable();
}

}  // namespace
