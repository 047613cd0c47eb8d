// SPDX-License-Identifier: MIT
// src/team/team_core.cpp -- the bodies of team_core.hpp (layer: team)
#include "team_core.hpp"

#include <new>

#include <lockstep/weighted_schedule.hpp>
#include "../loop/loops.hpp"
#include "environment.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_ALWAYS_INLINE void team_core::perform_part(std::size_t rank, const region_head& head,
                                                    const job& f, bool is_seen) {
  member_state& self = group_.state(rank);
  self.enter(head.size, head.region, head.phase);
  if (LOCKSTEP_UNLIKELY(is_seen)) part_begins(team_seen_, self);
  member_access here(self);
  call_guarded(stop_, head.region, error_, rank, f, here.self);
  if (diagnoses_misuse) group_.note_return(self);
  if (LOCKSTEP_UNLIKELY(is_seen)) part_ends(self);
}

/// The work of a region. In a `run` every member calls a function; in a loop each share is run by its member or for it.
struct team_core::region_work {
  const job& what;
  const char* const kind;  ///< for observers
  const source_place where;
  const bool is_run;   ///< every member takes part: no share is taken over
  std::uint32_t size;  ///< number of shares: in a `run` one for each member
  const loop_request* loop = nullptr;
  loop_ends* ends = nullptr;        ///< of a loop, or null
  const loop_plan* plan = nullptr;  ///< of a loop, once it begins
  bool is_seen = false, is_given_up = false, all_came = true;

  region_work(const job& f, const char* called, source_place at, std::size_t count,
              bool needs_all) noexcept
      : what(f),
        kind(called),
        where(at),
        is_run(needs_all),
        size(static_cast<std::uint32_t>(count)) {}
};

// The life of a region. Before it has the turn, the thread reads nothing of the core: DOOR-2 of turns.hpp.
LOCKSTEP_ALWAYS_INLINE bool team_core::live(team_host& host, region_work& work) {
  if (diagnoses_misuse) host.check_lives();
  team_door& door = host.door();
  team_core* const core = &host.core();
  const nesting::region*& innermost = nesting::innermost();
  if (LOCKSTEP_UNLIKELY(!door.callers().take_turn_for(door.age(), core, innermost))) {
    return run_inline(core->alone(), work.what, work.is_run);
  }
  const caller_turn turn(door.callers(), has_begun_t());
  if ((work.is_run ? work.size : core->size_) > 1 && core->lacks_threads()) core->make_ready();
  const region_head head = core->begin(work, innermost);
  core->announce(head, work);
  const nesting::inside here(core->region_, innermost);  // until the last code of the user has run
  core->perform(head, work);
  core->collect(head, work);
  return core->finish(head, work);
}

/// Gives the region its size, its number, and the phase of the barrier that it begins after.
LOCKSTEP_ALWAYS_INLINE region_head team_core::begin(region_work& work,
                                                    const nesting::region* outer) {
  work.is_seen = observers() != 0;
  if (!work.is_run) {
    work.plan = &crew_.plan(*work.loop);
    work.size = work.plan->shares;
    if (work.ends != nullptr && work.size > 1) work.ends->prepare(*work.plan, &group_.leaves[0]);
  } else if (work.size != group_.size()) {
    group_.set_size(work.size);
  }
  if (LOCKSTEP_UNLIKELY(work.is_seen)) region_comes(seen_);
  const std::uint32_t number = number_ + 1 != 0 ? number_ + 1 : 1;
  number_ = number;
  if (LOCKSTEP_UNLIKELY(number % stop_source::stride == 0)) stop_.keep_near(number);
  running_.store(number, memory_order_relaxed);  // 1
  if (region_.outer != outer) region_.outer = outer;
  return {number, work.size, work.is_run ? group_.begin() : 0};
}

/// Tells the workers, and observers.
LOCKSTEP_ALWAYS_INLINE void team_core::announce(const region_head& head, const region_work& work) {
  if (work.is_run ? work.size > 1 : !crew_.is_alone()) {
    board_.announce(head, work.what, work.is_run ? 0 : work.plan->parts,
                    work.is_run || work.plan->wakes, work.is_seen);
  }
  if (LOCKSTEP_UNLIKELY(work.is_seen)) {
    tell_begin(head, work.kind, work.where, work.loop, work.plan);
  }
}

