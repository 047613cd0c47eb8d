// SPDX-License-Identifier: MIT
// src/base/rank_tree.cpp -- the bodies of rank_tree.hpp (layer: base)
#include "rank_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE rank_tree::rank_tree(std::size_t members, std::size_t width,
                                     const rank_groups& groups, way how)
    : ranks_(members, of_rank{none, none, none}),
      told_(members),
      width_(width),
      has_one_leader_(how == way::direct) {
  const bool has_groups = members > width && groups.has_groups();  // else one line serves all
  grow(has_groups ? groups : rank_groups(), 0, members, has_groups ? 0 : rank_groups::levels);
  if (members > 1) ranks_[0].line = ranks_[1].line;
}

LOCKSTEP_INLINE void rank_tree::grow(const rank_groups& groups, std::size_t begin, std::size_t end,
                                     unsigned level) {
  std::vector<std::uint32_t> heads;
  for (std::size_t at = begin; at < end; ++at) {
    if (at != begin && !groups.begins_at(at, level)) continue;
    heads.push_back(static_cast<std::uint32_t>(groups.rank_at(at)));
  }
  plant(heads);
  if (level == rank_groups::levels) return;
  for (std::size_t at = begin, next = begin; at < end; at = next) {
    do {
      ++next;
    } while (next < end && !groups.begins_at(next, level));
    grow(groups, at, next, level + 1);
  }
}

LOCKSTEP_INLINE void rank_tree::plant(const std::vector<std::uint32_t>& heads) {
  const std::size_t count = heads.size();
  std::size_t step = 1;
  while (step * width_ < count) step *= width_;
  for (; step > 0; step /= width_) {
    for (std::size_t head = 0; head + step < count; head += step * width_) {
      const std::uint32_t index = static_cast<std::uint32_t>(lines_.size());
      const std::uint32_t led_by = has_one_leader_ ? 0 : heads[head];
      of_rank& leader = ranks_[led_by];
      const bool is_first = leader.first_led == none;
      lines_.push_back({led_by, static_cast<std::uint32_t>(watchers_.size()), none,
                        is_first ? leader.line : leader.last_led});
      (is_first ? leader.first_led : lines_[leader.last_led].next) = index;
      leader.last_led = index;
      for (std::size_t k = 1; k < width_ && head + k * step < count; ++k) {
        const std::uint32_t watcher = heads[head + k * step];
        ranks_[watcher].line = index;
        watchers_.push_back(watcher);
        told_[led_by].push_back({watcher, heads[head + step]});
      }
    }
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
