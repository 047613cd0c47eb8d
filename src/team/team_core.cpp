// SPDX-License-Identifier: MIT
// src/team/team_core.cpp -- the bodies of team_core.hpp (layer: team)
#include "team_core.hpp"

#include "environment.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_ALWAYS_INLINE void team_core::perform(std::size_t rank, const region_head& head,
                                               const job& f, bool is_seen) {
  member_state& self = group_.enter(rank, head.size, head.region, head.phase);
  if (LOCKSTEP_UNLIKELY(is_seen)) part_begins(team_seen_, self);
  member_access here(self);
  call_guarded(stop_, head.region, error_, first_error::position_of(rank, 0), f, here.self);
  if (diagnoses_misuse) group_.note_return(self);
  if (LOCKSTEP_UNLIKELY(is_seen)) part_ends(self);
}

/// f(member&) on every member of the region.
struct team_core::function_work {
  const job& f;
  const std::size_t size;
  const char* const kind;
  const source_place where;

  bool needs_others(const team_core&) const noexcept { return size > 1; }
  /// As the only member of a region of its own.
  bool run_alone(const lone_team& on) const { return run_function_alone(on, f); }
  size_and_phase prepare(team_core& core) const noexcept {
    return {static_cast<std::uint32_t>(size), core.group_.begin(size)};
  }
  void announce(team_core& core, const region_head& head) const {
    if (head.size > 1) core.board_.announce(head, f);
  }
  void announce_seen(team_core& core, const region_head& head) const {
    core.announce_seen(head, f, kind, where);
  }
  void perform(team_core& core, const region_head& head, bool is_seen) const {
    core.perform(0, head, f, is_seen);
  }
  void collect(team_core& core, const region_head& head) const {
    if (head.size <= 1) return;
    core.board_.collect(0, core.board_.current());
    core.board_.expect_next();
  }
  void finish(team_core& core, bool goes_on) const {
    core.group_.end(!goes_on);
    core.group_.destroy_kept_values();
  }
};

/// A loop, as loop_steering.hpp says.
struct team_core::loop_work {
  const loop_request& of;
  const job& what;
  const loop_ends& ends;
  const loop_plan* plan;

  bool needs_others(const team_core& core) const noexcept { return core.size_ > 1; }
  bool run_alone(const lone_team& on) const { return run_shares_alone(on, what, ends); }
  size_and_phase prepare(team_core& core) {
    plan = &core.steering_.begin(of);
    if (ends.prepare != nullptr) ends.prepare(ends.data, *plan, core.group_.leaves);
    return {plan->shares, 0};
  }
  bool is_announced() const noexcept { return plan->shares > 1 && !plan->is_probe; }
  void announce(team_core& core, const region_head& head) const {
    core.crew_.reset_counts();
    if (is_announced()) core.board_.announce_loop(head, what, plan->parts, plan->wakes);
  }
  void announce_seen(team_core& core, const region_head& head) const {
    announce(core, head);
    if (core.seen_.since != 0) core.steering_.tell(*plan);
    region_begins(core.seen_, {"loop", head.region, head.size, plan->parts, of.iterations, of.where,
                               of.place, true});
  }
  void perform(team_core& core, const region_head& head, bool) const {
    loop_steering& steering = core.steering_;
    bool all_came = true;
    if (LOCKSTEP_UNLIKELY(plan->is_probe)) {
      all_came = core.run_probe(*plan, head, what);
    } else if (is_announced()) {
      all_came =
          core.crew_.lead(head, what, plan->wakes && steering.were_asleep(), steering.timing());
    } else {
      core.crew_.run_alone(head, what);
      if (plan->is_timed) steering.timing()->after_parts(true);
    }
    steering.end(all_came);
  }
  /// The crew has done what was late, and has waited for the rest.
  void collect(team_core&, const region_head&) const noexcept {}
  void finish(team_core& core, bool goes_on) const {
    if (goes_on && ends.finish != nullptr) {
      ends.finish(ends.data, *plan, loop_values(core.board_));
    }
  }
};

