// SPDX-License-Identifier: MIT
// src/team/team_loops.cpp -- team_loops.hpp (layer: team)
#include <lockstep/detail/team/team_loops.hpp>

#include <lockstep/weighted_schedule.hpp>

#include "../loop/lone_loops.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE index_range block_of_share(const loop_share& me, std::size_t length) noexcept {
  return me.block_of(index_range{0, length});
}

/// What the job of a loop carries: parts by a schedule.
struct scheduled_parts {
  std::size_t length;
  schedule how;
  const range_body* body;

  void operator()(loop_share& me) const { loops::hand_out_in(me, me, length, how, *body); }
};
struct weighted_parts {
  std::size_t length;
  weighted_schedule* how;
  const range_body* body;

  void operator()(loop_share& me) const {
    how->run_block(me.region(), index_range{0, length}, me.rank(), me.size(), *body);
  }
};

inline bool run_scheduled(team_host& on, const loop_request& request, schedule how,
                          const range_body& body) {
  job work;
  work.carry<loop_share>(scheduled_parts{request.iterations, how, &body});
  return on.run_loop(request, work, loop_ends());
}

LOCKSTEP_INLINE bool run_loop(team_host& on, loop_place& place, const void* loop,
                              std::size_t length, schedule how, source_place where) {
  const range_body body = {place.call, loop};
  const std::size_t grain = grain_of(how);
  const bool needs_nobody =
      on.size() == 1 || (grain == 0 ? place.hint.allows(on.number(), length) : length / 2 < grain);
  if (needs_nobody) {
    const lone_outcome alone = attempt_alone(on.core().alone(on.door()), body, length, how);
    if (alone != lone_outcome::refused) return alone == lone_outcome::complete;
  }
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  const loop_request request(length, &place, grain, is_blocks, false, where, &place.hint);
  if (!is_blocks || place.carried == nullptr) return run_scheduled(on, request, how, body);
  job work;
  work.carry<loop_share>(place.carried, loop, place.size);
  return on.run_loop(request, work, loop_ends());
}

LOCKSTEP_INLINE bool run_parts(team_host& on, const range_body& body, std::size_t length,
                               schedule how, source_place where) {
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  return run_scheduled(on, {length, place_of(body.call), grain_of(how), is_blocks, false, where},
                       how, body);
}

LOCKSTEP_INLINE bool run_by_weights(team_host& on, const range_body& body, std::size_t length,
                                    weighted_schedule& how, source_place where) {
  job work;
  work.carry<loop_share>(weighted_parts{length, &how, &body});
  return on.run_loop({on.size(), nullptr, 0, false, true, where}, work, loop_ends());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
