// SPDX-License-Identifier: MIT
// src/loop/weighted_schedule.cpp -- the bodies of weighted_schedule.hpp (layer: loop)
#include <lockstep/weighted_schedule.hpp>

#include "partition.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

LOCKSTEP_INLINE weighted_schedule::weighted_schedule(std::size_t members)
    : blocks_(new detail::weighted_blocks(members)) {}
LOCKSTEP_INLINE weighted_schedule::~weighted_schedule() { delete blocks_; }

LOCKSTEP_INLINE std::size_t weighted_schedule::members() const noexcept {
  return blocks_->members();
}
LOCKSTEP_INLINE double weighted_schedule::weight(std::size_t rank) const noexcept {
  return blocks_->weight(rank);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
