// SPDX-License-Identifier: MIT
// src/loop/loop_timing.cpp -- the bodies of loop_timing.hpp (layer: loop)
#include "loop_timing.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void loop_timing::wake_if_long(std::uint64_t now) {
  if (left_at(now) <= least_) return;
  woken_at_ = now;
  if (observers() != 0) note_mark(mark_kind::woken, "woken", "the loop is long", members_);
  board_.wake(members_);
  members_ = 0;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
