// SPDX-License-Identifier: MIT
// src/wait/ranked_phases.cpp -- the bodies of ranked_phases.hpp (layer: wait)
#include <lockstep/detail/wait/ranked_phases.hpp>

#include <lockstep/detail/base/rank_groups.hpp>

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

struct phase_tree::parts {
  arrival_tree tree;
  ends_of_phases ends;

  parts(std::size_t most, const rank_groups& groups)
      : tree(most, arrival_tree::usual_fan_in, groups), ends(most, groups) {}
};

LOCKSTEP_INLINE phase_tree::phase_tree(std::size_t most, const rank_groups& groups)
    : parts_(new parts(most, most != 0 ? groups : rank_groups())) {}
LOCKSTEP_INLINE phase_tree::~phase_tree() { delete parts_; }

LOCKSTEP_INLINE bool phase_tree::arrive(std::size_t rank, std::size_t size) noexcept {
  return parts_->tree.arrive(rank, size);
}
LOCKSTEP_INLINE void phase_tree::reset() noexcept { parts_->tree.reset(); }

LOCKSTEP_INLINE std::size_t phase_tree::lines() const noexcept { return parts_->ends.lines(); }
LOCKSTEP_INLINE std::size_t phase_tree::line_of(std::size_t rank) const noexcept {
  return parts_->ends.line_of(rank);
}
LOCKSTEP_INLINE bool phase_tree::is_needed(std::size_t line, std::size_t size) const noexcept {
  return parts_->ends.is_needed(line, size);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
