// SPDX-License-Identifier: MIT
// src/base/rank_groups.cpp -- the bodies of rank_groups.hpp (layer: base)
#include <lockstep/detail/base/rank_groups.hpp>

#include <cstdlib>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct rank_in_groups {
  unsigned
      keys[rank_groups::levels + 1];  // the lowest rank of each group that it is in, and itself
};

LOCKSTEP_INLINE int compare_keys(const void* left, const void* right) noexcept {
  const unsigned *a = static_cast<const rank_in_groups*>(left)->keys,
                 *b = static_cast<const rank_in_groups*>(right)->keys;
  unsigned i = 0;
  while (i < rank_groups::levels && a[i] == b[i]) ++i;
  return a[i] < b[i] ? -1 : a[i] > b[i] ? 1 : 0;
}

LOCKSTEP_INLINE rank_groups::rank_groups(const std::vector<place>& places) {
  // First by place and rank: so each group, on each level, is a run, and its lowest rank is found going through it.
  const std::size_t size = places.size();
  std::vector<rank_in_groups> ranks(size), named(size);
  for (unsigned rank = 0; rank < size; ++rank) {
    for (unsigned level = 0; level < levels; ++level)
      ranks[rank].keys[level] = places[rank].at[level];
    ranks[rank].keys[levels] = rank;
  }
  if (size == 0) return;
  std::qsort(ranks.data(), size, sizeof ranks[0], compare_keys);
  for (std::size_t i = 0; i < size; ++i) named[i].keys[levels] = ranks[i].keys[levels];
  for (unsigned level = levels; level-- > 0;) {
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      unsigned lowest = ranks[begin].keys[levels];
      for (end = begin; end < size; ++end) {
        unsigned k = 0;
        while (k <= level && ranks[end].keys[k] == ranks[begin].keys[k]) ++k;
        if (k <= level) break;
        if (ranks[end].keys[levels] < lowest) lowest = ranks[end].keys[levels];
      }
      for (std::size_t i = begin; i < end; ++i) named[i].keys[level] = lowest;
    }
  }
  // Then by the lowest ranks of the groups: GROUPS-2.
  std::qsort(named.data(), size, sizeof named[0], compare_keys);
  bool has_two = false;
  std::vector<entry> sequence(size);
  for (std::size_t i = 0; i < size; ++i) {
    unsigned level = 0;
    while (i > 0 && level < levels && named[i].keys[level] == named[i - 1].keys[level]) ++level;
    sequence[i] = {named[i].keys[levels], level};
    has_two = has_two || (i > 0 && level < levels);
  }
  if (has_two) sequence_ = std::move(sequence);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
