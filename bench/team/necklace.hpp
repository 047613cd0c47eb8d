// SPDX-License-Identifier: MIT
// bench/team/necklace.hpp -- the graph of ForkUnion's connected components, and its random numbers (pure)
//
// R-MAT graphs on a ring, with one bridge from each to the next. The smallest label has to go round half of them, so
// the rounds grow with the ring. Each draw is SplitMix64 of a counter, so that programs that count alike have the same
// graph: that of ForkUnion 3.0.2's scripts/propagation, which has 84 rounds with 64 communities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace team_bench {

/// The output of SplitMix64 number `counter`, seeded with 0.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t counter) {
  std::uint64_t x = (counter + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// Every edge in both directions, none twice, none from a vertex to itself.
struct graph {
  std::vector<std::uint64_t> begins{
      0};  ///< of a vertex's neighbours; one more than there are vertices
  std::vector<std::uint32_t> neighbours;  ///< those of a vertex in ascending order

  [[nodiscard]] std::size_t vertices() const { return begins.size() - 1; }
};

struct necklace_shape {
  std::size_t communities;
  std::size_t scale = 14;              ///< a community has 2^scale vertices
  std::size_t edges_of_a_vertex = 16;  ///< before double ones are dropped
};

/// Requires communities > 0 and at most 2^32 vertices.
[[nodiscard]] graph make_necklace(const necklace_shape& shape);

}  // namespace team_bench
