// SPDX-License-Identifier: MIT
// src/region/stop_source.cpp -- the bodies of stop_source.hpp (layer: region)
#include "stop_source.hpp"

#include <lockstep/detail/region/member_state.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_HAS_EXCEPTIONS
[[noreturn]] LOCKSTEP_INLINE void leave_stopped_region() { throw region_stopped(); }
#endif

LOCKSTEP_INLINE void stop_source::add(stoppable& place) {
  lock_.lock();
  places_.push_front(place);
  lock_.unlock();
}

LOCKSTEP_INLINE void stop_source::remove(stoppable& place) {
  lock_.lock();
  places_.remove(place);
  lock_.unlock();
}

LOCKSTEP_INLINE void stop_source::request(std::uint32_t region) {
  if (alone_ != nullptr) request_alone();
  std::uint32_t seen = word_.load(memory_order_relaxed);  // 1
  while (static_cast<std::int32_t>(region - seen) > 0 &&
         !word_.compare_exchange_strong(seen, region, memory_order_release,  // 2
                                        memory_order_relaxed)) {             // 1
  }
  lock_.lock();
  for (stoppable* at = places_.first(); at != nullptr; at = at->next()) at->notify_all_sleepers();
  lock_.unlock();
}

LOCKSTEP_INLINE void stop_source::note_return(std::uint32_t region, std::uint32_t& by) noexcept {
  lock_.lock();
  by = region;
  returned_.store(region, memory_order_relaxed);  // 6
  lock_.unlock();
}

LOCKSTEP_INLINE bool stop_source::has_returned(std::uint32_t region,
                                               const std::uint32_t& by) const noexcept {
  lock_.lock();
  const bool has = by == region;
  lock_.unlock();
  return has;
}

LOCKSTEP_INLINE void first_error::note(std::uint64_t position) {
  std::exception_ptr now = std::current_exception();
  lock_.lock();
  if (!error_ || position < position_) {
    position_ = position;
    std::swap(error_, now);
  }
  lock_.unlock();
}

LOCKSTEP_INLINE void first_error::rethrow() {
  if (!error_) return;
  std::exception_ptr now;
  std::swap(error_, now);
  std::rethrow_exception(std::move(now));
}

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
    if (outermost[ended].load(memory_order_acquire) != 0) return true;  // 10
  }
  return of_.door.is_stopped_alone(outermost[begun].load(memory_order_relaxed));  // 11
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
