// SPDX-License-Identifier: MIT
// src/region/region_tree.cpp -- the bodies of region_tree.hpp (layer: region)
#include "region_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE region_tree::region_tree(std::size_t members, std::size_t width,
                                         const rank_groups& groups)
    : ranks_(members), width_(width) {
  // A line for all is one hop.
  const rank_groups none;
  grow(members > width ? groups : none, 0, members, groups.has_groups() ? 0 : rank_groups::levels);
  index();
}

LOCKSTEP_INLINE void region_tree::grow(const rank_groups& groups, std::size_t begin,
                                       std::size_t end, unsigned level) {
  std::vector<std::uint32_t> heads;
  for (std::size_t at = begin; at < end; ++at) {
    const std::uint32_t head = static_cast<std::uint32_t>(at);
    if (at == begin || groups.begins_at(at, level)) heads.push_back(head);
  }
  plant(groups, heads);
  if (level == rank_groups::levels) return;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    grow(groups, heads[i], i + 1 < heads.size() ? heads[i + 1] : end, level + 1);
  }
}

LOCKSTEP_INLINE void region_tree::plant(const rank_groups& groups,
                                        const std::vector<std::uint32_t>& heads) {
  const std::size_t count = heads.size();
  std::size_t step = 1;
  while (step * width_ < count) step *= width_;
  for (; step > 0; step /= width_) {
    for (std::size_t leader = 0; leader + step < count; leader += step * width_) {
      const std::uint32_t index = static_cast<std::uint32_t>(lines_.size());
      const of_line made = {static_cast<std::uint32_t>(groups.rank_at(heads[leader])),
                            static_cast<std::uint32_t>(groups.rank_at(heads[leader + step]))};
      lines_.push_back(made);
      for (std::size_t k = 1; k < width_ && leader + k * step < count; ++k) {
        ranks_[groups.rank_at(heads[leader + k * step])].line = index;
      }
    }
  }
}

LOCKSTEP_INLINE void region_tree::index() {
  const std::size_t size = members();
  if (size > 1) ranks_[0].line = ranks_[1].line;
  // Counts, then sums of what comes before, then places: both lists are sorted by leader, and keep their order else.
  for (std::size_t rank = 1; rank < size; ++rank) ++ranks_[lines_[ranks_[rank].line].leader].told;
  for (const of_line& each : lines_) ++ranks_[each.leader].led;
  std::uint32_t told = 0, led = 0;
  std::vector<of_rank> next(size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    of_rank& own = ranks_[rank];
    next[rank].told = told;
    next[rank].led = led;
    told += own.told;
    led += own.led;
    own.told = next[rank].told;
    own.led = next[rank].led;
  }
  told_.resize(told);
  led_.resize(led);
  for (std::size_t rank = 1; rank < size; ++rank) {
    of_rank& leader = next[lines_[ranks_[rank].line].leader];
    told_[leader.told] = static_cast<std::uint32_t>(rank);
    ranks_[rank].place = leader.told++;
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    led_[next[lines_[i].leader].led++] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
