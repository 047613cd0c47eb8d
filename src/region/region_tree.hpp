// SPDX-License-Identifier: MIT
// src/region/region_tree.hpp -- who tells whom of a region: a pure function of ranks and groups (layer: region)
//
// Members hear of a region by lines: one member publishes a line, up to width - 1 others watch it. Where nothing is known
// of groups, the members of a team form a tree of that width over their ranks: rank r is the leader of ranks r + 1 to
// r + width - 1 if width divides r, of r + width, r + 2 width, ... too if width^2 divides r, and so on; rank 0 leads
// at every level. A team of up to `width` members has a single line, whatever its groups.
//
// With groups (rank_groups.hpp: packages, nodes, last-level caches) each group is led by its lowest rank. The leaders of
// the parts of a group form such a tree among themselves, then the members of each part do. So a line between caches is
// fetched once for each cache that hears by it.
//
//   LINES-1  A leader's rank is below those of its watchers; the line that rank 1 watches is rank 0's. So in a region of
//           any size the leader of each member that takes part takes part.
//   LINES-2  Each rank but 0 watches one line. The watchers of a line ascend; a region of `size` members needs the lines
//           whose first watcher is below it.
//
// It is made once for a team, as tables, and then only read.
//
// Cost   20 bytes a member. The look-ups are loads.
// Source [MCS91] sec. 3.3, a wake-up tree of fixed shape, with wide nodes: readers of one line fetch it
// from each other faster than level follows level.
#ifndef LOCKSTEP_SRC_REGION_REGION_TREE_HPP
#define LOCKSTEP_SRC_REGION_REGION_TREE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class region_tree {
 public:
  /// As wide as the flags of a barrier: above 8 readers, fetches of one line queue up.
  static constexpr std::size_t usual_width = 8;

  /// Requires 0 < members <= 65536, width > 1; groups of so many ranks, or none.
  explicit region_tree(std::size_t members, std::size_t width = usual_width,
                       const rank_groups& groups = rank_groups());

  std::size_t members() const noexcept { return ranks_.size(); }
  std::size_t width() const noexcept { return width_; }
  /// How many lines there are. Each has a watcher.
  std::size_t lines() const noexcept { return lines_.size(); }

  /// A line: who publishes it, and the lowest of those who watch it.
  struct line {
    std::size_t index;  ///< among all lines of the team
    std::size_t leader, first_watcher;
  };
  /// Requires index < lines(). A leader's lines with the most behind them come first.
  line line_at(std::size_t index) const noexcept {
    return {index, lines_[index].leader, lines_[index].first_watcher};
  }
  /// The line that rank watches; for rank 0 that of rank 1. Requires rank < members, 1 < members.
  std::size_t watched_by(std::size_t rank) const noexcept { return ranks_[rank].line; }
  /// Whether the region of `size` members is announced on the line that rank watches. Requires 0 < rank < members.
  bool is_announced_to(std::size_t rank, std::size_t size) const noexcept {
    return lines_[ranks_[rank].line].first_watcher < size;
  }

  /// Whether rank leads a line.
  bool is_leader(std::size_t rank) const noexcept { return ranks_[rank].told < end_of_told(rank); }

  /// Calls f(line) for the lines that rank leads and a region of `size` members needs, those with the
  /// most behind them first.
  template <class Function>
  void for_each_led(std::size_t rank, std::size_t size, Function f) const {
    for (std::size_t i = ranks_[rank].led; i < led_.size() && lines_[led_[i]].leader == rank; ++i) {
      const line at = line_at(led_[i]);
      if (at.first_watcher < size) f(at);
    }
  }
  /// The same for all leaders: for a member that publishes every line itself.
  template <class Function>
  void for_each_needed(std::size_t size, Function f) const {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const line at = line_at(i);
      if (at.first_watcher < size) f(at);
    }
  }

  /// Those who watch the lines of `rank`, in ascending order: first_told(rank), next_told(rank, the one before), until
  /// members().
  std::size_t first_told(std::size_t rank) const noexcept {
    return told_at(ranks_[rank].told, rank);
  }
  std::size_t next_told(std::size_t rank, std::size_t after) const noexcept {
    return told_at(ranks_[after].place + std::size_t{1}, rank);
  }

 private:
  struct of_rank {
    std::uint32_t line;   ///< that it watches
    std::uint32_t place;  ///< in told_
    std::uint32_t
        told;  ///< where those whom it tells begin in told_; they end where those of the next rank begin
    std::uint32_t led;  ///< where its lines begin in led_
  };
  struct of_line {
    std::uint32_t leader, first_watcher;
  };

  std::size_t end_of_told(std::size_t rank) const noexcept {
    return rank + 1 < members() ? ranks_[rank + 1].told : told_.size();
  }
  std::size_t told_at(std::size_t place, std::size_t rank) const noexcept {
    return place < end_of_told(rank) ? told_[place] : members();
  }

  /// Lines among the ranks at some positions of a sequence, of which the first leads all; `heads` has these positions.
  void plant(const rank_groups& groups, const std::vector<std::uint32_t>& heads);
  /// Lines among the ranks at positions [begin, end), which are a group of the level before `level`.
  void grow(const rank_groups& groups, std::size_t begin, std::size_t end, unsigned level);
  void index();

  std::vector<of_rank> ranks_;
  std::vector<of_line> lines_;
  std::vector<std::uint32_t> told_;  ///< by leader, then by rank
  std::vector<std::uint32_t> led_;   ///< lines by leader
  std::size_t width_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_REGION_TREE_HPP
