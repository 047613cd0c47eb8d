// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_core.ipp -- the bodies of team_core.hpp (layer: team)
//
// Memory order (# marks the line): see team_core.hpp
//   #  access         order    pairs  why it suffices
//   1  running.store  relaxed  -      as there
//   2  running.load   relaxed  -      as there
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_CORE_IPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_CORE_IPP

#include "environment.hpp"
#include "team_core.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD team_core::team_core(const resolved_team& made, team_door& door)
    : size_(made.members),
      door_(door),
      team_seen_(&group_, size_, made.can_run_at_once),
      group_(size_, made.policy, stop_, nullptr, made.separates_cpus),
      board_(region_tree(size_), made.policy, way_of(made), 0, made.anticipates,
             region_board::usual_most_age, made.separates_cpus),
      crew_(board_, stop_, error_, made.is_crowded, &team_seen_),
      steering_(board_, made, lone_team{this, door.age()}.number()),
      region_{this, door.age(), &group_, &running_, nullptr},
      caller_region_(region_),
      seen_(team_seen_) {
  if (made.is_crowded && observers() != 0) {
    note_mark(mark_kind::crowded, "crowded", "a team has more members than CPUs for them", size_);
  }
  if (made.keeps_ledger) keep_ledger(true);
}

LOCKSTEP_COLD bool team_core::ends_inside() noexcept {
  if (lone_loop::end_team(this)) return true;
  if (nesting::contains(region_) || nesting::contains(caller_region_)) {
    destroyed_inside_ = door_.callers().whose().kind;
    request_stop();
    return true;
  }
  return nesting::is_inside(this);
}

LOCKSTEP_COLD void team_core::keep_ledger(bool yes) {
  if (yes) need_observers("team::keep_ledger");
  detail::keep_ledger(team_seen_, yes);
}

LOCKSTEP_COLD void team_core::reset_ledger() noexcept { detail::reset_ledger(team_seen_); }

LOCKSTEP_COLD void team_core::print_ledger() const noexcept {
  if (has_observers()) {
    show_ledger(team_seen_, name(), environment::of_process().ledger_goes_to());
  }
}

LOCKSTEP_COLD team_core::~team_core() { print_ledger(); }

LOCKSTEP_OUT_OF_LINE bool team_core::join() {
  const region_head head = leave_caller_region();
  const nesting::inside here(region_);
  if (LOCKSTEP_UNLIKELY(started_.is_seen)) {
    perform_seen(0, head, started_.what);
  } else {
    perform(0, head, started_.what);
  }
  if (head.size > 1) board_.collect(0, board_.current());
  if (LOCKSTEP_UNLIKELY(started_.is_seen)) region_ends(seen_);
  return finish(head);
}

LOCKSTEP_OUT_OF_LINE void team_core::work(std::size_t rank) {
  const nesting::inside here(region_);  // whatever it runs of the user's is in one
  assignment what;
  while (board_.next(rank, what)) {
    if (what.is_loop()) {
      crew_.serve(rank, what);
    } else {
      run_part(rank, what);
    }
  }
  if (has_observers() && this_thread_slot().log != nullptr) worker_ends();
}

LOCKSTEP_COLD void team_core::give_up() {
  const region_head head = leave_caller_region();
  const nesting::inside here(region_);
  stop_.request(head.region);
  if (head.size > 1) board_.collect(0, board_.current());
  if (LOCKSTEP_UNLIKELY(started_.is_seen)) region_ends(seen_);
  error_.forget();
  finish(head);
}

LOCKSTEP_COLD void team_core::forget_others() noexcept {
  lone_loop::request_stop(this);
  const bool in_region = nesting::contains(region_) || nesting::contains(caller_region_);
  door_.callers().forget_others(in_region);
  board_.reset();
  stop_.forget_others();
  error_.forget_others();
  group_.sub_groups().forget_others();
  reset_ledger();
  group_.forget_kept_values();
  if (in_region) {
    crew_.orphaned_by_fork(true);
    request_stop();
  } else {
    running_.store(0, memory_order_relaxed);  // 1
    started_.head.region = 0;
    error_.forget();  // of a region that has ended here
    group_.end(true);
  }
}

LOCKSTEP_COLD region_board::way team_core::way_of(const resolved_team& made) noexcept {
  return made.members > region_tree::usual_width && !made.is_crowded ? region_board::way::relayed
                                                                     : region_board::way::direct;
}

LOCKSTEP_COLD bool team_core::run_probe(const loop_plan& plan, const region_head& head, job& what) {
  std::uint32_t done = 0;
  for (std::uint32_t next = 1; next < plan.parts; next *= 2) {
    crew_.run_unannounced(head, plan.parts, what, 0, done, next);
    done = next;
    if (crew_.is_alone() || !steering_.is_worth_announcing(done)) continue;
    crew_.note_begun(done);
    board_.announce_loop(head, what, plan.parts, true);
    return crew_.lead(head, what, steering_.were_asleep(), steering_.listener());
  }
  for (std::uint32_t rank = 0; rank < plan.shares; ++rank) {
    crew_.run_unannounced(head, plan.parts, what, rank, rank == 0 ? done : 0, plan.parts);
  }
  steering_.end_probe();
  return true;
}

LOCKSTEP_COLD std::uint32_t team_core::running() const noexcept {
  return running_.load(memory_order_relaxed);  // 2
}

LOCKSTEP_COLD void team_core::request_stop() {
  if (lone_loop::request_stop(this)) return;
  const std::uint32_t region = running();
  if (region != 0) stop_.request(region);
}

LOCKSTEP_OUT_OF_LINE void team_core::run_part(std::size_t rank, const assignment& what) {
  board_.relay(rank, what, true);
  const region_head head = what.head();
  if (rank < head.size) {
    if (LOCKSTEP_UNLIKELY(what.announced.is_seen())) {
      perform_seen(rank, head, what.line->what);
    } else {
      perform(rank, head, what.line->what);
    }
  }
  if (crew_.is_alone()) end_of_lone_child();
  if (board_.is_leader(rank)) board_.collect(rank, what.announced);
  board_.report(rank, what.announced);
}

LOCKSTEP_OUT_OF_LINE bool team_core::run_seen(team_door& door, team_core* core,
                                              const callback& make_ready, std::size_t size,
                                              job& what, const region_name& name) {
  const region_turn turn(door, core);
  if (!turn) {
    region_runs_inline(false);
    return run_alone(what);
  }
  if (size > 1) make_ready();
  core->begin_to_tell();
  const region_head head = core->begin(size, core->group_.begin(size));
  const nesting::inside here(core->region_);
  core->announce_seen(name, head, what);
  core->perform_seen(0, head, what);
  if (size > 1) core->board_.collect(0, core->board_.current());
  region_ends(core->seen_);
  return core->finish(head);
}

LOCKSTEP_OUT_OF_LINE void team_core::announce_seen(const region_name& name, const region_head& head,
                                                   job& what) {
  if (head.size > 1) board_.announce_seen(head, what);
  is_seen_as(name.kind, head, 0, 0, {name.where, nullptr, false});
}

LOCKSTEP_OUT_OF_LINE void team_core::perform_seen(std::size_t rank, const region_head& head,
                                                  job& what) {
  member_state& self = group_.enter(rank, head.size, head.region, head.phase);
  part_begins(team_seen_, self);
  member_access here(self);
  call_guarded(stop_, head.region, error_, first_error::position_of(rank, 0), what, here.self);
  part_ends(self);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_CORE_IPP
