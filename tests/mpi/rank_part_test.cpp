// SPDX-License-Identifier: MIT
// tests/mpi/rank_part_test.cpp -- how a graph across ranks is split, and that no split can deadlock (WMSG-1 to -3, SPLIT-1 and -2)
//
// Without threads and without MPI. The deadlock test runs all parts of random graphs with members that may take any
// node that could begin, and take those first that will block. So it covers whatever a plan does.
#include "mpi/rank_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/mpi/world_graph.hpp>
#include "support/world_shape.hpp"

namespace {

namespace world = lockstep::detail::mpi;
using lockstep::detail::node_index;
using lockstep::mpi::world_graph;
using lockstep::test::graph_taste;
using lockstep::test::world_shape;
using world::part_role;

world::graph_split split(const world_graph& g, std::size_t ranks) {
  return world::split_of(world::world_graph_access::placed(g), ranks);
}
world::rank_part part(const world_graph& g, std::size_t ranks, std::uint32_t rank) {
  return world::part_of_rank(world::world_graph_access::placed(g), split(g, ranks), rank);
}
std::size_t count(const world::rank_part& of, part_role role) {
  return static_cast<std::size_t>(
      std::count_if(of.nodes.begin(), of.nodes.end(),
                    [role](const world::part_node& each) { return each.role == role; }));
}
bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}
/// The names of the nodes that come before this one in the part.
std::vector<std::string> before(const world::rank_part& of, const std::string& name) {
  std::vector<std::string> names;
  for (const lockstep::detail::model_edge& each : of.model.edges) {
    if (of.model.nodes[each.to].name == name) names.push_back(of.model.nodes[each.from].name);
  }
  return names;
}

TEST(rank_part, an_edge_inside_a_rank_stays_an_edge) {
  world_graph g;
  g.edge(g.node(1, "a", [] {}), g.node(1, "b", [] {}));
  const world::rank_part own = part(g, 2, 1);
  ASSERT_EQ(own.nodes.size(), 3u);  // and one that looks for the end
  EXPECT_EQ(before(own, "b"), std::vector<std::string>{"a"});
  EXPECT_EQ(part(g, 2, 0).nodes.size(), 0u);
}

TEST(rank_part, an_edge_between_ranks_is_a_send_and_a_receive) {
  double value = 0;
  world_graph g;
  g.edge(g.node(0, "a", [] {}), g.node(1, "b", [] {}), value);
  const world::graph_split made = split(g, 2);
  ASSERT_EQ(made.messages.size(), 1u);
  EXPECT_EQ(made.messages[0].bytes, sizeof value);
  const world::rank_part from = part(g, 2, 0), to = part(g, 2, 1);
  EXPECT_EQ(before(from, "send 0, from 'a' to 'b'"), std::vector<std::string>{"a"});
  EXPECT_EQ(before(to, "b"), std::vector<std::string>{"receive 0, from 'a' to 'b'"});
}

TEST(rank_part, data_inside_a_rank_are_copied) {
  double source = 0, target = 0;
  world_graph g;
  const auto a = g.node(0, "a", [] {}), b = g.node(0, "b", [] {});
  g.edge(a, b, &source, &target, 1);
  const world::rank_part own = part(g, 1, 0);
  EXPECT_EQ(count(own, part_role::copy), 1u);
  EXPECT_EQ(count(own, part_role::send) + count(own, part_role::receive), 0u);
}

TEST(rank_part, the_rank_of_a_test_tells_the_ranks_of_its_loop) {
  world_graph g;
  const auto first = g.node(0, "first", [] {}), middle = g.node(1, "middle", [] {}),
             test = g.node(2, "test", [] { return false; });
  g.edge(first, middle).edge(middle, test).repeat_while(test, first);
  g.node(3, "outside", [] {});
  std::size_t decisions = 0;
  for (const world::graph_message& each : split(g, 4).messages) {
    decisions += each.is_decision() ? 1 : 0;
  }
  EXPECT_EQ(decisions, 2u);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const world::rank_part own = part(g, 4, rank);
    EXPECT_EQ(count(own, part_role::repeat), rank == 2 ? 1u : 0u);
    const std::size_t sends[] = {1, 1, 2, 0}, receives[] = {1, 2, 1, 0};
    EXPECT_EQ(count(own, part_role::send), sends[rank]);
    EXPECT_EQ(count(own, part_role::receive), receives[rank]);
    EXPECT_EQ(own.model.feedbacks.size(), rank < 3 ? 1u : 0u);
    EXPECT_EQ(lockstep::detail::make_flow(own.model).problem, "");
  }
}

