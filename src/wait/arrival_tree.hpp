// SPDX-License-Identifier: MIT
// src/wait/arrival_tree.hpp -- counts arrivals along a tree: who is the last of all (layer: wait)
//
// A combining tree. Each participant counts itself in at its node; the last to arrive at a node goes on to the node
// above, and the last at the root is the last of all. The tree is made once, as tables: a pure function of the number of
// participants, the fan-in and the groups (rank_groups.hpp). With groups the participants of a group meet in a tree of
// their own, whose last one goes on for all of them: so few lines cross from one cache to another.
//
//   ARRIVAL-1  A node belongs to one group and what is below it: of a group, one arrival goes out.
//   ARRIVAL-2  In a phase of `size` participants, the ranks below it, a node counts the parts of it that have such a rank;
//              nodes with one such part are passed by.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the node above
//   2  counter.store      relaxed  -      published by 1 at the node above or with the phase after it; the
//                                         next arrivals, which have waited for that phase, come later
//   3  counter.store      relaxed  -      nobody arrives: the caller orders it before the next arrival
//
// Cost   one RMW for each participant and node, log(participants) in a row at most, as many on one line as the fan-in.
// Source [YTL87]; in barriers [MCS91].
#ifndef LOCKSTEP_SRC_WAIT_ARRIVAL_TREE_HPP
#define LOCKSTEP_SRC_WAIT_ARRIVAL_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The nodes of a combining tree, and who arrives where.
class tree_shape {
 public:
  struct node {
    std::size_t index;
    std::size_t width;  ///< how many arrive here in this phase; 2 at least
  };

  /// Requires participants < 2^31, fan_in > 1; groups of so many ranks, or none. A tree of one participant has no node.
  tree_shape(std::size_t participants, std::size_t fan_in,
             const rank_groups& groups = rank_groups());

  std::size_t nodes() const noexcept { return nodes_.size(); }

  /// Calls f(node) for each node from the rank's own up while f returns true, in a phase of `size` participants. Returns
  /// whether f returned true at the last one as well. Requires rank < size.
  template <class Function>
  bool climb(std::size_t rank, std::size_t size, Function f) const {
    for (std::uint32_t at = first_node_[rank]; at != no_node; at = nodes_[at].above) {
      const parts& here = nodes_[at];
      std::size_t width = here.count;
      while (lowest_[here.begin + width - 1] >= size) --width;
      if (width > 1 && !f(node{at, width})) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t no_node = ~std::uint32_t{0};
  /// What arrives at a node: participants, and nodes below it, in the order of the lowest rank in each.
  struct parts {
    std::uint32_t above, begin, count;  ///< their lowest ranks are at `begin` of lowest_
  };
  struct part {
    std::uint32_t lowest, index;
    bool is_node;
  };

  /// The participants at positions [begin, end), a group of the level before `level`, as one.
  part gather(const rank_groups& groups, std::size_t fan_in, std::size_t begin, std::size_t end,
              unsigned level);
  part join(const part* of, std::size_t count);

  std::vector<std::uint32_t> first_node_;
  std::vector<parts> nodes_;
  std::vector<std::uint32_t> lowest_;
};

/// The counters of a combining tree: tells the last of all participants that it is the last.
class arrival_tree {
 public:
  /// The fan-in of [MCS91]'s arrival tree.
  static constexpr std::size_t usual_fan_in = 4;

  /// `most_participants` may be 0: then nobody arrives here.
  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in,
                        const rank_groups& groups = rank_groups())
      : participants_(most_participants),
        shape_(most_participants, fan_in, groups),
        counters_(shape_.nodes()) {}

  /// True for the last of all; every counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank) noexcept { return arrive(rank, participants_); }

  /// The same in a phase of fewer: the ranks below `participants`, all of whom pass that number.
  bool arrive(std::size_t rank, std::size_t participants) noexcept {
    return shape_.climb(rank, participants, [this](const tree_shape::node& at) noexcept {
      wait_word& counter = counters_[at.index].value;
      const std::size_t before = counter.fetch_add(1, memory_order_acq_rel);  // 1
      if (before + 1 < at.width) return false;
      counter.store(0, memory_order_relaxed);  // 2
      return true;
    });
  }

  /// Resets the counters after a phase that was given up. Requires: no thread arrives.
  void reset() noexcept {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      counters_[i].value.store(0, memory_order_relaxed);  // 3
    }
  }

 private:
  std::size_t participants_;
  tree_shape shape_;
  aligned_array<padded<wait_word>> counters_;
};

/// On which line a participant sees the end of a phase by the tree: one for all, or one for each group of a level, so
/// that it goes from cache to cache once. Of the narrowest level whose groups have four members or more, on the average:
/// each line costs the one that ends the phase a store. (A rule from the costs on paper: no machine with several
/// caches was at hand.)
class ends_of_phases {
 public:
  /// Requires: participants as in the groups.
  ends_of_phases(std::size_t participants, const rank_groups& groups);

  std::size_t lines() const noexcept { return lowest_.empty() ? 1 : lowest_.size(); }
  std::size_t line_of(std::size_t rank) const noexcept {
    return line_of_.empty() ? 0 : line_of_[rank];
  }
  /// Whether somebody looks at it in a phase of `size` participants; at the first one, always.
  bool is_needed(std::size_t line, std::size_t size) const noexcept {
    return line == 0 || lowest_[line] < size;
  }

 private:
  std::vector<std::uint32_t> line_of_, lowest_;  // by rank, by line; empty: one line
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_ARRIVAL_TREE_HPP
