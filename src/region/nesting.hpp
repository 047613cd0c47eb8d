// SPDX-License-Identifier: MIT
// src/region/nesting.hpp -- the regions that a thread is in (layer: region)
//
// A region and the one it was called from form a list, the same for all its members, so that a way back
// through another team's threads is seen as well. All modules see the same list (this_thread.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access          order    pairs  why it suffices
//   1  ages.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  runs.load       relaxed  -      a thread inside the region asks, which is ordered after its begin
#ifndef LOCKSTEP_SRC_REGION_NESTING_HPP
#define LOCKSTEP_SRC_REGION_NESTING_HPP

#include <cstdint>

#include <lockstep/detail/platform/system.hpp>
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

namespace nesting {

using region = nested_region;

/// Ages of teams that live at the same time differ by less than this.
constexpr std::uint32_t most_age_apart = std::uint32_t{1} << 30;

/// The number of a team that is being made.
inline std::uint32_t next_age() noexcept {
  return process().team_ages.fetch_add(1, memory_order_relaxed);  // 1
}

/// The region the calling thread is in, if any.
inline const region*& innermost() noexcept { return innermost_region(); }

inline bool is_inside(const void* owner) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->owner != owner) at = at->outer;
  return at != nullptr;
}

/// 0 for what marks a hook: it is in no region.
inline std::uint32_t number_of(const region& of) noexcept {
  return of.runs != nullptr ? of.runs->load(memory_order_relaxed) : 0;  // 2
}
/// Whether the calling thread is in region `number` of the team with these boards.
inline bool is_in_region(const void* boards, std::uint32_t number) noexcept {
  const region* at = innermost();
  while (at != nullptr && at->boards != boards) at = at->outer;
  return at != nullptr && number_of(*at) == number;
}

/// Whether the calling thread is in this region itself, and not as a guest, which has a copy of it.
inline bool contains(const region& what) noexcept {
  const region* at = innermost();
  while (at != nullptr && at != &what) at = at->outer;
  return at != nullptr;
}

/// Whether the calling thread may wait for its turn with a team: TURN-4 of turns.hpp.
inline bool may_wait_for(std::uint32_t age) noexcept {
  for (const region* at = innermost(); at != nullptr; at = at->outer) {
    if (static_cast<std::int32_t>(age - at->age) <= 0) return false;
  }
  return true;
}

/// The calling thread is in a region while this object lives.
class inside {
 public:
  explicit inside(const region& where) noexcept : inside(where, innermost()) {}
  /// The same for a caller that knows the place.
  inside(const region& where, const region*& innermost) noexcept
      : innermost_(innermost), before_(innermost) {
    innermost_ = &where;
  }
  ~inside() { innermost_ = before_; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const region*& innermost_;
  const region* before_;
};

}  // namespace nesting

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_NESTING_HPP
