// SPDX-License-Identifier: MIT
// src/team/team_host.cpp -- team_host.hpp, and loops that run on their caller alone, without a region (layer: team)
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
#include <lockstep/detail/team/team_host.hpp>

#include <new>

#include <lockstep/detail/wait/misuse.hpp>
#include <lockstep/region.hpp>
#include "../loop/loops.hpp"
#include "../loop/partition.hpp"
#include "../platform/fork.hpp"
#include "placement.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE team_host::team_host(const team_options& options, const resolved_team& made,
                                     thread_owner owns)
    : size_(made.members), policy_(made.policy), owner_(owns) {
  static_assert(sizeof(team_door) <= door_size && alignof(team_door) <= 8, "it has room");
  const char* const kind = owns == thread_owner::user   ? "lockstep::external_team"
                           : owns == thread_owner::team ? "lockstep::team"
                                                        : "OpenMP";
  ::new (static_cast<void*>(door_)) team_door(policy_, kind, made.name.c_str());
  number_ = door().number();
  owner<team_core> core(new team_core(made, door(), options, owns));
  owner<fork_listener> listener(new fork_listener(
      core.get(), [](void* self) noexcept { static_cast<team_core*>(self)->forget_others(); }));
  core_ = core.get();  // hooks of its threads may call the team
  if (owns == thread_owner::team) {
    display_first_team(made);
    core_->make_ready();
  }
  listener_ = std::move(listener);
  core.release();
}

// If the core stays, a thread may still come and use it.
LOCKSTEP_INLINE team_host::~team_host() {
  listener_.reset();
  while (misuse::forget(this, misuse::role::plan, 0)) continue;
  if (door().shut(core_->ends_inside())) delete core_;  // its hooks may still call the team
  // A thread that comes to a static team after its end waits for the end of the program. Volatile: otherwise the
  // compiler drops a store to an object that ends.
  if (diagnoses_misuse && !is_static(this)) *const_cast<volatile std::uint32_t*>(&number_) = 0;
}

LOCKSTEP_INLINE bool team_host::run_some(std::size_t members, const job& part, source_place where) {
  checked_range(
      owner_ == thread_owner::user ? "lockstep::external_team::run" : "lockstep::team::run",
      "members", members, 1, size_);
  return run(members, part, where);
}

LOCKSTEP_INLINE started_region team_host::start(const job& part, source_place where,
                                                const char* kind) {
  if (diagnoses_misuse) check_lives();
  check_outside("start");
  caller_turn turn(door().callers());
  core_->make_ready();
  core_->start(part, where, kind);
  turn.keep();
  return started_region(*core_, exceptions_in_flight());
}

LOCKSTEP_INLINE started_region team_host::started(int in_flight) noexcept {
  if (core_->started() == 0 || !core_->can_join()) return started_region();
  return started_region(*core_, in_flight);
}

LOCKSTEP_INLINE void team_host::check_outside(const char* function) {
  if (door().may_wait()) return;
  fail_use(
      "%s::%s: called inside a region of this team, or of one that was made later, and "
      "would wait for it; call it after run() has returned",
      door().kind(), function);
}

LOCKSTEP_INLINE void team_host::check_lives() const {
  if (number_ != 0) return;
  end_program("lockstep::team at %p: used after its end; a team outlives its last call",
              static_cast<const void*>(this));
}

LOCKSTEP_HOT LOCKSTEP_INLINE bool team_host::run(std::size_t members, const job& part,
                                                 source_place where, const char* kind) {
  team_core::region_work work(part, kind, where, members);
  return team_core::live(*this, work);
}

LOCKSTEP_HOT LOCKSTEP_INLINE loop_outcome team_host::run_loop(const loop_request& of,
                                                              const job& what) {
  team_core::region_work work(what, of.is_plan ? "plan" : "loop", of.where, 0, &of);
  const bool is_complete = team_core::live(*this, work);
  return {is_complete, work.all_came};
}

/// Stands for a member that is alone when loops.hpp hands out a range. It also has its tickets.
struct lone_share {
  const lone_region& loop;
  std::size_t ticket;

  static constexpr std::size_t rank() noexcept { return 0; }
  static constexpr std::size_t size() noexcept { return 1; }
  static constexpr index_range block_of(index_range range) noexcept { return range; }
  bool is_stopped() const noexcept { return loop.is_stopped(); }
  std::size_t take() noexcept { return ticket++; }
};

/// Calls part(here), or refuses: LONE-1, LONE-6.
template <class Part>
LOCKSTEP_ALWAYS_INLINE lone_outcome attempt_alone(const lone_team& of, const Part& part) {
  const nesting::region*& innermost = innermost_region();
  const team_door& door = of.door;
  const std::uint32_t look = door.look_alone();
  if (innermost != nullptr || team_door::is_closed(look)) return lone_outcome::refused;
  if (LOCKSTEP_UNLIKELY(observers() != 0)) return lone_outcome::refused;
  const lone_region here(of, nullptr, look);
  const nesting::inside mark(here.where(), innermost);
  call_until_stopped([&] { part(here); }, [&] { return here.is_stopped(); });
  if (LOCKSTEP_UNLIKELY(here.is_ended())) {
    here.check_team();
    return lone_outcome::stopped;
  }
  return door.is_stopped_alone(look) ? lone_outcome::stopped : lone_outcome::complete;
}
LOCKSTEP_INLINE lone_outcome team_host::run_alone(const range_body& body, std::size_t length) {
  return attempt_alone(core().alone(), [&](const lone_region&) {
    if (length > 0) body(0, length);
  });
}
LOCKSTEP_INLINE lone_outcome team_host::run_alone(const range_body& body, std::size_t length,
                                                  schedule how) {
  return attempt_alone(core().alone(), [&](const lone_region& here) {
    lone_share share = {here, 0};
    loops::hand_out_in(share, share, length, how, body);
  });
}

LOCKSTEP_INLINE index_range block_of_share(const loop_share& me, std::size_t length) noexcept {
  return me.block_of(index_range{0, length});
}

LOCKSTEP_INLINE bool team_host::run_place(loop_place& place, const void* loop, std::size_t length,
                                          schedule how, source_place where) {
  const bool is_blocks = how.kind() == schedule_kind::static_blocks;
  job work;
  if (is_blocks && place.carried != nullptr) {
    work.carry<loop_share>(place.carried, loop, place.size);
  } else {
    const range_body body(place.call, loop);
    work.carry<loop_share>(
        [length, how, body](loop_share& me) { loops::hand_out_in(me, me, length, how, body); });
  }
  return run_loop({length, &place.pace, grain_of(how), is_blocks, where}, work).is_complete;
}

LOCKSTEP_INLINE bool team_host::run_by_weights(const range_body& body, std::size_t length,
                                               weighted_schedule& how, source_place where) {
  weighted_blocks& blocks = weighted_blocks::of(how);
  job work;
  work.carry<loop_share>([length, &blocks, &body](loop_share& me) {
    blocks.run_block(length, me.rank(), me.size(), body);
  });
  const auto prepare = [](const loop_plan&, cell*) {};
  const auto learn = [&](const loop_plan& plan, region_board&) { blocks.learn(plan.shares); };
  const loop_ends ends = {prepare, learn};
  return run_loop({size(), nullptr, 0, false, where, &ends}, work).is_complete;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
