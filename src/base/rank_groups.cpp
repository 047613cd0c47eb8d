// SPDX-License-Identifier: MIT
// src/base/rank_groups.cpp -- the bodies of rank_groups.hpp (layer: base)
#include <lockstep/detail/base/rank_groups.hpp>

#include <algorithm>
#include <array>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE rank_groups::rank_groups(const std::vector<place>& places) {
  using keys =
      std::array<unsigned, levels + 1>;  // the lowest rank of each group that it is in, and itself
  // Sorted by place and rank, each group of each level is a run. A pass over the run finds its lowest rank.
  const std::size_t size = places.size();
  std::vector<keys> ranks(size);
  for (unsigned rank = 0; rank < size; ++rank) {
    std::copy(places[rank].at, places[rank].at + levels, ranks[rank].begin());
    ranks[rank][levels] = rank;
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<keys> named(ranks);
  for (unsigned level = levels; level-- > 0;) {
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      unsigned lowest = ranks[begin][levels];
      for (; end < size; ++end) {
        if (!std::equal(ranks[end].begin(), ranks[end].begin() + level + 1, ranks[begin].begin()))
          break;
        lowest = (std::min)(lowest, ranks[end][levels]);
      }
      for (std::size_t i = begin; i < end; ++i) named[i][level] = lowest;
    }
  }
  // Sorts the groups by their lowest ranks (GROUPS-2).
  std::sort(named.begin(), named.end());
  bool has_two = false;
  std::vector<entry> sequence(size);
  for (std::size_t i = 0; i < size; ++i) {
    unsigned level = 0;
    while (i > 0 && level < levels && named[i][level] == named[i - 1][level]) ++level;
    sequence[i] = {named[i][levels], level};
    has_two = has_two || (i > 0 && level < levels);
  }
  if (has_two) sequence_ = std::move(sequence);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
