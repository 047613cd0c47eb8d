// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team and external_team have in common: run() and run_loop() below are a region from top to bottom. The caller
// takes a turn (nesting.hpp), begins the region, announces it (region_board.hpp), performs its own part, collects the
// reports, and finishes. work() is the other side, what a worker does. For users: team.hpp.
//
//   CORE-1  A region has a number, never 0; running_ is it from before the first member starts until after the
//           last has reported, else 0.
//   CORE-2  Between regions the group's boards are at rest (GROUP-1 of group.hpp).
//   CORE-3  In a child process there are no workers; a region that the forking thread was in is stopped there.
//           A guest (inside_region of region.hpp) was in none.
//   CORE-4  All code of the user that runs while the caller has the turn, on any thread, runs marked as inside: it
//           may call the team, and is alone then. Hooks of threads never wait for a turn with any team.
//   CORE-5  A loop uses nothing that belongs to a member (loop_crew.hpp): any thread may run any part of it.
//   CORE-6  A member that calls exit() destroys a static team in its own region. The destructor cannot know of exit(): it
//           leaves all as it is, and stops the region. After exit() that region never ends, because it waits for
//           this member. So where it does end, the team was destroyed by mistake: the program ends with a message.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  running.store  relaxed  -      request_stop() takes a number from it; what it does with a number
//                                     that is old is harmless (STOP-1 of stop_source.hpp)
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>