TEST(rank_part, a_loop_of_one_rank_needs_no_message) {
  world_graph g;
  const auto first = g.node(1, "first", [] {}), test = g.node(1, "test", [] { return false; });
  g.edge(first, test).repeat_while(test, first);
  EXPECT_EQ(split(g, 2).messages.size(), 0u);
}

TEST(rank_part, an_edge_that_leaves_a_loop_is_one_message_after_it) {
  world_graph g;
  const auto first = g.node(0, "first", [] {}), test = g.node(1, "test", [] { return false; }),
             after = g.node(2, "after", [] {});
  g.edge(first, test).edge(first, after).repeat_while(test, first);
  const world::graph_split made = split(g, 3);
  EXPECT_EQ(made.messages[0].block, 1u);  // from first to test
  EXPECT_EQ(made.messages[1].block, 0u);
}

TEST(rank_part, what_others_cannot_know_is_refused) {
  const auto test = [] { return true; };
  {
    world_graph g;
    const auto ask = g.node(0, "ask", test), maybe = g.node(0, "maybe", [] {}),
               other = g.node(1, "other", [] {});
    g.edge_if(ask, maybe).edge(maybe, other);
    EXPECT_TRUE(has(split(g, 2).problem, "'maybe' may be skipped, which only its own rank knows"));
  }
  {
    world_graph g;
    const auto ask = g.node(0, "ask", test), first = g.node(0, "first", [] {}),
               last = g.node(1, "last", test);
    g.edge_if(ask, first).edge(ask, last).edge(first, last).repeat_while(last, first);
    EXPECT_TRUE(has(split(g, 2).problem, "'first' may be skipped"));
  }
}

TEST(placed_graph, lines_tell_graphs_apart) {
  const auto lines = [](int variant) {
    double value[2] = {};
    world_graph g;
    const auto a = g.node(variant == 1 ? 1u : 0u, variant == 2 ? "x" : "a", [] { return true; }),
               b = g.node(1, "b", [] {});
    if (variant == 3) {
      g.edge_if(a, b);
    } else {
      g.edge(a, b, &value[0], &value[0], variant == 4 ? 2 : 1);
    }
    if (variant == 5) g.repeat_while(a, b);
    if (variant == 6) a.pin(1);
    if (variant == 7) a.cost(std::chrono::nanoseconds(7));
    if (variant == 8) a.keep_near(b);
    return world::lines_of(world::world_graph_access::placed(g));
  };
  const std::string usual = lines(0);
  EXPECT_EQ(world::difference_of(usual, 1, lines(0), 0), "");
  for (int variant = 1; variant <= 8; ++variant) {
    EXPECT_NE(world::difference_of(usual, 1, lines(variant), 0), "") << variant;
  }
  EXPECT_EQ(world::difference_of(lines(4), 3, usual, 0),
            "item 2: rank 0 has edge from 'a' to 'b' with 8 bytes, rank 3 has edge from 'a' to 'b' "
            "with 16 bytes");
}

// --- deadlock ---

/// All ranks of a graph without loops, and members that do what is worst.
class worst_members {
 public:
  worst_members(const world::graph_split& of, std::vector<world::rank_part> parts,
                std::size_t members, std::uint64_t seed)
      : parts_(std::move(parts)), waiting_(of.messages.size(), 0), random_(seed) {
    for (const world::rank_part& each : parts_) {
      done_.emplace_back(each.nodes.size(), 0);
      begun_.emplace_back(each.nodes.size(), false);
      free_.push_back(members);
    }
  }

