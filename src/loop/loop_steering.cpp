// SPDX-License-Identifier: MIT
// src/loop/loop_steering.cpp -- the bodies of loop_steering.hpp (layer: loop)
#include "loop_steering.hpp"

#include <cstdio>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE void loop_timing::wake_if_long(std::uint64_t now) {
  if (left_at(now) <= least) return;
  woken_at = now;
  if (observers() != 0) note_mark(mark_kind::woken, "woken", "the loop is long", may_wake);
  board.wake(may_wake);
  may_wake = 0;
}

LOCKSTEP_INLINE void loop_steering::tell(const loop_plan& plan) const noexcept {
  char name[48] = "loop inline";
  if (plan.shares > 1) {
    std::snprintf(name, sizeof name, "loop on %u members", static_cast<unsigned>(plan.shares));
  }
  const char* why = of_.is_fixed           ? "a share for each was asked for"
                    : of_.grain != 0       ? "the grain was given"
                    : plan.shares == 1     ? "it would not gain"
                    : of_.place == nullptr ? "as asked for"
                                           : "it gains";
  if (plan.is_probe) why = "it is not known: the caller begins";
  if (plan.shares == 1 && of_.iterations < 2) why = "there is one iteration at most";
  if (plan.missed > 0) why = "members sleep: they are not woken for so little";
  note_mark(mark_kind::decision, name, why, of_.iterations);
  if (is_asleep_ && plan.shares > 1 && plan.wakes) {
    note_mark(mark_kind::woken, "woken", "for a loop", plan.shares);
  }
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
