// SPDX-License-Identifier: MIT
// src/team/team_core.cpp -- the bodies of team_core.hpp (layer: team)
#include <lockstep/detail/team/team_core.hpp>

#include <lockstep/detail/team/environment.hpp>
#include <lockstep/detail/team/placement.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE team_core::team_core(const resolved_team& made, team_door& door)
    : size_(made.members),
      door_(door),
      team_seen_(&group_, size_, made.can_run_at_once),
      group_(size_, made.policy, stop_, nullptr, made.separates_cpus,
             team_barrier::usual_most_flags, made.groups),
      board_(region_tree(size_, region_tree::usual_width, made.groups), made.policy, way_of(made),
             0, made.anticipates, region_board::usual_most_age, &group_.barrier.separation()),
      crew_(board_, stop_, error_, made.is_crowded, &team_seen_),
      steering_(board_, {made.members, made.can_run_at_once, made.is_crowded, made.learns},
                alone(door).number()),
      region_{this, door.age(), &group_, &running_, nullptr},
      caller_region_(region_),
      seen_(team_seen_) {
  if (made.is_crowded && observers() != 0) {
    note_mark(mark_kind::crowded, "crowded", "a team has more members than CPUs for them", size_);
  }
  if (made.keeps_ledger) keep_ledger(true);
}

LOCKSTEP_INLINE bool team_core::ends_inside() noexcept {
  if (lone_region::end_team(this)) return true;
  if (nesting::contains(region_) || nesting::contains(caller_region_)) {
    destroyed_inside_ = door_.callers().whose().kind;
    request_stop();
    return true;
  }
  return nesting::is_inside(this);
}

LOCKSTEP_INLINE void team_core::keep_ledger(bool yes) { detail::keep_ledger(team_seen_, yes); }

LOCKSTEP_INLINE void team_core::reset_ledger() noexcept { detail::reset_ledger(team_seen_); }

LOCKSTEP_INLINE void team_core::print_ledger() const noexcept {
  show_ledger(team_seen_, name(), environment::of_process().ledger_goes_to());
}

LOCKSTEP_INLINE team_core::~team_core() { print_ledger(); }

LOCKSTEP_INLINE bool team_core::join() {
  const region_head head = leave_caller_region();
  const nesting::inside here(region_);
  function_work<job> work = {started_.what, size_, nullptr, call_site::none()};
  return complete(head, work, started_.is_seen);
}

LOCKSTEP_INLINE void team_core::work(std::size_t rank) {
  const nesting::inside here(region_);  // whatever it runs of the user's is in one
  assignment what;
  while (board_.next(rank, what)) {
    if (what.is_loop()) {
      crew_.serve(rank, what);
    } else {
      run_part(rank, what);
    }
  }
  if (this_thread_slot().log != nullptr) worker_ends();
}

LOCKSTEP_INLINE void team_core::give_up() {
  const region_head head = leave_caller_region();
  const nesting::inside here(region_);
  given_up_work work(started_.what, size_);
  complete(head, work, started_.is_seen);
}

LOCKSTEP_INLINE void team_core::forget_others() noexcept {
  lone_region::request_stop(this);
  const bool in_region = nesting::contains(region_) || nesting::contains(caller_region_);
  door_.callers().forget_others(in_region);
  board_.reset();
  stop_.forget_others();
  error_.forget_others();
  group_.sub_groups().forget_others();
  reset_ledger();
  group_.forget_kept_values();
  if (in_region) {
    crew_.set_orphaned(true);
    request_stop();
  } else {
    running_.store(0, memory_order_relaxed);  // 1
    started_.head.region = 0;
    error_.forget();  // of a region that has ended here
    group_.end(true);
  }
}

LOCKSTEP_INLINE region_board::way team_core::way_of(const resolved_team& made) noexcept {
  return made.members > region_tree::usual_width && !made.is_crowded ? region_board::way::relayed
                                                                     : region_board::way::direct;
}

LOCKSTEP_INLINE bool team_core::run_probe(const loop_plan& plan, const region_head& head,
                                          job& what) {
  std::uint32_t done = 0;
  for (std::uint32_t next = 1; next < plan.parts; next *= 2) {
    crew_.run_unannounced(head, plan.parts, what, 0, done, next);
    done = next;
    if (crew_.is_orphaned() || !steering_.is_worth_announcing(done)) continue;
    crew_.note_begun(done);
    board_.announce_loop(head, what, plan.parts, true);
    return crew_.lead(head, what, steering_.were_asleep(), steering_.timing());
  }
  for (std::uint32_t rank = 0; rank < plan.shares; ++rank) {
    crew_.run_unannounced(head, plan.parts, what, rank, rank == 0 ? done : 0, plan.parts);
  }
  steering_.end_probe();
  return true;
}

LOCKSTEP_INLINE std::uint32_t team_core::running() const noexcept {
  return running_.load(memory_order_relaxed);  // 2
}

LOCKSTEP_INLINE void team_core::request_stop() {
  if (lone_region::request_stop(this)) return;
  const std::uint32_t region = running();
  if (region != 0) stop_.request(region);
  if (!nesting::is_inside(this)) door_.stop_lone_loops();
}

LOCKSTEP_INLINE void team_core::announce_seen(const region_head& head, const job& what,
                                              const char* kind, source_place where) {
  if (head.size > 1) board_.announce_seen(head, what);
  region_begins(seen_, {kind, head.region, head.size, 0, 0, where, nullptr, false});
}

LOCKSTEP_INLINE void team_core::run_part(std::size_t rank, const assignment& what) {
  board_.relay(rank, what, true);
  const region_head head = what.head();
  if (rank < head.size) perform(rank, head, what.line->what, what.announced.is_seen());
  if (crew_.is_orphaned()) end_of_lone_child();
  if (board_.is_leader(rank)) board_.collect(rank, what.announced);
  board_.report(rank, what.announced);
}

LOCKSTEP_INLINE bool team_core::run_shares_alone(const lone_team& of, job& what,
                                                 const loop_ends& ends) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) region_runs_inline(true);
  lone_region here(of, nesting::innermost(), of.door.look_alone());
  const nesting::inside mark(here.where());
  stop_source stop(here);
  atomic<std::size_t> tickets{0};
  loop_cells none(0);
  if (ends.prepare != nullptr) ends.prepare(ends.data, loop_plan(), none);
  const loop_common alone = {stop, tickets, 1, 1, 1};
  loop_share all(alone, 0, 0, nullptr);
  if (all.is_stopped()) return false;  // the region around was, before
  const bool goes_on = call_alone(stop, what, all);
  here.check_team();
  return goes_on;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