/// The caller's part. It does not read the line just published, which is on its way to the workers.
LOCKSTEP_ALWAYS_INLINE void team_core::perform(const region_head& head, region_work& work) {
  if (work.is_given_up) {
    stop_.request(head.region);
  } else if (work.is_run) {
    perform_part(0, head, work.what, work.is_seen);
  } else {
    work.all_came = crew_.lead(head.region, work.what);
  }
}

/// Waits until all have reported. In a loop lead() has done so.
LOCKSTEP_ALWAYS_INLINE void team_core::collect(const region_head& head, const region_work& work) {
  if (!work.is_run || head.size <= 1) return;
  board_.collect(0, board_.current());
  board_.expect_next();
}

/// Requires: no thread is in the region any more. Puts all at rest. False if the region was stopped.
LOCKSTEP_ALWAYS_INLINE bool team_core::finish(const region_head& head, const region_work& work) {
  if (LOCKSTEP_UNLIKELY(work.is_seen)) region_ends(seen_);
  running_.store(0, memory_order_relaxed);             // 1
  if (crew_.is_orphaned()) crew_.set_orphaned(false);  // members read that line
  const bool goes_on = !stop_.requested(head.region);
  if (!goes_on && destroyed_inside_ != nullptr) fail_destroyed_inside(destroyed_inside_);
  if (work.is_given_up) error_.forget();
  if (work.is_run) {
    group_.come_to_rest(!goes_on);
  } else if (goes_on && work.ends != nullptr && head.size > 1) {
    work.ends->finish(*work.plan, board_);
  }
  if (LOCKSTEP_UNLIKELY(!goes_on)) error_.rethrow();
  return goes_on;
}

LOCKSTEP_INLINE void team_host::check_lives() const {
  if (number_ != 0) return;
  end_program("lockstep::team at %p: used after its end; a team outlives its last call",
              static_cast<const void*>(this));
}

LOCKSTEP_INLINE bool team_host::run(std::size_t members, const job& part, source_place where,
                                    const char* kind) {
  team_core::region_work work(part, kind, where, members, true);
  return team_core::live(*this, work);
}

LOCKSTEP_INLINE loop_outcome team_host::run_loop(const loop_request& of, const job& what,
                                                 loop_ends* ends) {
  team_core::region_work work(what, of.is_plan ? "plan" : "loop", of.where, 0, false);
  work.loop = &of;
  work.ends = ends;
  const bool is_complete = team_core::live(*this, work);
  return {is_complete, work.all_came};
}

LOCKSTEP_INLINE void team_core::start(const job& f, source_place where, const char* kind) {
  started_.what = f;
  region_work work(started_.what, kind, where, size_, true);
  started_.head = begin(work, nesting::innermost());
  started_.is_seen = work.is_seen;
  announce(started_.head, work);
  caller_region_.outer = nesting::innermost();
  nesting::innermost() = &caller_region_;
}

LOCKSTEP_INLINE bool team_core::join(bool gives_up) {
  const region_head head = started_.head;
  started_.head.region = 0;
  nesting::innermost() = caller_region_.outer;
  const nesting::inside here(region_);
  region_work work(started_.what, nullptr, call_site::none(), size_, true);
  work.is_seen = started_.is_seen;
  work.is_given_up = gives_up;
  perform(head, work);
  collect(head, work);
  return finish(head, work);
}

/// The caller is the only member of a lone region: turns.hpp.
LOCKSTEP_INLINE bool team_core::run_inline(const lone_team& of, const job& what, bool is_run) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) region_runs_inline(!is_run);
  lone_region here(of, nesting::innermost(), of.door.look_alone());
  const nesting::inside mark(here.where());
  stop_source stop(here);
  bool goes_on;
  if (is_run) {
    member_state own(stop);
    member_access alone(own);
    goes_on = call_alone(stop, what, alone.self);
  } else {
    atomic<std::size_t> tickets{0};
    loop_share all(stop, tickets, 1, 1, 1, 0, 0);
    if (all.is_stopped()) return false;  // the region around it was stopped before
    goes_on = call_alone(stop, what, all);
  }
  here.check_team();
  return goes_on;
}

