// SPDX-License-Identifier: MIT
// src/wait/arrival_tree.hpp -- counts arrivals along a tree, to find the last of all (layer: wait)
//
// A combining tree. Each participant arrives at its node. The last to arrive at a node goes on to the node above, and
// the last at the root is the last of all. The nodes are the lines of rank_tree.hpp (LINES-3).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the node above
//   2  counter.store      relaxed  -      published by 1 at the node above or with the phase after it; the
//                                         next arrivals, which have waited for that phase, come later
//   3  counter.store      relaxed  -      no thread arrives: the caller orders it before the next arrival
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
#include "../base/rank_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The counters of a combining tree: tells the last of all participants that it is the last.
class arrival_tree {
 public:
  /// The fan-in of [MCS91]'s arrival tree.
  static constexpr std::size_t usual_fan_in = 4;

  /// `most_participants` may be 0: then no thread arrives here.
  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in,
                        const rank_groups& groups = rank_groups())
      : participants_(most_participants),
        shape_(most_participants, fan_in, groups),
        counters_(shape_.lines()) {}

  /// True for the last of all; every counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank) noexcept { return arrive(rank, participants_); }

  /// The same in a phase of fewer: only ranks below `participants` arrive, and all pass that number.
  bool arrive(std::size_t rank, std::size_t participants) noexcept {
    return shape_.climb(rank, participants, [this](std::size_t node, std::size_t count) noexcept {
      wait_word& counter = counters_[node].value;
      const std::size_t before = counter.fetch_add(1, memory_order_acq_rel);  // 1
      if (before + 1 < count) return false;
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
  rank_tree shape_;
  aligned_array<padded<wait_word>> counters_;
};

/// The line on which a participant sees the end of a phase by the tree: one for all, or one for each group of a level,
/// so that the news goes from cache to cache once. Each line costs one store. So the level is the narrowest one with an
/// average of four members or more in a group. (This rule is calculated, not measured: no machine with several caches
/// was at hand.)
class ends_of_phases {
 public:
  /// Requires: participants as in the groups.
  ends_of_phases(std::size_t participants, const rank_groups& groups) {
    constexpr std::size_t least = 4;
    if (!groups.has_groups()) return;
    for (unsigned level = rank_groups::levels; level-- > 0;) {
      std::size_t count = 0;
      for (std::size_t at = 0; at < participants; ++at) count += groups.begins_at(at, level);
      if (count * least > participants) continue;
      if (count == 1) return;
      line_of_.resize(participants);
      for (std::size_t at = 0; at < participants; ++at) {
        const std::uint32_t rank = static_cast<std::uint32_t>(groups.rank_at(at));
        if (groups.begins_at(at, level)) lowest_.push_back(rank);
        line_of_[rank] = static_cast<std::uint32_t>(lowest_.size() - 1);
      }
      return;
    }
  }

  std::size_t lines() const noexcept { return lowest_.empty() ? 1 : lowest_.size(); }
  std::size_t line_of(std::size_t rank) const noexcept {
    return line_of_.empty() ? 0 : line_of_[rank];
  }
  /// Whether a participant looks at this line in a phase of `size` participants. Always true for the first line.
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
