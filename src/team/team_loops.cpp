// SPDX-License-Identifier: MIT
// src/team/team_loops.cpp -- team_loops.hpp, and loops that run on their caller alone, without a region (layer: team)
//
// A loop that is known to be too short for two threads runs where it is called: no turn, no announcement, no clock. It
// behaves like any other loop: it has the same chunks, and stops between them. A hint (place_pace) says which loops
// are that short. All others take the full way, run_loop().
//
//   LONE-1  Only a thread outside all regions runs loops this way, and only while there are no observers.
//   LONE-2  Meanwhile the thread counts as inside a region of the team: calls of the team by an iteration run alone.
//   LONE-3  If an iteration requests a stop, only its own loop stops. If a thread outside the team's regions requests
//           it, all lone loops of the team stop. A stopped loop begins no further chunk, and returns false. If an
//           iteration calls fork(), the loop is stopped in the child process (turns.hpp).
//   LONE-4  A hint holds for one team and a limited number of loops. The next loop takes the full way and is measured.
//           Threads that use the same word at once may lose a count or a hint: that costs time, and changes no result.
//   LONE-5  A team of one member needs no hint.
//   LONE-6  A team that has ended runs no loops this way, nor does an external_team that has lost its threads (DOOR-1).
//           The full way waits, or says what is wrong.
//
// Cost   about 5 ns.
#include <lockstep/detail/team/team_loops.hpp>

#include <lockstep/weighted_schedule.hpp>

#include "../loop/loops.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Stands for a member that is alone where loops.hpp hands out a range; has its tickets, too.
struct lone_share {
  const lone_region& loop;
  const team_door& door;
  const std::uint32_t look;
  std::size_t ticket;

  static constexpr std::size_t rank() noexcept { return 0; }
  static constexpr std::size_t size() noexcept { return 1; }
  static constexpr index_range block_of(index_range range) noexcept { return range; }
  bool may_stop() const noexcept { return loop.is_ended() || door.may_stop_alone(look); }
  std::size_t take() noexcept { return ticket++; }
};

/// Calls part(here, look), or refuses: LONE-1, LONE-6.
template <class Part>
LOCKSTEP_ALWAYS_INLINE lone_outcome attempt_alone(const lone_team& of, const Part& part) {
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
    if (!here.is_stopped()) throw;  // the exception is another region's
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
LOCKSTEP_INLINE lone_outcome run_lone_loop(team_host& on, const range_body& body,
                                           std::size_t length) {
  return attempt_alone(on.core().alone(), [&](const lone_region&, std::uint32_t) {
    if (length > 0) body(0, length);
  });
}
LOCKSTEP_INLINE lone_outcome run_lone_loop(team_host& on, const range_body& body,
                                           std::size_t length, schedule how) {
  return attempt_alone(on.core().alone(), [&](const lone_region& here, std::uint32_t look) {
    lone_share share = {here, on.door(), look, 0};
    loops::hand_out_in(share, share, length, how, body);
  });
}

LOCKSTEP_INLINE index_range block_of_share(const loop_share& me, std::size_t length) noexcept {
  return me.block_of(index_range{0, length});
}

LOCKSTEP_INLINE bool run_loop(team_host& on, loop_place& place, const void* loop,
                              std::size_t length, schedule how, source_place where) {
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  job work;
  if (is_blocks && place.carried != nullptr) {
    work.carry<loop_share>(place.carried, loop, place.size);
  } else {
    const range_body body(place.call, loop);
    work.carry<loop_share>(
        [length, how, body](loop_share& me) { loops::hand_out_in(me, me, length, how, body); });
  }
  return on.run_loop({length, &place.pace, grain_of(how), is_blocks, where}, work).is_complete;
}

LOCKSTEP_INLINE bool run_by_weights(team_host& on, const range_body& body, std::size_t length,
                                    weighted_schedule& how, source_place where) {
  job work;
  work.carry<loop_share>([length, &how, &body](loop_share& me) {
    how.run_block(me.region(), index_range{0, length}, me.rank(), me.size(), body);
  });
  return on.run_loop({on.size(), nullptr, 0, false, where}, work).is_complete;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
