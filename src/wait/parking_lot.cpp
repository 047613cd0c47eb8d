// SPDX-License-Identifier: MIT
// src/wait/parking_lot.cpp -- the bodies of parking_lot.hpp (layer: wait)
#include "parking_lot.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_AT_LOAD watch_queues_at_load() { parking_lot::watch_forks(); }

LOCKSTEP_INLINE void parked_thread::located_wait::describe(wait_subject& to) const noexcept {
  const std::uintptr_t queue = self.first_queue_, which = queue & 3u;
  to.sleeps_on = &self.word_;
  to.object = reinterpret_cast<const void*>(queue - which);
  to.where = where;
  if (queue != 0) to.kind = parking_lot::wait_kind_of(static_cast<parking_lot::kind>(which));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
