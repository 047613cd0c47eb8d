// SPDX-License-Identifier: MIT
#include "team/necklace.hpp"

#include <algorithm>
#include <utility>

namespace team_bench {
namespace {

using vertex = std::uint32_t;
using edge = std::pair<vertex, vertex>;

constexpr std::size_t draws_of_an_edge = 64;  // counters, of which 2^scale vertices take `scale`
constexpr std::size_t most_connected = 64;    // vertices of a community among which bridges end

/// R-MAT: of the four quadrants of the matrix, 57, 19, 19 and 5 % of the edges, and so on within each.
edge random_edge(std::uint64_t number, std::size_t scale) {
  vertex row = 0, column = 0;
  for (std::size_t bit = 0; bit < scale; ++bit) {
    const std::uint64_t percent = split_mix(number * draws_of_an_edge + bit) % 100;
    const bool is_right = (percent >= 57 && percent < 76) || percent >= 95;
    row |= static_cast<vertex>(percent >= 76) << bit;
    column |= static_cast<vertex>(is_right) << bit;
  }
  return {row, column};
}

/// Bridge number `number` goes from that community to the next one.
edge bridge(const necklace_shape& shape, std::size_t number) {
  const std::size_t size = std::size_t{1} << shape.scale;
  const std::uint64_t counter =
      shape.communities * size * shape.edges_of_a_vertex * draws_of_an_edge + 2 * number;
  const std::size_t bound = std::min(size, most_connected);
  return {static_cast<vertex>(number * size + split_mix(counter) % bound),
          static_cast<vertex>((number + 1) % shape.communities * size +
                              split_mix(counter + 1) % bound)};
}

/// Both directions of the community's own edges and of its two bridges, as far as they begin in it.
std::vector<edge> edges_from(const necklace_shape& shape, std::size_t community) {
  const std::size_t size = std::size_t{1} << shape.scale;
  const std::size_t own = size * shape.edges_of_a_vertex;
  const auto base = static_cast<vertex>(community * size);
  std::vector<edge> result;
  result.reserve(2 * own + 2);
  for (std::uint64_t i = community * own; i < (community + 1) * own; ++i) {
    const auto [row, column] = random_edge(i, shape.scale);
    if (row == column) continue;
    result.emplace_back(base + row, base + column);
    result.emplace_back(base + column, base + row);
  }
  if (shape.communities == 1) return result;
  result.push_back(bridge(shape, community));
  const edge from_before = bridge(shape, (community + shape.communities - 1) % shape.communities);
  result.emplace_back(from_before.second, from_before.first);
  return result;
}

}  // namespace

graph make_necklace(const necklace_shape& shape) {
  const std::size_t size = std::size_t{1} << shape.scale;
  graph result;
  result.begins.reserve(shape.communities * size + 1);
  std::vector<std::vector<vertex>> neighbours(
      size);  // a sort of each is faster than one of all edges
  for (std::size_t community = 0; community < shape.communities; ++community) {
    for (const auto& [from, to] : edges_from(shape, community)) {
      neighbours[from - community * size].push_back(to);
    }
    for (std::vector<vertex>& own : neighbours) {
      std::sort(own.begin(), own.end());
      result.neighbours.insert(result.neighbours.end(), own.begin(),
                               std::unique(own.begin(), own.end()));
      result.begins.push_back(result.neighbours.size());
      own.clear();
    }
  }
  return result;
}

}  // namespace team_bench
