// SPDX-License-Identifier: MIT
// src/loop/lone_loops.cpp -- the bodies of lone_loops.hpp (layer: loop)
#include "lone_loops.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class Part>
lone_outcome lone_call::run(const lone_team& of, const Part& part) {
  const nesting::region*& innermost = nesting::innermost();
  const team_door& door = of.door;
  const std::uint32_t look = door.look_alone();
  if (innermost != nullptr || team_door::is_closed(look)) return lone_outcome::refused;
  if (LOCKSTEP_UNLIKELY(observers() != 0)) return lone_outcome::refused;
  const lone_region here(of, nullptr, look);
  const nesting::inside mark(here.where(), innermost);
#if LOCKSTEP_HAS_EXCEPTIONS
  try {
    part(here, look);
  } catch (const region_stopped&) {
    if (!here.is_stopped()) throw;  // that of another region
  }
#else
  part(here, look);
#endif
  if (LOCKSTEP_UNLIKELY(here.is_ended())) {
    here.check_team();
    return lone_outcome::stopped;
  }
  return door.is_stopped_alone(look) ? lone_outcome::stopped : lone_outcome::complete;
}

LOCKSTEP_INLINE lone_outcome lone_call::attempt(const lone_team& of, const range_body& body,
                                                std::size_t length) {
  return run(of, [&](const lone_region&, std::uint32_t) {
    if (length > 0) body(0, length);
  });
}

LOCKSTEP_INLINE lone_outcome lone_call::attempt(const lone_team& of, const range_body& body,
                                                std::size_t length, schedule how) {
  return run(of, [&](const lone_region& here, std::uint32_t look) {
    lone_share share(here, of.door, look);
    loops::hand_out_in(share, share, length, how, body);
  });
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