/// Shares that are no loop's.
struct team_core::shares_work {
  const shares_request& of;
  const job& what;
  bool wakes, all_came;

  bool needs_others(const team_core&) const noexcept { return true; }
  bool run_alone(const lone_team& on) const {
    return run_shares_alone(on, what, loop_ends{nullptr, nullptr, nullptr});
  }
  size_and_phase prepare(team_core& core) {
    wakes = core.steering_.begin_shares(of);
    return {of.shares, 0};
  }
  void announce(team_core& core, const region_head& head) const {
    core.crew_.reset_counts();
    core.board_.announce_loop(head, what, 1, wakes);
  }
  void announce_seen(team_core& core, const region_head& head) const {
    announce(core, head);
    region_begins(core.seen_, {"plan", head.region, head.size, 1, 0, of.where, nullptr, false});
  }
  void perform(team_core& core, const region_head& head, bool) {
    all_came = core.crew_.lead(head, what, wakes && core.steering_.were_asleep(), nullptr);
    core.steering_.end_shares();
  }
  void collect(team_core&, const region_head&) const noexcept {}
  void finish(team_core&, bool) const noexcept {}
};

/// The second half of a region that is stopped in place of the caller's part.
struct team_core::given_up_work : function_work {
  given_up_work(const job& of, std::size_t members) noexcept
      : function_work{of, members, nullptr, call_site::none()} {}

  void perform(team_core& core, const region_head& head, bool) const {
    core.stop_.request(head.region);
  }
  void finish(team_core& core, bool goes_on) const {
    core.error_.forget();
    function_work::finish(core, goes_on);
  }
};

// The life of a region, from its caller's call to the return. Before the turn nothing of the core is looked at: DOOR-2 of
// team_door.hpp.
//
// Work says what is done in it, where regions differ:
//   needs_others  whether workers are to be there
//   run_alone     what is done in place of a region, where the caller has no turn
//   prepare       the size of the region, and the phase of the barrier when it begins
//   announce      tells the workers
//   announce_seen the same, and tells observers
//   perform       the caller's part
//   collect       waits until all have reported, or does what is left
//   finish        leaves all at rest; `goes_on`: the region was not stopped
template <class Work>
LOCKSTEP_ALWAYS_INLINE bool team_core::live(team_parts of, Work& work) {
  team_core* const core = of.core;
  const region_turn turn(of.door.callers(), of.door.age(), core);
  if (LOCKSTEP_UNLIKELY(!turn)) return work.run_alone(core->alone());
  if (work.needs_others(*core)) core->threads_->make_ready();
  const bool is_seen = observers() != 0;
  const region_head head = core->begin(work, is_seen);
  const nesting::inside here(core->region_);  // up to the last of the user's code
  return core->complete(head, work, is_seen);
}

/// The first half: the region has begun, and the workers know.
template <class Work>
LOCKSTEP_ALWAYS_INLINE region_head team_core::begin(Work& work, bool is_seen) {
  const size_and_phase wanted = work.prepare(*this);
  if (LOCKSTEP_UNLIKELY(is_seen)) region_comes(seen_);
  const std::uint32_t number = number_ + 1 != 0 ? number_ + 1 : 1;
  number_ = number;
  stop_.begin(number);
  running_.store(number, memory_order_relaxed);  // 1
  const nesting::region* const outer = nesting::innermost();
  if (region_.outer != outer) region_.outer = outer;
  const region_head head = {number, wanted.size, wanted.phase};
  if (LOCKSTEP_UNLIKELY(is_seen)) {
    const region_head told = head;  // so that the head itself need not be in memory
    work.announce_seen(*this, told);
  } else {
    work.announce(*this, head);
  }
  return head;
}

/// No thread is in the region any more. False if it was stopped.
LOCKSTEP_ALWAYS_INLINE bool team_core::end(const region_head& head) noexcept {
  running_.store(0, memory_order_relaxed);             // 1
  if (crew_.is_orphaned()) crew_.set_orphaned(false);  // members read that line
  if (!stop_.requested(head.region)) return true;
  if (destroyed_inside_ != nullptr) fail_destroyed_inside(destroyed_inside_);
  return false;
}

