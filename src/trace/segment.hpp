// SPDX-License-Identifier: MIT
// src/trace/segment.hpp -- what members did between two meetings: pure (layer: trace)
//
// A segment ends where all members of a region come together: at a barrier, or at the end of the region. Each member is
// busy from its begin to its arrival. The segment is over when they are released.
#ifndef LOCKSTEP_SRC_TRACE_SEGMENT_HPP
#define LOCKSTEP_SRC_TRACE_SEGMENT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// One member in one segment. Times are ticks of one clock.
struct busy_time {
  std::uint64_t begin, arrival;
};

struct segment_figures {
  std::size_t last;  ///< the member that came last; of several the first
  std::uint64_t
      gain;  ///< the last arrival minus the mean one: the time that balanced work would save
  std::uint64_t skew;  ///< from the first begin to the last
};

/// Requires: count > 0.
inline segment_figures figures_of(const busy_time* of, std::size_t count) noexcept {
  std::size_t last = 0;
  std::uint64_t first_begin = of[0].begin, last_begin = of[0].begin;
  for (std::size_t i = 1; i < count; ++i) {
    if (of[i].arrival > of[last].arrival) last = i;
    if (of[i].begin < first_begin) first_begin = of[i].begin;
    if (of[i].begin > last_begin) last_begin = of[i].begin;
  }
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) lost += of[last].arrival - of[i].arrival;
  return {last, lost / count, last_begin - first_begin};
}

/// Calls add(k, time) with the times in which exactly k members were busy, from the first begin to `over`. `scratch` has
/// room for 2 * count values.
template <class Add>
void share_by_busy(const busy_time* of, std::size_t count, std::uint64_t over,
                   std::uint64_t* scratch, Add add) noexcept {
  std::uint64_t *const begins = scratch, *const arrivals = scratch + count;
  for (std::size_t i = 0; i < count; ++i) {
    begins[i] = of[i].begin;
    arrivals[i] = of[i].arrival < of[i].begin ? of[i].begin : of[i].arrival;
  }
  const auto less = [](std::uint64_t a, std::uint64_t b) { return a < b; };
  std::sort(begins, begins + count, less);
  std::sort(arrivals, arrivals + count, less);
  std::uint64_t now = begins[0];
  std::size_t begun = 0, arrived = 0;
  while (arrived < count) {
    const bool is_begin = begun < count && begins[begun] <= arrivals[arrived];
    const std::uint64_t next = is_begin ? begins[begun] : arrivals[arrived];
    if (next > now) add(begun - arrived, next - now);
    now = next;
    ++(is_begin ? begun : arrived);
  }
  if (over > now) add(std::size_t{0}, over - now);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_SEGMENT_HPP
