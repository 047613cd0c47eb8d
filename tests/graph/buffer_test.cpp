// SPDX-License-Identifier: MIT
// tests/graph/buffer_test.cpp -- places of a buffer, and iterations that overwrite what others look for
#include <lockstep/buffer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include <lockstep/build_info.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/plan.hpp>
#include <lockstep/team.hpp>

namespace {

using lockstep::buffer;
using lockstep::graph;

TEST(buffer, has_a_slot_for_each_of_depth_iterations) {
  buffer<int, 3> values(7);
  EXPECT_EQ(values[2], 7);
  for (std::size_t i = 0; i < 3; ++i) values[i] = static_cast<int>(i);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(values[5], 2);
  EXPECT_EQ(values.depth(), 3u);
}

TEST(buffer, says_which_iteration_has_overwritten_which) {
  if (!lockstep::build_info().diagnoses_misuse) GTEST_SKIP() << "built without checks";
  buffer<int, 2> values;
  graph g;
  const auto overwrite = [&] {
    for (std::size_t i = 0; i < 6; ++i) values[i] = 0;
    values[3] = 1;
  };
  EXPECT_DEATH(
      overwrite(),
      "buffer at .*: the value of iteration 3 is wanted, but iteration 5 has overwritten it: "
      "no channel orders them, the depth is 2");
  g.channel(g.node("make", [] {}), g.node("use", [] {}), values);
  EXPECT_DEATH(overwrite(), "overwritten it: a channel from 'make' to 'use', the depth is 2");
  for (int run = 0; run < 3; ++run) {  // they begin at 0
    for (std::size_t i = 0; i < 9; ++i) values[i - 1] = values[i];
  }
}

TEST(buffer, says_which_iteration_has_not_left_its_value_yet) {
  if (!lockstep::build_info().diagnoses_misuse) GTEST_SKIP() << "built without checks";
  buffer<int, 4> values;
  lockstep::team team(1);
  graph g;
  g.node("make", [&](std::size_t i) {
    if (i > 0) ++values[i - 1];
    values[i] = 1;
  });
  lockstep::plan plan(g, team);
  EXPECT_TRUE(plan.run(10));
  graph late;
  late.node("use", [&](std::size_t i) {
    if (i > 20) ++values[i - 1];
  });
  lockstep::plan wrong(late, team);
  EXPECT_DEATH(wrong.run(30),
               "iteration 21 looks for the value of iteration 20, which is not there");
}

TEST(buffer, says_that_a_node_beside_has_taken_the_place_of_the_value_before) {
  if (!lockstep::build_info().diagnoses_misuse) GTEST_SKIP() << "built without checks";
  buffer<int, 2> halves;
  std::atomic<int> lefts{0};
  graph g;
  const auto left = g.node("left", [&](std::size_t i) {
    halves[i] = 1;
    ++lefts;
  });
  const auto right = g.node("right", [&](std::size_t i) {
    while (i == 1 && lefts < 3) std::this_thread::yield();
    halves[i] = i == 0 ? 0 : halves[i - 1];
  });
  g.channel(g.parallel(left.pin(0), right.pin(1)), g.node("use", [] {}).pin(2), halves);
  const auto run = [&] {
    lockstep::team team(3);
    lockstep::plan(g, team).run(4);
  };
  EXPECT_DEATH(run(), "looks for the value of iteration 0, whose place has that of iteration 2");
}

TEST(buffer, a_node_may_write_the_value_of_a_later_iteration_unless_a_channel_orders_them) {
  if (!lockstep::build_info().diagnoses_misuse) GTEST_SKIP() << "built without checks";
  buffer<int, 4> values(0);
  lockstep::team team(1);
  graph g;
  const auto count = g.node("count", [&](std::size_t i) { values[i + 1] = values[i] + 1; });
  lockstep::plan plan(g, team);
  EXPECT_TRUE(plan.run(10));
  EXPECT_EQ(values[10], 10);
  g.channel(count, g.node("use", [] {}), values);
  lockstep::plan wrong(g, team);
  EXPECT_DEATH(wrong.run(30), "iteration . looks for the value of iteration ., which is not there");
}

}  // namespace