  /// Whether all iterations end.
  bool run(std::size_t iterations) {
    iterations_ = iterations;
    for (;;) {
      while (begin_one()) continue;
      if (is_over()) return true;
      if (!go_on()) return false;
    }
  }

 private:
  /// A member of some rank takes a node: one that blocks, if there is one.
  bool begin_one() {
    std::vector<std::pair<std::size_t, node_index>> could, would_block;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      if (free_[r] == 0) continue;
      for (node_index n = 0; n < parts_[r].nodes.size(); ++n) {
        if (!can_begin(r, n)) continue;
        could.push_back({r, n});
        if (!can_end(r, n)) would_block.push_back({r, n});
      }
    }
    const auto& among = would_block.empty() ? could : would_block;
    if (among.empty()) return false;
    const auto [rank, node] = among[random_() % among.size()];
    begun_[rank][node] = true;
    --free_[rank];
    if (can_end(rank, node)) end(rank, node);
    return true;
  }
  bool go_on() {
    bool any = false;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      for (node_index n = 0; n < parts_[r].nodes.size(); ++n) {
        if (!begun_[r][n] || !can_end(r, n)) continue;
        end(r, n);
        any = true;
      }
    }
    return any;
  }

  bool can_begin(std::size_t rank, node_index node) const {
    const auto& model = parts_[rank].model;
    const std::size_t iteration = done_[rank][node];
    if (iteration == iterations_ || begun_[rank][node]) return false;
    for (const auto& each : model.edges) {
      if (each.to == node && done_[rank][each.from] <= iteration) return false;
    }
    return *std::min_element(done_[rank].begin(), done_[rank].end()) == iteration;  // GRAPH-3
  }
  /// Without messages of the node, or when they can be sent or received.
  bool can_end(std::size_t rank, node_index node) const {
    const world::part_node& what = parts_[rank].nodes[node];
    if (!has_message(rank, node)) return true;
    return what.role == part_role::send ? waiting_[what.number] < world::slots
                                        : waiting_[what.number] > 0;
  }
  bool has_message(std::size_t rank, node_index node) const {
    const part_role role = parts_[rank].nodes[node].role;
    return role == part_role::send || role == part_role::receive;
  }
  void end(std::size_t rank, node_index node) {
    const world::part_node& what = parts_[rank].nodes[node];
    if (has_message(rank, node)) {
      if (what.role == part_role::send) {
        ++waiting_[what.number];
      } else {
        --waiting_[what.number];
      }
    }
    begun_[rank][node] = false;
    ++done_[rank][node];
    ++free_[rank];
  }
  bool is_over() const {
    for (const auto& rank : done_) {
      for (const std::size_t each : rank) {
        if (each != iterations_) return false;
      }
    }
    return true;
  }

  const std::vector<world::rank_part> parts_;
  std::vector<std::vector<std::size_t>> done_;
  std::vector<std::vector<bool>> begun_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> waiting_;  ///< of each message
  std::size_t iterations_ = 0;
  std::mt19937_64 random_;
};

/// SPLIT-1.
TEST(rank_part, no_order_that_the_parts_allow_deadlocks) {
  const char* const wish = std::getenv("LOCKSTEP_RANDOM_GRAPHS");
  const std::uint64_t graphs = wish != nullptr ? std::strtoull(wish, nullptr, 0) : 150;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
    graph_taste taste;
    taste.has_loops = taste.has_conditions = false;
    taste.most_nodes = 16;
    const std::uint32_t ranks = 2 + static_cast<std::uint32_t>(seed % 3);
    const world_shape shape(seed, taste, ranks);
    if (!shape.problem.empty()) continue;
    world_shape::variables unused(shape);
    world_graph g;
    shape.build(g, unused);
    const world::graph_split made = split(g, ranks);
    ASSERT_EQ(made.problem, "");
    std::vector<world::rank_part> parts;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) parts.push_back(part(g, ranks, rank));
    for (std::size_t members = 1; members <= 3; ++members) {
      worst_members all(made, parts, members, seed);
      EXPECT_TRUE(all.run(6)) << "seed " << seed << ", " << ranks << " ranks of " << members;
    }
  }
}

}  // namespace