LOCKSTEP_INLINE void team_core::tell_begin(region_head head, const char* kind, source_place where,
                                           const loop_request* loop, const loop_plan* plan) {
  const bool is_loop = loop != nullptr && !loop->is_plan;
  if (is_loop && seen_.since != 0) crew_.tell();
  region_begins(seen_,
                {kind, head.region, head.size, loop != nullptr ? plan->parts : 0,
                 is_loop ? loop->iterations : 0, where, is_loop ? loop->place : nullptr, is_loop});
}

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
LOCKSTEP_INLINE lone_outcome team_host::run_alone(const range_body& body, std::size_t length) {
  return attempt_alone(core().alone(), [&](const lone_region&, std::uint32_t) {
    if (length > 0) body(0, length);
  });
}
LOCKSTEP_INLINE lone_outcome team_host::run_alone(const range_body& body, std::size_t length,
                                                  schedule how) {
  return attempt_alone(core().alone(), [&](const lone_region& here, std::uint32_t look) {
    lone_share share = {here, door(), look, 0};
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
  job work;
  work.carry<loop_share>([length, &how, &body](loop_share& me) {
    how.run_block(me.region(), index_range{0, length}, me.rank(), me.size(), body);
  });
  return run_loop({size(), nullptr, 0, false, where}, work).is_complete;
}

LOCKSTEP_INLINE team_core::team_core(const resolved_team& made, team_door& door,
                                     const team_options& options, thread_owner owner)
    : size_(made.members),
      door_(door),
      team_seen_(&group_, size_, made.can_run_at_once),
      group_(size_, made.policy, stop_, nullptr, made.separates_cpus,
             team_barrier::usual_most_flags, made.groups),
      board_(rank_tree(size_, rank_tree::usual_width, made.groups,
                       made.is_crowded ? rank_tree::way::direct : rank_tree::way::relayed),
             made.policy, group_.barrier.separation(), 0, made.anticipates),
      crew_(board_, stop_, error_,
            {made.members, made.can_run_at_once, made.is_crowded, made.learns, door.number()},
            &team_seen_),
      region_{this, door.age(), &group_, &running_, nullptr},
      caller_region_(region_),
      seen_(team_seen_),
      owner_(owner),
      cpu_of_rank_(made.cpu_of_rank),
      on_start_(options.on_start()),
      on_exit_(options.on_exit()),
      claimed_(owner == thread_owner::user ? size_ : 0) {
  if (made.is_crowded && observers() != 0) {
    note_mark(mark_kind::crowded, "crowded", "a team has more members than CPUs for them", size_);
  }
  if (made.keeps_ledger) keep_ledger(team_seen_, true);
}

LOCKSTEP_INLINE bool team_core::ends_inside() noexcept {
  if (lone_region::end_team(this)) return true;
  if (nesting::contains(region_) || nesting::contains(caller_region_)) {
    destroyed_inside_ = door_.kind();
    request_stop();
    return true;
  }
  return nesting::is_inside(this);
}

LOCKSTEP_INLINE void team_core::print_ledger() const noexcept {
  show_ledger(team_seen_, name(), environment::of_process().ledger_goes_to());
}

LOCKSTEP_INLINE void team_core::work(std::size_t rank) {
  const nesting::inside here(region_);  // code of the user runs marked as inside: CORE-4
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

LOCKSTEP_INLINE void team_core::forget_others() noexcept {
  workers_ = nullptr;
  started_threads_ = 0;
  is_child_ = true;
  if (are_gone()) door_.close_to_lone_loops();
  lone_region::request_stop(this);
  const bool in_region = nesting::contains(region_) || nesting::contains(caller_region_);
  door_.callers().forget_others(in_region);
  board_.reset();
  stop_.forget_others();
  error_.forget_others();
  group_.forget_others();
  reset_ledger(team_seen_);
  group_.forget_kept_values();
  if (in_region) {
    crew_.set_orphaned(true);
    request_stop();
  } else {
    running_.store(0, memory_order_relaxed);  // 1
    started_.head.region = 0;
    error_.forget();  // the error of a region that has ended in this process
    group_.come_to_rest(true);
  }
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

LOCKSTEP_INLINE void team_core::run_part(std::size_t rank, const assignment& what) {
  board_.expect_report(rank);
  board_.relay(rank, what, true);
  const region_head head = what.head();
  if (rank < head.size) perform_part(rank, head, what.line->what, what.announced.is_seen());
  if (crew_.is_orphaned()) end_of_lone_child();
  if (board_.is_leader(rank)) board_.collect(rank, what.announced);
  board_.report(rank, what.announced);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
