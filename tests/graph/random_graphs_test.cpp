// SPDX-License-Identifier: MIT
// tests/graph/random_graphs_test.cpp -- graphs at random compute what an interpreter says (GRAPH-1 to GRAPH-6)
#include <lockstep/plan.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "support/graph_oracle.hpp"
#include "support/random_graph.hpp"

namespace {

using lockstep::graph;
using lockstep::plan;
using lockstep::team;
using lockstep::test::first_seed;
using lockstep::test::graph_computation;
using lockstep::test::graph_interpreter;
using lockstep::test::graph_results;
using lockstep::test::graph_shape;
using lockstep::test::graph_taste;
using lockstep::test::graphs;
using lockstep::test::random_graph;

class random_graphs : public testing::TestWithParam<std::size_t> {
 protected:
  /// Compares a plan's runs with the interpreter's.
  void compare(const graph_taste& taste, int count) {
    const std::size_t members = GetParam();
    team on(members);
    int wrong_graphs = 0;
    for (int k = 0; k < count; ++k) {
      const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(k);
      const random_graph shape(seed, taste);
      const std::size_t iterations = 1 + seed % 8;  // a plan may be made anew after five
      graph_computation with;
      const graph g = shape.build(&with);
      const std::string problem = g.validate();
      if (!problem.empty()) {
        ASSERT_EQ(problem.find("no iteration can reach"), 0u) << "seed " << seed << ": " << problem;
        ++wrong_graphs;
        continue;
      }
      const graph_shape of(lockstep::detail::graph_access::body_of(g).model, 3);
      graph_results right(of.size(), iterations);
      graph_interpreter(of).run(
          iterations, [&](std::size_t n, std::size_t i) { return of.compute(n, i, right); });
      plan what(g, on);
      for (int again = 0; again < 2; ++again) {
        graph_results found(of.size(), iterations);
        with = {&of, &found};
        ASSERT_TRUE(what.run(iterations)) << "seed " << seed;
        ASSERT_TRUE(found == right)
            << "seed " << seed << ", " << members << " members, run " << again << "\n"
            << what.text() << g.dot();
      }
    }
    EXPECT_LT(wrong_graphs, 1 + count / 2);
  }
};
INSTANTIATE_TEST_SUITE_P(members, random_graphs, testing::Values(1, 2, 3, 4, 8),
                         testing::PrintToStringParamName());

TEST_P(random_graphs, with_edges_only) {
  graph_taste taste;
  taste.has_loops = taste.has_conditions = taste.has_delays = false;
  compare(taste, graphs(100));
}

TEST_P(random_graphs, with_loops) {
  graph_taste taste;
  taste.has_conditions = taste.has_delays = false;
  compare(taste, graphs(100));
}

TEST_P(random_graphs, with_iterations_that_overlap) {
  graph_taste taste;
  taste.has_loops = taste.has_conditions = false;
  compare(taste, graphs(100));
}

TEST_P(random_graphs, that_are_planned_anew_within_a_run) {
  graph_taste taste;
  taste.has_hints = false;
  compare(taste, graphs(100));
}

TEST_P(random_graphs, with_everything_but_members) { compare(graph_taste(), graphs(150)); }

TEST_P(random_graphs, with_everything) {
  graph_taste taste;
  taste.most_width = taste.pins = GetParam();
  compare(taste, graphs(150));
}

TEST_P(random_graphs, with_many_nodes) {
  graph_taste taste;
  taste.most_nodes = 150;
  compare(taste, graphs(10));
}

}  // namespace
