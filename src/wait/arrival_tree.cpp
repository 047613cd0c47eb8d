// SPDX-License-Identifier: MIT
// src/wait/arrival_tree.cpp -- the bodies of arrival_tree.hpp (layer: wait)
#include "arrival_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE tree_shape::tree_shape(std::size_t participants, std::size_t fan_in,
                                       const rank_groups& groups)
    : first_node_(participants, std::uint32_t{no_node}) {
  if (participants > 1) {
    gather(groups, fan_in, 0, participants, groups.has_groups() ? 0 : rank_groups::levels);
  }
}

LOCKSTEP_INLINE tree_shape::part tree_shape::gather(const rank_groups& groups, std::size_t fan_in,
                                                    std::size_t begin, std::size_t end,
                                                    unsigned level) {
  if (end - begin == 1) {
    const std::uint32_t rank = static_cast<std::uint32_t>(groups.rank_at(begin));
    return {rank, rank, false};
  }
  std::vector<part> all;
  for (std::size_t at = begin, next = begin; at < end; at = next) {
    do {
      ++next;
    } while (next < end && !groups.begins_at(next, level));
    const part one = gather(groups, fan_in, at, next, level + 1);
    all.push_back(one);
  }
  while (all.size() > 1) {
    std::size_t made = 0;
    for (std::size_t i = 0; i < all.size(); i += fan_in) {
      const std::size_t rest = all.size() - i;
      all[made++] = join(&all[i], rest < fan_in ? rest : fan_in);
    }
    while (all.size() > made) all.pop_back();
  }
  return all[0];
}

LOCKSTEP_INLINE tree_shape::part tree_shape::join(const part* of, std::size_t count) {
  if (count == 1) return of[0];
  const std::uint32_t index = static_cast<std::uint32_t>(nodes_.size());
  const parts made = {no_node, static_cast<std::uint32_t>(lowest_.size()),
                      static_cast<std::uint32_t>(count)};
  const std::uint32_t first = of[0].lowest;
  nodes_.push_back(made);
  for (std::size_t i = 0; i < count; ++i) {
    const part each = of[i];
    lowest_.push_back(each.lowest);
    (each.is_node ? nodes_[each.index].above : first_node_[each.index]) = index;
  }
  return {first, index, true};
}

LOCKSTEP_INLINE ends_of_phases::ends_of_phases(std::size_t participants,
                                               const rank_groups& groups) {
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
