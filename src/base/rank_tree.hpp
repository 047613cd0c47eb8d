// SPDX-License-Identifier: MIT
// src/base/rank_tree.hpp -- which ranks announce to which, and report to which: from ranks and groups (layer: base)
//
// The ranks of a team form a tree of lines. Each line has a leader and up to width - 1 watchers. Down the tree a leader
// publishes a line, and its watchers read it (region_board.hpp). Up the tree the leader and the watchers count
// themselves in at a line, and the last of them goes on to the line above (ranked_phases.hpp). Without groups, rank r
// leads ranks r + 1 to r + width - 1 if width divides r. If width^2 divides r, it also leads r + width, r + 2 width,
// ..., and so on: rank 0 leads at every level. A team of up to `width` members has a single line, whatever its groups.
//
// With groups (rank_groups.hpp: packages, nodes, last-level caches) the lowest rank of each group leads it. The leaders
// of the parts of a group form such a tree among themselves, then the members of each part do. So each cache fetches a
// line from another cache once, and one arrival leaves each group.
//
// There are two ways to announce, chosen when the tree is made:
//   relayed  each leader publishes its lines when it has read its own: log(members) hops, each with few fetches. For
//            large teams with a CPU for each member
//   direct   rank 0 leads all lines: one hop. For crowds, where a leader that does not run would hold up all behind it
//
//   LINES-1  A leader's rank is below the ranks of its watchers, and rank 0 leads the line that rank 1 watches. So in a
//           region of any size, the leader of each member that takes part takes part, too.
//   LINES-2  Each rank but 0 watches one line. The watchers of a line ascend. A region of `size` members needs the
//           lines whose first watcher is below `size`.
//   LINES-3  In a phase of `size` members, each rank of a line below `size` arrives at the line once: by itself, or as
//           the last at a line below. Arrivals skip a line at which only one rank would arrive.
//
// The tree is made once for a team, as tables, and then only read.
//
// Cost   48 bytes a member, 16 a line. The look-ups are loads.
// Source [MCS91] sec. 3.3, a wake-up tree of fixed shape, with wide nodes: readers of a line fetch it from each other
//        faster than one level follows another. Up the tree: the combining tree [YTL87].
#ifndef LOCKSTEP_SRC_BASE_RANK_TREE_HPP
#define LOCKSTEP_SRC_BASE_RANK_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class rank_tree {
 public:
  enum class way { direct, relayed };

  /// The width of trees that announce, and of a barrier's flags: with more than 8 readers, fetches of a line queue up.
  static constexpr std::size_t usual_width = 8;

  /// Requires members <= 65536, width > 1; `groups` has `members` ranks, or no groups.
  explicit rank_tree(std::size_t members, std::size_t width = usual_width,
                     const rank_groups& groups = rank_groups(), way how = way::relayed);

  std::size_t members() const noexcept { return ranks_.size(); }
  std::size_t width() const noexcept { return width_; }
  /// How many lines there are. Each has at least one watcher.
  std::size_t lines() const noexcept { return lines_.size(); }

  /// A line: the rank that publishes it, and the lowest rank that watches it.
  struct line {
    std::size_t index;  ///< among all lines of the team
    std::size_t leader, first_watcher;
  };
  /// Both require index < lines().
  line line_at(std::size_t index) const noexcept {
    return {index, lines_[index].leader, first_watcher(index)};
  }
  std::size_t first_watcher(std::size_t at) const noexcept { return watchers_[lines_[at].begin]; }
  /// The line that rank watches; for rank 0 that of rank 1. Requires rank < members, 1 < members.
  std::size_t watched_by(std::size_t rank) const noexcept { return ranks_[rank].line; }
  /// A watcher, and the first watcher of the same line.
  struct told {
    std::uint32_t rank, first_of_line;
  };
  /// The watchers of the lines of `rank`, line by line; none if it leads no line.
  const std::vector<told>& told_by(std::size_t rank) const noexcept { return told_[rank]; }

  /// Calls f(line) for the lines that rank leads and a region of `size` members needs. Lines with more ranks behind
  /// them come first.
  template <class Function>
  void for_each_led(std::size_t rank, std::size_t size, Function f) const {
    for (std::uint32_t i = ranks_[rank].first_led; i != none; i = lines_[i].next) {
      const line at = line_at(i);
      if (at.first_watcher < size) f(at);
    }
  }

  /// Calls f(line, count) for the lines at which a rank arrives in a phase of `size` members, as long as f returns
  /// true: the rank is the last there, and goes on. `count`, at least 2, is the number of arrivals at the line. Returns
  /// whether f was true at all lines. Requires rank < size.
  template <class Function>
  bool climb(std::size_t rank, std::size_t size, Function f) const {
    const of_rank& own = ranks_[rank];
    for (std::uint32_t i = own.last_led != none ? own.last_led : own.line; i != none;
         i = lines_[i].above) {
      std::size_t end = end_of(i);
      while (end > lines_[i].begin && watchers_[end - 1] >= size) --end;
      const std::size_t watchers = end - lines_[i].begin;
      if (watchers > 0 && !f(std::size_t{i}, watchers + 1)) return false;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct of_rank {
    std::uint32_t line;  ///< the line that it watches
    std::uint32_t first_led, last_led;
  };
  struct of_line {
    std::uint32_t leader;
    std::uint32_t
        begin;           ///< its watchers in watchers_; they end where those of the next line begin
    std::uint32_t next;  ///< the next line of its leader
    std::uint32_t
        above;  ///< where the last to arrive goes on: the leader's line before this, or the one that it watches
  };

  std::size_t end_of(std::size_t of) const noexcept {
    return of + 1 < lines_.size() ? lines_[of + 1].begin : watchers_.size();
  }

  /// Makes the lines among the ranks at positions [begin, end), which are a group of the level before `level`.
  void grow(const rank_groups& groups, std::size_t begin, std::size_t end, unsigned level);
  /// Makes the lines among these ranks. The first of them leads all.
  void plant(const std::vector<std::uint32_t>& heads);

  std::vector<of_rank> ranks_;
  std::vector<of_line> lines_;
  std::vector<std::uint32_t> watchers_;  ///< by line
  std::vector<std::vector<told>> told_;  ///< by leader
  std::size_t width_;
  bool has_one_leader_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_BASE_RANK_TREE_HPP