#include "../../member.hpp"
#include "../loop/loop_steering.hpp"
#include "../observe/hooks.hpp"
#include "../region/nesting.hpp"
#include "../region/region_board.hpp"
#include "../region/stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class team_core {
 public:
  /// The door outlives the last thread that uses this object, or is not touched.
  LOCKSTEP_COLD team_core(const resolved_team& made, team_door& door);
  LOCKSTEP_COLD ~team_core();
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  std::size_t size() const noexcept { return size_; }
  wait_policy policy() const noexcept { return group_.barrier.policy(); }
  /// For loops without a region.
  lone_team alone(const team_door& door) const noexcept { return {this, door.age()}; }
  /// For the destructor of the team: whether the calling thread is in a region of it, or in a hook. Then everything
  /// stays as it is: CORE-6.
  LOCKSTEP_COLD bool ends_inside() noexcept;

  /// f(member&) on the first `size` members. False if the region was stopped. `workers` has make_ready(), which is
  /// called where others are needed. Before the turn nothing of the core is looked at: TURN-3 of nesting.hpp.
  template <class Workers, class Function>
  static bool run(team_door& door, team_core* core, Workers& workers, std::size_t size, Function& f,
                  call_site where = call_site{nullptr, 0}, const char* kind = "run") {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) {
      const auto make_ready = [](void* of) { static_cast<Workers*>(of)->make_ready(); };
      job what;
      what.assign<member>(f);
      return run_seen(door, core, {make_ready, &workers}, size, what, {kind, where});
    }
    const region_turn turn(door, core);
    if (!turn) return run_alone(f);
    if (size > 1) workers.make_ready();
    const region_head head = core->begin(size, core->group_.begin(size));
    const nesting::inside here(core->region_);  // up to the last of the user's code
    if (size > 1) core->board_.announce(head, f);
    // Not through the line just published: it is on its way to the others.
    core->perform(0, head, f);
    if (size > 1) core->board_.collect(0, core->board_.current());
    return core->finish(head);
  }

  /// what(loop_share&) for all shares of a loop. False if it was stopped.
  template <class Workers>
  LOCKSTEP_NOINLINE static bool run_loop(team_door& door, team_core* core, Workers& workers,
                                         const loop_request& of, job& what, const loop_ends& ends) {
    const region_turn turn(door, core);
    if (!turn) return run_loop_alone(what, ends);
    if (core->size_ > 1) workers.make_ready();
    const loop_plan& plan = core->steering_.begin(of);
    if (ends.prepare != nullptr) ends.prepare(ends.data, plan, core->group_.leaves);
    const bool is_seen = core->is_seen();
    const region_head head = core->begin(plan.shares, 0);
    if (LOCKSTEP_UNLIKELY(is_seen) && core->seen_.since != 0) core->steering_.tell(plan);
    const nesting::inside here(core->region_);
    core->run_shares(plan, head, what, of, is_seen);
    if (LOCKSTEP_UNLIKELY(is_seen)) region_ends(core->seen_);
    if (!core->end_of_region(head)) {
      core->error_.rethrow();
      return false;
    }
    if (ends.finish != nullptr) ends.finish(ends.data, plan, loop_values(core->board_));
    return true;
  }

  /// what(loop_share&) for so many shares, each once: by its member, or by a thread that waits for it and finds that
  /// it has not begun.
  template <class Workers>
  LOCKSTEP_NOINLINE static shares_outcome run_shares(team_door& door, team_core* core,
                                                     Workers& workers, const shares_request& of,
                                                     job& what) {
    const region_turn turn(door, core);
    if (!turn) return {run_loop_alone(what, loop_ends{nullptr, nullptr, nullptr}), false};
    workers.make_ready();
    const bool wakes = core->steering_.begin_shares(of);
    const bool is_seen = core->is_seen();
    const region_head head = core->begin(of.shares, 0);
    const nesting::inside here(core->region_);
    core->crew_.reset_counts();
    core->board_.announce_loop(head, what, 1, wakes);
    if (LOCKSTEP_UNLIKELY(is_seen)) {
      core->is_seen_as("plan", head, 1, 0, {of.where, nullptr, false});
    }
    const bool all_came =
        core->crew_.lead(head, what, wakes && core->steering_.were_asleep(), nullptr);
    core->steering_.end_shares();
    if (LOCKSTEP_UNLIKELY(is_seen)) region_ends(core->seen_);
    if (core->end_of_region(head)) return {true, all_came};
    core->error_.rethrow();
    return {false, all_came};
  }

  /// A region of one member, the calling thread.
  template <class Function>
  static bool run_alone(Function& f) {
    stop_source stop;
    member_state own(stop);
    member_access alone(own);
    return call_alone(stop, f, alone.self);
  }
  /// The same for a loop.
  static bool run_loop_alone(job& what, const loop_ends& ends) {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) region_runs_inline(true);
    stop_source stop;
    atomic<std::size_t> tickets{0};
    loop_cells none(0);
    if (ends.prepare != nullptr) ends.prepare(ends.data, loop_plan(), none);
    const loop_common alone = {stop, tickets, 1, 1, 1};
    loop_share all(alone, 0, 0, nullptr);
    return call_alone(stop, what, all);
  }

  /// run() in two halves, for f on all members: a region that is open between them. In a turn of the caller.
  /// For users: started_region of region.hpp.
  template <class Function>
  void start(Function& f, call_site where = call_site{nullptr, 0},
             const char* kind = "started region") {
    started_.what.assign<member>(f);
    started_.is_seen = is_seen();
    started_.head = begin(size_, group_.begin(size_));
    if (LOCKSTEP_UNLIKELY(started_.is_seen)) {
      announce_seen({kind, where}, started_.head, started_.what);
    } else if (size_ > 1) {
      board_.announce(started_.head, f);
    }
    caller_region_.outer = nesting::innermost();
    nesting::innermost() = &caller_region_;
  }
  LOCKSTEP_OUT_OF_LINE bool join();
  /// In place of join(): stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  LOCKSTEP_COLD void give_up();
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether it was the calling thread that started it; and whether that has entered no other since.
  bool has_started() const noexcept { return nesting::contains(caller_region_); }
  bool can_join() const noexcept { return nesting::innermost() == &caller_region_; }

  /// Between regions.
  LOCKSTEP_COLD void keep_ledger(bool yes);
  LOCKSTEP_COLD void reset_ledger() noexcept;
  /// What was gathered so far. Any thread, at any time. (Ledger: lockstep::ledger, which need not be known here.)
  template <class Ledger>
  Ledger ledger_so_far() const {
    Ledger result;
    result.team = name();
    result.members = size_;
    if (has_observers()) gather_ledger(team_seen_, result);
    return result;
  }
  /// Prints what there is, where LOCKSTEP_LEDGER asks for it.
  LOCKSTEP_COLD void print_ledger() const noexcept;

  /// The number of the region that runs, or 0.
  LOCKSTEP_COLD std::uint32_t running() const noexcept;
  /// Stops the region that runs, if any. Any thread.
  LOCKSTEP_COLD void request_stop();
  /// For objects in which members of regions wait.
  stop_source& stop() noexcept { return stop_; }

  /// What a worker does until close().
  LOCKSTEP_OUT_OF_LINE void work(std::size_t rank);
  void close() { board_.close(); }
  bool is_closed() const noexcept { return board_.is_closed(); }
  /// While no worker lives: those that are started next begin at the beginning.
  void reopen() noexcept { board_.reset(); }
  /// What marks a thread of this team that runs the user's hooks: no team is younger, so none is waited for.
  nesting::region hook_region() const noexcept {
    return {this, region_.age + nesting::most_age_apart, nullptr, nullptr, nullptr};
  }

  /// In a child process, which has none of the workers. A region that the calling thread is in is stopped;
  /// any other has ended.
  LOCKSTEP_COLD void forget_others() noexcept;

 private:
  const char* name() const noexcept { return door_.callers().whose().name; }
  static LOCKSTEP_COLD region_board::way way_of(const resolved_team& made) noexcept;

  /// Destroys the values of a region, whether its end throws or not.
  class values_until_end {
   public:
    explicit values_until_end(group& of) noexcept : of_(of) {}
    ~values_until_end() { of_.destroy_kept_values(); }
    values_until_end(const values_until_end&) = delete;
    values_until_end& operator=(const values_until_end&) = delete;

   private:
    group& of_;
  };

  /// `phase`: of the barrier when the region begins.
  region_head begin(std::size_t size, std::uint32_t phase) noexcept {
    if (++number_ == 0) number_ = 1;
    stop_.begin(number_);
    running_.store(number_, memory_order_relaxed);  // 1
    if (region_.outer != nesting::innermost()) region_.outer = nesting::innermost();
    return region_head{number_, static_cast<std::uint32_t>(size), phase};
  }
  /// Before a region: whether observers see it.
  bool is_seen() noexcept { return LOCKSTEP_UNLIKELY(observers() != 0) && begin_to_tell(); }
  bool begin_to_tell() noexcept {
    region_comes(seen_);
    return true;
  }
  struct callback {
    void (*function)(void*);
    void* with;
    void operator()() const { function(with); }
  };
  struct region_name {
    const char* kind;
    call_site where;
  };
  /// run() where they see the region. Its announcement says so: where nobody sees it the caller pays for one look, the
  /// others for a test of the word that they have read.
  LOCKSTEP_OUT_OF_LINE static bool run_seen(team_door& door, team_core* core,
                                            const callback& make_ready, std::size_t size, job& what,
                                            const region_name& name);
  LOCKSTEP_OUT_OF_LINE void announce_seen(const region_name& name, const region_head& head,
                                          job& what);
  LOCKSTEP_OUT_OF_LINE void perform_seen(std::size_t rank, const region_head& head, job& what);
  struct place_of_region {
    call_site where;
    const void* place;
    bool is_loop;
  };
  void is_seen_as(const char* kind, const region_head& head, std::uint32_t parts,
                  std::uint64_t iterations, const place_of_region& at) noexcept {
    region_begins(
        seen_, {kind, head.region, head.size, parts, iterations, at.where, at.place, at.is_loop});
  }
  /// A member's part of a region. Requires: the calling thread is marked as inside it.
  template <class Function>
  void perform(std::size_t rank, const region_head& head, Function& f) {
    member_state& self = group_.enter(rank, head.size, head.region, head.phase);
    member_access here(self);
    call_guarded(stop_, head.region, error_, first_error::position_of(rank, 0), f, here.self);
  }
  /// The caller's part of a loop; every share is done when it returns.
  void run_shares(const loop_plan& plan, const region_head& head, job& what, const loop_request& of,
                  bool is_seen) {
    crew_.reset_counts();
    bool all_came = true;
    const bool is_announced = plan.shares > 1 && !plan.is_probe;
    if (is_announced) board_.announce_loop(head, what, plan.parts, plan.wakes);
    if (LOCKSTEP_UNLIKELY(is_seen)) {
      is_seen_as("loop", head, plan.parts, of.iterations, {of.where, of.place, true});
    }
    if (LOCKSTEP_UNLIKELY(plan.is_probe)) {
      all_came = run_probe(plan, head, what);
    } else if (is_announced) {
      all_came =
          crew_.lead(head, what, plan.wakes && steering_.were_asleep(), steering_.listener());
    } else {
      crew_.run_alone(head, what);
      if (plan.is_timed) steering_.after_part(true);
    }
    steering_.end(all_came);
  }
  /// The same for a loop of an unknown place: STEER-4. True if every other member came in time.
  LOCKSTEP_COLD bool run_probe(const loop_plan& plan, const region_head& head, job& what);
  /// No thread is in the region any more. False if it was stopped.
  bool end_of_region(const region_head& head) noexcept {
    running_.store(0, memory_order_relaxed);              // 1
    if (crew_.is_alone()) crew_.orphaned_by_fork(false);  // members read that line
    if (!stop_.requested(head.region)) return true;
    if (destroyed_inside_ != nullptr) fail_destroyed_inside(destroyed_inside_);
    return false;
  }
  /// The same, with what a `run` leaves. Throws the exception of a member, if there is one.
  bool finish(const region_head& head) {
    const bool goes_on = end_of_region(head);
    group_.end(!goes_on);
    const values_until_end values(group_);
    if (!goes_on) error_.rethrow();
    return goes_on;
  }

  /// What a worker has to do in a `run`.
  LOCKSTEP_OUT_OF_LINE void run_part(std::size_t rank, const assignment& what);

  region_head leave_caller_region() noexcept {
    const region_head head = started_.head;
    started_.head.region = 0;
    nesting::innermost() = caller_region_.outer;
    return head;
  }

  struct open_region {
    region_head head;
    job what;
    bool is_seen;
  };

  line_gap before_;
  const std::size_t size_;
  team_door& door_;
  team_view team_seen_;  // here, where nobody writes: members look at it in each region
  stop_source stop_;
  group group_;
  region_board board_;
  first_error error_;
  loop_crew crew_;
  // The caller's own.
  loop_steering steering_;
  nesting::region region_;
  nesting::region
      caller_region_;  // of the caller that has started a region: its workers are not in it
  std::uint32_t number_ = 0;
  wait_word running_{0};
  region_view seen_;
  open_region started_ = {};
  const char* destroyed_inside_ = nullptr;  ///< what it was, once a member has destroyed the team
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_BODIES
#include "team_core.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP
