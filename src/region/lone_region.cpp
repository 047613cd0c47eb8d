// SPDX-License-Identifier: MIT
// src/region/lone_region.cpp -- the bodies of lone_region.hpp (layer: region)
#include "lone_region.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_INLINE void fail_destroyed_inside(const char* kind) noexcept {
  end_program("%s: destroyed inside its own region; leave the region first", kind);
}

LOCKSTEP_INLINE bool lone_region::is_stopped() const noexcept {
  const wait_word* outermost = state_;
  for (const nesting::region* at = &where_; at != nullptr; at = at->outer) {
    if (at->owner != where_.owner || at->runs == nullptr) continue;
    if (at->boards != nullptr) {
      const std::uint32_t region =
          nesting::number_of(*at);  // 0 once it is over, where values are combined
      return region != 0 && of_.stop.requested(region);
    }
    outermost = at->runs;
    if (outermost[ended].load(memory_order_acquire) != 0) return true;  // 3
  }
  return of_.door.is_stopped_alone(outermost[begun].load(memory_order_relaxed));  // 4
}

LOCKSTEP_INLINE bool lone_region::has_own_stop() const noexcept {
  if (is_ended()) return true;
  for (const nesting::region* at = where_.outer; at != nullptr; at = at->outer) {
    if (at->owner == where_.owner && at->runs != nullptr) return false;
  }
  return is_stopped();
}

LOCKSTEP_INLINE bool stop_source::has_own_stop(std::uint32_t region) const noexcept {
  return alone_ != nullptr ? alone_->has_own_stop() : requested(region);
}

LOCKSTEP_INLINE bool stop_source::is_alone_stopped() const noexcept { return alone_->is_stopped(); }

LOCKSTEP_INLINE void stop_source::request_alone() noexcept { alone_->request_stop(); }

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
