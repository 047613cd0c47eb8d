// SPDX-License-Identifier: MIT
// tests/support/watchers.hpp -- who watches a line of a rank_tree, for tests of the tree and of its board
#pragma once

#include "base/rank_tree.hpp"

#include <cstddef>
#include <vector>

namespace lockstep::test {

/// In ascending order.
inline std::vector<std::size_t> watchers_of(const detail::rank_tree& tree,
                                            const detail::rank_tree::line& line) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = tree.first_told(line.leader); rank < tree.members();
       rank = tree.next_told(rank)) {
    if (tree.watched_by(rank) == line.index) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace lockstep::test
