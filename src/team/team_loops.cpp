// SPDX-License-Identifier: MIT
// src/team/team_loops.cpp -- team_loops.hpp (layer: team)
#include <lockstep/detail/team/team_loops.hpp>

#include <lockstep/weighted_schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE index_range block_of_loop(const loop_share& me, std::size_t length) noexcept {
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

LOCKSTEP_INLINE bool team_loops::run_scheduled(const range_body& body, std::size_t length,
                                               schedule how, call_site where,
                                               lone_hint* hint) const {
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  job work;
  work.carry<loop_share>(scheduled_parts{length, how, &body});
  return on_.run_loop({length, place_of(body.call), grain_of(how), is_blocks, false, where, hint},
                      work, no_ends());
}

LOCKSTEP_INLINE bool team_loops::run_by_weights(const range_body& body, std::size_t length,
                                                weighted_schedule& how, call_site where) const {
  job work;
  work.carry<loop_share>(weighted_parts{length, &how, &body});
  return on_.run_loop({on_.size(), nullptr, 0, false, true, where}, work, no_ends());
}

LOCKSTEP_INLINE bool team_loops::run_reduction(const reductions::operations& what,
                                               const reductions::operands& of, std::size_t length,
                                               std::size_t grain, void* result,
                                               call_site where) const {
  reductions::range_reduction whole(what, of, length, result);
  job work;
  work.carry<loop_share>(whole.work());
  return on_.run_loop({length, place_of(what.fold), grain, true, false, where}, work,
                      whole.ends()) &&
         whole.has_result();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