/// The second half: the caller's part, and the end. Requires: the calling thread is marked as inside the region.
template <class Work>
LOCKSTEP_ALWAYS_INLINE bool team_core::complete(const region_head& head, Work& work, bool is_seen) {
  work.perform(*this, head, is_seen);  // not through the line just published: it is on its way
  work.collect(*this, head);
  if (LOCKSTEP_UNLIKELY(is_seen)) region_ends(seen_);
  const bool goes_on = end(head);
  work.finish(*this, goes_on);
  if (LOCKSTEP_UNLIKELY(!goes_on)) error_.rethrow();
  return goes_on;
}

LOCKSTEP_INLINE bool team_core::run(team_parts of, std::size_t size, const job& f,
                                    source_place where, const char* kind) {
  function_work work = {f, size, kind, where};
  return live(of, work);
}

LOCKSTEP_INLINE bool team_core::run_loop(team_parts of, const loop_request& wanted, const job& what,
                                         const loop_ends& ends) {
  loop_work work = {wanted, what, ends, nullptr};
  return live(of, work);
}

LOCKSTEP_INLINE shares_outcome team_core::run_shares(team_parts of, const shares_request& wanted,
                                                     const job& what) {
  shares_work work = {wanted, what, false, false};
  const bool is_complete = live(of, work);
  return {is_complete, work.all_came};
}

LOCKSTEP_INLINE void team_core::start(const job& f, source_place where, const char* kind) {
  started_.what = f;
  started_.is_seen = observers() != 0;
  function_work work = {f, size_, kind, where};
  started_.head = begin(work, started_.is_seen);
  caller_region_.outer = nesting::innermost();
  nesting::innermost() = &caller_region_;
}

LOCKSTEP_INLINE region_head team_core::leave_caller_region() noexcept {
  const region_head head = started_.head;
  started_.head.region = 0;
  nesting::innermost() = caller_region_.outer;
  return head;
}

LOCKSTEP_INLINE bool team_core::run_function_alone(const lone_team& of, const job& f) {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) region_runs_inline(false);
  lone_region here(of, nesting::innermost(), of.door.look_alone());
  const nesting::inside mark(here.where());
  stop_source stop(here);
  member_state own(stop);
  member_access alone(own);
  const bool goes_on = call_alone(stop, f, alone.self);
  here.check_team();
  return goes_on;
}

LOCKSTEP_INLINE team_core::team_core(const resolved_team& made, team_door& door)
    : size_(made.members),
      door_(door),
      team_seen_(&group_, size_, made.can_run_at_once),
      group_(size_, made.policy, stop_, nullptr, made.separates_cpus,
             team_barrier::usual_most_flags, made.groups),
      board_(rank_tree(size_, rank_tree::usual_width, made.groups), made.policy, way_of(made),
             0, made.anticipates, region_board::usual_most_age, &group_.barrier.separation()),
      crew_(board_, stop_, error_, made.is_crowded, &team_seen_),
      steering_(board_, {made.members, made.can_run_at_once, made.is_crowded, made.learns},
                door.number()),
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
  function_work work = {started_.what, size_, nullptr, call_site::none()};
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
  return made.members > rank_tree::usual_width && !made.is_crowded ? region_board::way::relayed
                                                                     : region_board::way::direct;
}

LOCKSTEP_INLINE bool team_core::run_probe(const loop_plan& plan, const region_head& head,
                                          const job& what) {
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
  board_.expect_report(rank);
  board_.relay(rank, what, true);
  const region_head head = what.head();
  if (rank < head.size) perform(rank, head, what.line->what, what.announced.is_seen());
  if (crew_.is_orphaned()) end_of_lone_child();
  if (board_.is_leader(rank)) board_.collect(rank, what.announced);
  board_.report(rank, what.announced);
}

LOCKSTEP_INLINE bool team_core::run_shares_alone(const lone_team& of, const job& what,
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
