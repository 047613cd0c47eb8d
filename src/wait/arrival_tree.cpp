// SPDX-License-Identifier: MIT
// src/wait/arrival_tree.cpp -- the bodies of arrival_tree.hpp (layer: wait)
#include "arrival_tree.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

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
