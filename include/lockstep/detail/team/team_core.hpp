// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team and external_team have in common. live() below is a region from top to bottom: the caller takes a turn
// (turns.hpp), begins the region, announces it (region_board.hpp), performs its own part, collects the reports, and
// finishes. All regions live so: those of run(), of loops, of plans, and those that are started and joined. work() is
// the other side, what a worker does. For users: team.hpp.
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
//   2  running.load   relaxed  -      as 1
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/loop/loop_crew.hpp>
#include <lockstep/detail/loop/loop_steering.hpp>
#include <lockstep/detail/observe/hooks.hpp>
#include <lockstep/detail/region/lone_region.hpp>
#include <lockstep/detail/region/region_board.hpp>
#include <lockstep/detail/region/stop_source.hpp>
#include <lockstep/detail/region/team_door.hpp>
#include <lockstep/member.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct resolved_team;  ///< of placement.hpp

class team_core {
 public:
  /// The door outlives the last thread that uses this object, or is not touched.
  team_core(const resolved_team& made, team_door& door);
  ~team_core();
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  std::size_t size() const noexcept { return size_; }
  wait_policy policy() const noexcept { return group_.barrier.policy(); }
  /// For what a thread runs alone.
  lone_team alone(const team_door& door) const noexcept { return {this, stop_, door}; }
  /// For the destructor of the team: whether the calling thread is in a region of it, or in a hook. Then everything
  /// stays as it is: CORE-6.
  bool ends_inside() noexcept;

  /// f(member&) on the first `size` members. False if the region was stopped. `workers` has make_ready(), which is
  /// called where others are needed. `kind` and `where`: for observers.
  template <class Workers, class Function>
  static bool run(team_door& door, team_core* core, Workers& workers, std::size_t size, Function& f,
                  call_site where = call_site::none(), const char* kind = "run") {
    function_work<Function> work = {f, size, kind, where};
    return live(door, core, workers, work);
  }
  /// what(loop_share&) for all shares of a loop. False if it was stopped.
  template <class Workers>
  LOCKSTEP_NOINLINE static bool run_loop(team_door& door, team_core* core, Workers& workers,
                                         const loop_request& of, job& what, const loop_ends& ends) {
    loop_work work = {of, what, ends, nullptr};
    return live(door, core, workers, work);
  }
  /// what(loop_share&) for so many shares, each once: by its member, or by a thread that waits for it and finds that
  /// it has not begun.
  template <class Workers>
  LOCKSTEP_NOINLINE static shares_outcome run_shares(team_door& door, team_core* core,
                                                     Workers& workers, const shares_request& of,
                                                     job& what) {
    shares_work work = {of, what, false, false};
    const bool is_complete = live(door, core, workers, work);
    return {is_complete, work.all_came};
  }

  /// run() in two halves, for f on all members: a region that is open between them. In a turn of the caller.
  /// For users: started_region of region.hpp.
  template <class Function>
  void start(Function& f, call_site where = call_site::none(),
             const char* kind = "started region") {
    started_.what.assign<member>(f);
    started_.is_seen = observers() != 0;
    function_work<Function> work = {f, size_, kind, where};
    started_.head = begin(work, started_.is_seen);
    caller_region_.outer = nesting::innermost();
    nesting::innermost() = &caller_region_;
  }
  bool join();
  /// In place of join(): stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  void give_up();
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether it was the calling thread that started it; and whether that has entered no other since.
  bool has_started() const noexcept { return nesting::contains(caller_region_); }
  bool can_join() const noexcept { return nesting::innermost() == &caller_region_; }

  /// Between regions.
  void keep_ledger(bool yes);
  void reset_ledger() noexcept;
  /// What was gathered so far. Any thread, at any time. (Ledger: lockstep::ledger, which need not be known here.)
  template <class Ledger>
  Ledger ledger_so_far() const {
    Ledger result;
    result.team = name();
    result.members = size_;
    gather_ledger(team_seen_, result);
    return result;
  }
  /// Prints what there is, where LOCKSTEP_LEDGER asks for it.
  void print_ledger() const noexcept;

  /// The number of the region that runs, or 0.
  std::uint32_t running() const noexcept;
  /// How many regions have begun, modulo 2^32. For who runs them.
  std::uint32_t begun() const noexcept { return number_; }
  /// Stops the region that runs, if any. Any thread.
  void request_stop();
  /// For objects in which members of regions wait.
  stop_source& stop() noexcept { return stop_; }

  /// What a worker does until close().
  void work(std::size_t rank);
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
  void forget_others() noexcept;

 private:
  const char* name() const noexcept { return door_.callers().whose().name; }
  static region_board::way way_of(const resolved_team& made) noexcept;

