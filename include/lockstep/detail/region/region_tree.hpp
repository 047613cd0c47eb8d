// SPDX-License-Identifier: MIT
// lockstep/detail/region/region_tree.hpp -- who tells whom of a region: a pure function of the ranks (layer: region)
//
// Members hear of a region by lines: one member publishes a line, up to width - 1 others watch it. The members of a
// team form a tree of that width over their ranks: rank r is the leader of ranks r + 1 to r + width - 1
// if width divides r, of r + width, r + 2 width, ... too if width^2 divides r, and so on; rank 0 leads
// at every level. A team of up to `width` members has a single line.
//
// Source [MCS91] sec. 3.3, a wake-up tree of fixed shape, with wide nodes: readers of one line fetch it
// from each other faster than level follows level.
#ifndef LOCKSTEP_DETAIL_REGION_REGION_TREE_HPP
#define LOCKSTEP_DETAIL_REGION_REGION_TREE_HPP

#include <cstddef>

#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class region_tree {
 public:
  /// As wide as the flags of a barrier: above 8 readers, fetches of one line queue up.
  static constexpr std::size_t usual_width = 8;

  /// Requires members > 0, width > 1.
  explicit constexpr region_tree(std::size_t members, std::size_t width = usual_width) noexcept
      : members_(members), width_(width) {}

  constexpr std::size_t members() const noexcept { return members_; }
  constexpr std::size_t width() const noexcept { return width_; }

  /// A line: the leader and the step between its watchers.
  struct line {
    std::size_t index;   ///< among all lines of the team
    std::size_t leader;  ///< rank
    std::size_t step;    ///< watchers are leader + step, leader + 2 step, ...; width - 1 at most

    constexpr std::size_t first_watcher() const noexcept { return leader + step; }
  };

  /// How many lines there are.
  std::size_t lines() const noexcept {
    std::size_t sum = 0;
    for (std::size_t step = 1; step < members_; step *= width_) sum += lines_of_level(step);
    return sum;
  }

  /// The line that rank watches. Requires 0 < rank < members.
  line watched_by(std::size_t rank) const noexcept {
    std::size_t step = 1, before = 0;
    while (rank % (step * width_) == 0) {
      before += lines_of_level(step);
      step *= width_;
    }
    const std::size_t group = rank / (step * width_);
    return {before + group, group * step * width_, step};
  }

  /// Calls f(line) for the lines that rank leads and a region of `size` members needs, those with the
  /// most behind them first.
  template <class Function>
  void for_each_led(std::size_t rank, std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      const std::size_t group = rank / (step * width_);
      if (rank % (step * width_) == 0 && rank + step < size) f(line{before + group, rank, step});
    });
  }

  /// The same for all leaders: for a member that publishes every line itself.
  template <class Function>
  void for_each_needed(std::size_t size, Function f) const {
    for_each_level([&](std::size_t step, std::size_t before) {
      for (std::size_t group = 0; group * step * width_ + step < size; ++group) {
        f(line{before + group, group * step * width_, step});
      }
    });
  }

 private:
  std::size_t lines_of_level(std::size_t step) const noexcept {
    return (members_ - 1) / (step * width_) + 1;
  }

  /// Calls f(step, lines before this level) for each level from the top down.
  template <class Function>
  void for_each_level(Function f) const {
    std::size_t step = 1, before = 0;
    while (step * width_ < members_) {
      before += lines_of_level(step);
      step *= width_;
    }
    while (true) {
      f(step, before);
      if (step == 1) return;
      step /= width_;
      before -= lines_of_level(step);
    }
  }

  std::size_t members_;
  std::size_t width_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_REGION_REGION_TREE_HPP
