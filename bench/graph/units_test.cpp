// SPDX-License-Identifier: MIT
// The graphs that all peers run. That the peers keep to their edges is checked by the runners, before
// they measure.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "graph/shapes.hpp"

namespace {

using graph_bench::make_shape;
using graph_bench::shape;

TEST(Shapes, HaveEdgesThatGoForwardOnceEach) {
  for (const char* name :
       {"chain", "crossing", "twins", "lattice", "fork", "tree", "wavefront", "random"}) {
    for (const std::size_t size : {2u, 3u, 7u, 10u}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(size));
      const shape all = make_shape(name, size);
      std::size_t listed = 0;
      for (std::size_t i = 0; i < all.size(); ++i) listed += all.before(i).size();
      EXPECT_EQ(listed, all.edges().size());
      std::set<std::pair<unsigned, unsigned>> once;
      for (const auto& [from, to] : all.edges()) {
        EXPECT_LT(from, to);
        EXPECT_LT(to, all.size());
        EXPECT_TRUE(once.emplace(from, to).second);
      }
      EXPECT_GT(all.units, 0u);
    }
  }
}

TEST(Shapes, HaveTheNodesAndEdgesThatTheirNamesSay) {
  const auto counts = [](const char* name, std::size_t size) {
    const shape all = make_shape(name, size);
    return std::pair(all.size(), all.edges().size());
  };
  using pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(counts("chain", 1000), pair(1000, 999));
  EXPECT_EQ(counts("twins", 5), pair(12, 12));
  EXPECT_EQ(counts("lattice", 4), pair(8, 12));
  EXPECT_EQ(counts("fork", 2), pair(4, 4));
  EXPECT_EQ(counts("tree", 10), pair(1023, 1022));
  EXPECT_EQ(counts("wavefront", 64), pair(4096, 2 * 64 * 63));
}

TEST(Shapes, OfTwinChainsAreTwoChainsBetweenTwoNodes) {
  const shape all = graph_bench::twin_chains(3);
  const shape::edge_list expected = {{0, 1}, {0, 2}, {1, 3}, {2, 4},
                                     {3, 5}, {4, 6}, {5, 7}, {6, 7}};
  EXPECT_EQ(all.edges(), expected);
}

TEST(Shapes, ThatAreRandomAreTheSameEachTimeWithOneBeginningAndOneEnd) {
  for (const std::size_t size : {10u, 100u, 1000u}) {
    const shape all = make_shape("random", size);
    EXPECT_EQ(all.edges(), make_shape("random", size).edges());
    std::set<unsigned> beginnings, ends;
    for (unsigned i = 0; i < size; ++i) {
      beginnings.insert(i);
      ends.insert(i);
    }
    for (const auto& [from, to] : all.edges()) {
      beginnings.erase(to);
      ends.erase(from);
    }
    EXPECT_EQ(beginnings, std::set<unsigned>{0});
    EXPECT_EQ(ends, std::set<unsigned>{static_cast<unsigned>(size - 1)});
  }
}

TEST(Shapes, OfNoNameOrOfNoSizeFail) {
  EXPECT_THROW((void)make_shape("ring", 10), std::invalid_argument);
  EXPECT_THROW((void)make_shape("chain", 1), std::invalid_argument);
}

}  // namespace
