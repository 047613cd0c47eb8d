// SPDX-License-Identifier: MIT
// src/loop/lone_loops.cpp -- the bodies of lone_loops.hpp, and of lone_hint (layer: loop)
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  hint.load    relaxed  -      LONE-4: it says how a loop is run, and orders nothing
//   2  hint.store   relaxed  -      as 1
#include "lone_loops.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool lone_hint::allows(std::uint32_t team, std::size_t iterations) noexcept {
  const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
  if ((seen >> 40) != team || iterations > (seen >> 16 & most_iterations)) return false;
  if ((seen & most_loops) == 0) return false;
  word_.store(seen - 1, memory_order_relaxed);  // 2
  return true;
}
LOCKSTEP_INLINE void lone_hint::set(std::uint32_t team, double iterations,
                                    std::uint32_t loops) noexcept {
  constexpr double most = static_cast<double>(most_iterations);
  const std::uint64_t limit =
      iterations < most ? static_cast<std::uint64_t>(iterations) : std::uint64_t{most_iterations};
  word_.store(std::uint64_t{team} << 40 | limit << 16 | loops, memory_order_relaxed);  // 2
}
LOCKSTEP_INLINE bool lone_hint::is_spent(std::uint32_t team) const noexcept {
  const std::uint64_t seen = word_.load(memory_order_relaxed);  // 1
  return (seen >> 40) == team && (seen & most_loops) == 0;
}

LOCKSTEP_INLINE lone_outcome attempt_alone(const lone_team& of, const range_body& body,
                                           std::size_t length, schedule how) {
  const nesting::region*& innermost = nesting::innermost();
  const team_door& door = of.door;
  const std::uint32_t look = door.look_alone();
  if (innermost != nullptr || team_door::is_closed(look)) return lone_outcome::refused;
  if (LOCKSTEP_UNLIKELY(observers() != 0)) return lone_outcome::refused;
  const lone_region here(of, nullptr, look);
  const nesting::inside mark(here.where(), innermost);
  const auto run = [&] {
    if (how.kind() == schedule_kind::static_blocks) {
      if (length > 0) body(0, length);
    } else {
      lone_share share(here, door, look);
      loops::hand_out_in(share, share, length, how, body);
    }
  };
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    run();
  } catch (const region_stopped&) {
    if (!here.is_stopped()) throw;  // that of another region
  }
#else
  run();
#endif
  if (LOCKSTEP_UNLIKELY(here.is_ended())) {
    here.check_team();
    return lone_outcome::stopped;
  }
  return door.is_stopped_alone(look) ? lone_outcome::stopped : lone_outcome::complete;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
