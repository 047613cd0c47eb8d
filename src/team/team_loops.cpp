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

inline bool run_scheduled(team_host& on, const loop_request& request, schedule how,
                          const range_body& body) {
  job work;
  const std::size_t length = request.iterations;
  work.carry<loop_share>(
      [length, how, &body](loop_share& me) { loops::hand_out_in(me, me, length, how, body); });
  return on.run_loop(request, work, loop_ends()).is_complete;
}

LOCKSTEP_INLINE bool run_loop(team_host& on, loop_place& place, const void* loop,
                              std::size_t length, schedule how, source_place where) {
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  const loop_request request = {length, &place.pace, grain_of(how), is_blocks, where};
  if (!is_blocks || place.carried == nullptr) {
    return run_scheduled(on, request, how, {place.call, loop});
  }
  job work;
  work.carry<loop_share>(place.carried, loop, place.size);
  return on.run_loop(request, work, loop_ends()).is_complete;
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
    lone_share share(here, on.door(), look);
    loops::hand_out_in(share, share, length, how, body);
  });
}

LOCKSTEP_INLINE bool run_each(team_host& on, const range_body& body, std::size_t length,
                              place_pace& place) {
  return run_scheduled(on, {length, &place, 0, false, call_site::none()}, dynamic_schedule(), body);
}

LOCKSTEP_INLINE bool run_by_weights(team_host& on, const range_body& body, std::size_t length,
                                    weighted_schedule& how, source_place where) {
  job work;
  work.carry<loop_share>([length, &how, &body](loop_share& me) {
    how.run_block(me.region(), index_range{0, length}, me.rank(), me.size(), body);
  });
  return on.run_loop({on.size(), nullptr, 0, false, where}, work, loop_ends()).is_complete;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
