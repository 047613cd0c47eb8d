// SPDX-License-Identifier: MIT
// tests/support/rank_places.hpp -- groups of ranks in all manner of shapes, for tests of what follows them
#pragma once

#include <lockstep/detail/base/rank_groups.hpp>

#include <cstddef>
#include <random>
#include <vector>

namespace lockstep::test {

using rank_places = std::vector<detail::rank_groups::place>;

/// Blocks of so many ranks share a cache, so many caches a node, so many nodes a package.
inline rank_places blocks_of_ranks(std::size_t ranks, unsigned in_cache, unsigned caches = 2,
                                   unsigned nodes = 1) {
  rank_places places;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    const unsigned cache = rank / in_cache, node = cache / caches;
    places.push_back({{node / nodes, node, cache}});
  }
  return places;
}

/// Ranks are dealt to so many caches in turns, and the caches to so many packages.
inline rank_places dealt_ranks(std::size_t ranks, unsigned caches, unsigned packages = 1) {
  rank_places places;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    places.push_back({{rank % caches % packages, 0, rank % caches}});
  }
  return places;
}

/// Of no order at all; numbers mean the same only below the same wider group.
inline rank_places random_ranks(std::size_t ranks, std::mt19937& random) {
  const unsigned packages = 1 + static_cast<unsigned>(random() % 3),
                 nodes = 1 + static_cast<unsigned>(random() % 3),
                 caches = 1 + static_cast<unsigned>(random() % 5);
  rank_places places;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places.push_back(
        {{static_cast<unsigned>(random() % packages) * 7, static_cast<unsigned>(random() % nodes),
          static_cast<unsigned>(random() % caches) * 100}});
  }
  return places;
}

/// The same on that level and all wider ones.
inline bool are_in_one_group(const rank_places& places, std::size_t a, std::size_t b,
                             unsigned level) {
  for (unsigned i = 0; i <= level; ++i) {
    if (places[a].at[i] != places[b].at[i]) return false;
  }
  return true;
}
constexpr unsigned cache_level = detail::rank_groups::levels - 1;

/// How many groups there are on a level among the ranks below `size`.
inline std::size_t groups_among(const rank_places& places, std::size_t size,
                                unsigned level = cache_level) {
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    std::size_t before = 0;
    while (before < rank && !are_in_one_group(places, before, rank, level)) ++before;
    count += before == rank;
  }
  return count;
}

/// Shapes for `ranks` ranks, the first without groups.
inline std::vector<rank_places> shapes_of_ranks(std::size_t ranks, std::mt19937& random) {
  std::vector<rank_places> shapes = {blocks_of_ranks(ranks, 65536),   blocks_of_ranks(ranks, 4),
                                     blocks_of_ranks(ranks, 6, 2, 2), blocks_of_ranks(ranks, 1, 8),
                                     dealt_ranks(ranks, 2),           dealt_ranks(ranks, 12, 3)};
  for (int i = 0; i < 4; ++i) shapes.push_back(random_ranks(ranks, random));
  return shapes;
}

}  // namespace lockstep::test
