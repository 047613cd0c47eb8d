// SPDX-License-Identifier: MIT
// tests/support/watchers.hpp -- the members that watch a line of a rank_tree, for tests of the tree and of its board
#pragma once

#include "base/rank_tree.hpp"

#include <cstddef>
#include <vector>

namespace lockstep::test {

/// Their ranks, in ascending order.
inline std::vector<std::size_t> watchers_of(const detail::rank_tree& tree,
                                            const detail::rank_tree::line& line) {
  std::vector<std::size_t> ranks;
  for (const detail::rank_tree::told& at : tree.told_by(line.leader)) {
    if (tree.watched_by(at.rank) == line.index) ranks.push_back(at.rank);
  }
  return ranks;
}

}  // namespace lockstep::test
