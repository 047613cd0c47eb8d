// SPDX-License-Identifier: MIT
// lockstep/detail/team/stop_source.ipp -- the bodies of stop_source.hpp (layer: team)
#ifndef LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_IPP
#define LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_IPP

#include <exception>
#include <utility>

#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD void stop_source::add(stoppable& place) {
  lock_.lock();
  place.next_ = first_;
  first_ = &place;
  lock_.unlock();
}

LOCKSTEP_COLD void stop_source::remove(stoppable& place) {
  lock_.lock();
  stoppable** at = &first_;
  while (*at != &place) at = &(*at)->next_;
  *at = place.next_;
  lock_.unlock();
}

LOCKSTEP_COLD void stop_source::request(std::uint32_t region) {
  std::uint32_t seen = word_.load(detail::memory_order_relaxed);  // 1
  while (static_cast<std::int32_t>(region - seen) > 0 &&
         !word_.compare_exchange_strong(seen, region, detail::memory_order_release,  // 2
                                        detail::memory_order_relaxed)) {             // 1
  }
  lock_.lock();
  for (stoppable* at = first_; at != nullptr; at = at->next_) at->notify_all_sleepers();
  lock_.unlock();
}

LOCKSTEP_COLD void first_error::note(std::uint64_t position) {
  std::exception_ptr now = std::current_exception();
  lock_.lock();
  if (!error_ || position < position_) {
    position_ = position;
    std::swap(error_, now);
  }
  lock_.unlock();
}

LOCKSTEP_COLD void first_error::rethrow() {
  if (!error_) return;
  std::exception_ptr now;
  std::swap(error_, now);
  std::rethrow_exception(std::move(now));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_STOP_SOURCE_IPP