  /// The life of a region, from its caller's call to the return. Before the turn nothing of the core is looked at:
  /// DOOR-2 of team_door.hpp.
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
  template <class Workers, class Work>
  LOCKSTEP_ALWAYS_INLINE static bool live(team_door& door, team_core* core, Workers& workers,
                                          Work& work) {
    const region_turn turn(door.callers(), door.age(), core);
    if (!turn) return work.run_alone(core->alone(door));
    if (work.needs_others(*core)) workers.make_ready();
    const bool is_seen = observers() != 0;
    const region_head head = core->begin(work, is_seen);
    const nesting::inside here(core->region_);  // up to the last of the user's code
    return core->complete(head, work, is_seen);
  }
  /// The first half: the region has begun, and the workers know.
  template <class Work>
  LOCKSTEP_ALWAYS_INLINE region_head begin(Work& work, bool is_seen) {
    const size_and_phase wanted = work.prepare(*this);
    if (LOCKSTEP_UNLIKELY(is_seen)) region_comes(seen_);
    if (++number_ == 0) number_ = 1;
    stop_.begin(number_);
    running_.store(number_, memory_order_relaxed);  // 1
    if (region_.outer != nesting::innermost()) region_.outer = nesting::innermost();
    const region_head head = {number_, wanted.size, wanted.phase};
    if (LOCKSTEP_UNLIKELY(is_seen)) {
      work.announce_seen(*this, head);
    } else {
      work.announce(*this, head);
    }
    return head;
  }
  /// The second half: the caller's part, and the end. Requires: the calling thread is marked as inside the region.
  template <class Work>
  LOCKSTEP_ALWAYS_INLINE bool complete(const region_head& head, Work& work, bool is_seen) {
    work.perform(*this, head, is_seen);  // not through the line just published: it is on its way
    work.collect(*this, head);
    if (LOCKSTEP_UNLIKELY(is_seen)) region_ends(seen_);
    const bool goes_on = end(head);
    work.finish(*this, goes_on);
    if (!goes_on) error_.rethrow();
    return goes_on;
  }
  /// No thread is in the region any more. False if it was stopped.
  bool end(const region_head& head) noexcept {
    running_.store(0, memory_order_relaxed);             // 1
    if (crew_.is_orphaned()) crew_.set_orphaned(false);  // members read that line
    if (!stop_.requested(head.region)) return true;
    if (destroyed_inside_ != nullptr) fail_destroyed_inside(destroyed_inside_);
    return false;
  }
  /// A member's part of a `run`. Requires: the calling thread is marked as inside it.
  template <class Function>
  void perform(std::size_t rank, const region_head& head, Function& f, bool is_seen) {
    member_state& self = group_.enter(rank, head.size, head.region, head.phase);
    if (LOCKSTEP_UNLIKELY(is_seen)) part_begins(team_seen_, self);
    member_access here(self);
    call_guarded(stop_, head.region, error_, first_error::position_of(rank, 0), f, here.self);
    if (diagnoses_misuse) group_.note_return(self);
    if (LOCKSTEP_UNLIKELY(is_seen)) part_ends(self);
  }

  /// As the only member of a region of its own: lone_region.hpp.
  template <class Function>
  LOCKSTEP_NOINLINE static bool run_function_alone(const lone_team& of, Function& f) {
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
  static bool run_shares_alone(const lone_team& of, job& what, const loop_ends& ends);

  struct size_and_phase {
    std::uint32_t size, phase;
  };

  /// f(member&) on every member of the region.
  template <class Function>
  struct function_work {
    Function& f;
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
      job what;
      what.assign<member>(f);
      core.announce_seen(head, what, kind, where);
    }
    void perform(team_core& core, const region_head& head, bool is_seen) const {
      core.perform(0, head, f, is_seen);
    }
    void collect(team_core& core, const region_head& head) const {
      if (head.size > 1) core.board_.collect(0, core.board_.current());
    }
    void finish(team_core& core, bool goes_on) const {
      core.group_.end(!goes_on);
      core.group_.destroy_kept_values();
    }
  };

  /// A loop, as loop_steering.hpp says.
  struct loop_work {
    const loop_request& of;
    job& what;
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
      region_begins(core.seen_, {"loop", head.region, head.size, plan->parts, of.iterations,
                                 of.where, of.place, true});
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
        if (plan->is_timed) steering.timing()->after_part(true);
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
  struct shares_work {
    const shares_request& of;
    job& what;
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
  struct given_up_work : function_work<job> {
    explicit given_up_work(job& of, std::size_t members) noexcept
        : function_work<job>{of, members, nullptr, call_site::none()} {}

    void perform(team_core& core, const region_head& head, bool) const {
      core.stop_.request(head.region);
    }
    void finish(team_core& core, bool goes_on) const {
      core.error_.forget();
      function_work<job>::finish(core, goes_on);
    }
  };

  /// A loop of an unknown place: STEER-4. True if every other member came in time.
  bool run_probe(const loop_plan& plan, const region_head& head, job& what);

  /// A `run` that observers see: its announcement tells the workers so, which do not look again.
  void announce_seen(const region_head& head, const job& what, const char* kind,
                     source_place where);

  /// What a worker has to do in a `run`.
  void run_part(std::size_t rank, const assignment& what);

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

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_CORE_HPP
