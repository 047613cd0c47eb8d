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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
