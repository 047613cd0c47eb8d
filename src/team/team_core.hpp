// SPDX-License-Identifier: MIT
// src/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team, external_team and the teams of openmp/ have in common. live() below is a region from top to bottom: the
// caller takes a turn (turns.hpp), begins the region, announces it (region_board.hpp), performs its own part, collects
// the reports, and finishes. Every region follows these steps: those of run(), of loops, of plans, and those that are
// started and joined. work() is the other side, what a worker does: a thread that the team starts and keeps, or one of
// the user's that serves it. For users: team.hpp.
//
//   CORE-1  A region has a number, never 0. running_ is this number from before the first member starts until after the
//           last has reported; otherwise it is 0.
//   CORE-2  Between regions the group's boards are at rest (GROUP-1 of group.hpp).
//   CORE-3  In a child process there are no workers; a region that the forking thread was in is stopped there.
//           A guest (inside_region of region.hpp) was in none.
//   CORE-4  All code of the user that runs while the caller has the turn, on any thread, runs marked as inside: it
//           may call the team, and is alone then. Hooks of threads never wait for a turn with any team.
//   CORE-5  A loop uses nothing that belongs to a member (loop_crew.hpp): any thread may run any part of it.
//   CORE-6  A member that calls exit() destroys a static team in its own region. The destructor cannot know of exit():
//           it leaves everything as it is, and stops the region. After exit() that region never ends, because it waits
//           for this member. So if it does end, the team was destroyed by mistake: the program ends with a message.
//   WORKERS-1  If a thread cannot be started, make_ready() ends those that were started, and then throws
//              std::system_error.
//   WORKERS-2  A child process has none of the threads: forget_others() drops their handles without a join.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access            order    pairs  why it suffices
//   1  running.store     relaxed  -      request_stop() takes a number from it; what it does with a number
//                                        that is old is harmless (STOP-1 of stop_source.hpp)
//   2  running.load      relaxed  -      as 1
//   3  claimed.exchange  relaxed  -      one thread a rank; the announcement orders the rest
//   4  claimed.load      relaxed  -      at the end, after which nobody may come
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <vector>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/detail/team/team_host.hpp>
#include <lockstep/member.hpp>
#include <lockstep/semaphore.hpp>
#include <lockstep/team_options.hpp>
#include "../loop/loop_crew.hpp"
#include "../observe/hooks.hpp"
#include "../region/group.hpp"
#include "../region/region_board.hpp"
#include "../region/stop_source.hpp"
#include "../region/turns.hpp"
#include "environment.hpp"
#include "placement.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Aligned to 256 bytes. So which of its parts share a line, or a pair of lines that are fetched together, does not
/// depend on the heap. At other addresses a barrier of two took up to 1.35 times as long (41 to 55 ns).
class team_core : public aligned_new<256> {
 public:
  /// Starts no threads yet. The door outlives the last thread that uses this object, or is not touched.
  team_core(const resolved_team& made, team_door& door, const team_options& options,
            thread_owner owner)
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
  /// Ends the team's threads. Releases the user's threads, and waits until all have left.
  ~team_core() {
    stop_threads();
    if (owner_ == thread_owner::user) {
      close();
      for (std::size_t rank = 1; !is_child_ && rank < size_; ++rank) {
        if (claimed_[rank].load(memory_order_relaxed) != 0) left_.acquire();  // 4
      }
    }
    print_ledger();
  }

  team_door& door() const noexcept { return door_; }
  /// For regions that a thread runs alone.
  const lone_team& alone() const noexcept { return alone_; }
  /// For the destructor of the team: whether the calling thread is in a region or a hook of the team. Then everything
  /// stays as it is: CORE-6.
  bool ends_inside() noexcept {
    if (lone_region::end(this, lone_region::destroyed)) return true;
    if (is_in_region()) {
      destroyed_inside_ = door_.kind();
      request_stop();
      return true;
    }
    return nesting::is_inside(this);
  }

  // A region from top to bottom.

  /// The work of a region. In a `run` every member calls a function; in a loop each share is run by its member or for it.
  struct region_work {
    const job* what;
    const char* kind;  ///< for observers
    source_place where;
    const loop_request* loop;         ///< null for a `run`, in which every member takes part
    const loop_plan* plan = nullptr;  ///< of a loop, once it begins
    region_head head;  ///< its size: the number of shares, in a `run` one for each member
    bool is_seen = false, is_given_up = false, all_came = true;

    region_work(const job& f, const char* called, source_place at, std::size_t count,
                const loop_request* of = nullptr) noexcept
        : what(&f), kind(called), where(at), loop(of), head{0, static_cast<std::uint32_t>(count)} {}
    bool is_run() const noexcept { return loop == nullptr; }
  };

  /// The life of a region. Before it has the turn, the thread reads nothing of the core: DOOR-2 of turns.hpp. Steps that
  /// are not inlined get parts of the work by value, so that the work itself can stay in registers.
  static LOCKSTEP_ALWAYS_INLINE bool live(team_host& host, region_work& work) {
    if (diagnoses_misuse) host.check_lives();
    team_door& door = host.door();
    team_core* const core = &host.core();
    const nesting::region*& innermost = innermost_region();
    if (LOCKSTEP_UNLIKELY(!door.callers().take_turn_for(door.age(), core, innermost))) {
      return run_inline(core->alone(), *work.what, work.is_run());
    }
    const caller_turn turn(door.callers(), has_begun_t());
    if ((work.is_run() ? work.head.size : core->size_) > 1 && core->lacks_threads()) {
      core->make_ready();
    }
    core->begin(work, innermost);
    core->announce(work);
    const nesting::inside here(core->region_, innermost);  // until all code of the user has run
    core->perform(work);
    core->collect(work);
    return core->finish(work);
  }

  /// The same in two halves, for f on all members: the region is open between them. Requires: the caller has the turn.
  /// For users: started_region of region.hpp.
  void start(const job& f, source_place where, const char* kind) {
    started_job_ = f;
    started_ = region_work(started_job_, kind, where, size_);
    begin(started_, innermost_region());
    announce(started_);
    caller_region_.outer = innermost_region();
    innermost_region() = &caller_region_;
  }
  /// `gives_up`: stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  bool join(bool gives_up) {
    region_work work = started_;
    work.is_given_up = gives_up;
    started_.head.region = 0;
    innermost_region() = caller_region_.outer;
    const nesting::inside here(region_);
    perform(work);
    collect(work);
    return finish(work);
  }
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// has_started(): whether the calling thread started it. can_join(): and has entered no other region since.
  bool has_started() const noexcept { return nesting::contains(caller_region_); }
  bool can_join() const noexcept { return innermost_region() == &caller_region_; }

  /// For ledgers. Any thread, at any time.
  const char* name() const noexcept { return door_.name(); }
  team_view& seen() noexcept { return team_seen_; }
  /// Prints the ledger where LOCKSTEP_LEDGER asks for it.
  void print_ledger() const noexcept {
    show_ledger(team_seen_, name(), environment::of_process().ledger_goes_to());
  }

  /// The number of the region that runs, or 0.
  std::uint32_t running() const noexcept { return running_.load(memory_order_relaxed); }  // 2
  /// How many regions have begun, modulo 2^32. For the caller of the regions.
  std::uint32_t begun() const noexcept { return number_; }
  /// Stops the region that runs, if any. Any thread.
  void request_stop() {
    if (lone_region::end(this, lone_region::stopped)) return;
    const std::uint32_t region = running();
    if (region != 0) stop_.request(region);
    if (!nesting::is_inside(this)) door_.stop_lone_loops();
  }
  /// For objects in which members of regions wait.
  stop_source& stop() noexcept { return stop_; }

  // The threads.

  /// What a worker does until close().
  LOCKSTEP_HOT void work(std::size_t rank) {
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
  void close() { board_.close(); }
  /// Whether the team's threads have to be started, or the user's are gone.
  bool lacks_threads() const noexcept {
    return owner_ == thread_owner::team ? workers_.empty() : are_gone();
  }
  /// Called before a region that needs threads: starts the team's. Throws if they cannot be started, or if the user's
  /// threads are gone.
  void make_ready() {
    if (!lacks_threads()) return;
    if (owner_ == thread_owner::user) {
      fail_use(is_child_
                   ? "lockstep::external_team::run: this is a child process, which has none of "
                     "the serving threads; make a new team"
                   : "lockstep::external_team::run: release() was called, nobody serves any "
                     "more; make a new team");
    }
    if (size_ > 1) start_threads();
  }
  /// Ends the team's threads, if they were started. Requires: no region runs.
  void stop_threads() {
    if (!workers_.empty()) close();
    for (worker& each : workers_) each.thread.join();
    workers_.clear();
  }
  /// What a thread of the user does until the team is closed.
  void serve(std::size_t rank) {
    checked_rank("lockstep::external_team::serve", "member", rank, size_);
    if (rank == 0 || claimed_[rank].exchange(1, memory_order_relaxed) != 0) {  // 3
      if (rank != 0 && board_.is_closed()) return;
      fail_argument(
          "lockstep::external_team::serve: rank 0 is the caller of run(), and each other rank is "
          "for one thread; give every thread a rank of its own, from 1 on");
    }
    work(rank);
    left_.release();
  }

  /// In a child process, which has none of the workers. Stops the region that the calling thread is in;
  /// any other region has ended.
  void forget_others() noexcept {
    workers_.clear();
    is_child_ = true;
    if (are_gone()) door_.close_to_lone_loops();
    lone_region::end(this, lone_region::stopped);
    const bool in_region = is_in_region();
    door_.callers().forget_others(in_region);
    board_.reset();
    stop_.forget_others();
    error_.forget_others();
    group_.forget_others();
    reset_ledger(team_seen_);
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

 private:
  struct worker {
    team_core* all;
    std::size_t rank;
    plain_thread thread;
  };

  // The steps of a region.

  /// Gives the region its size and its number.
  LOCKSTEP_ALWAYS_INLINE void begin(region_work& work, const nesting::region* outer) {
    work.is_seen = observers() != 0;
    if (work.is_run()) {
      group_.begin(work.head.size);
    } else {
      work.plan = &crew_.plan(*work.loop);
      work.head.size = work.plan->shares;
      const loop_ends* const ends = work.loop->ends;
      if (ends != nullptr && work.head.size > 1) ends->prepare(*work.plan, &group_.leaves[0]);
    }
    if (LOCKSTEP_UNLIKELY(work.is_seen)) region_comes(seen_);
    const std::uint32_t number = number_ + 1 != 0 ? number_ + 1 : 1;
    number_ = number;
    if (LOCKSTEP_UNLIKELY(number % stop_source::stride == 0)) stop_.keep_near(number);
    running_.store(number, memory_order_relaxed);  // 1
    if (region_.outer != outer) region_.outer = outer;
    work.head.region = number;
  }

  /// Tells the workers, and observers.
  LOCKSTEP_ALWAYS_INLINE void announce(const region_work& work) {
    if (work.is_run() ? work.head.size > 1 : !crew_.is_alone()) {
      board_.announce(work.head, *work.what, work.is_run() ? 0 : work.plan->parts,
                      work.is_run() || work.plan->wakes, work.is_seen);
    }
    if (LOCKSTEP_UNLIKELY(work.is_seen)) {
      tell_begin(work.head, work.kind, work.where, work.loop, work.plan);
    }
  }

  /// The caller's part. It does not read the line just published, which is on its way to the workers.
  LOCKSTEP_ALWAYS_INLINE void perform(region_work& work) {
    if (work.is_given_up) {
      stop_.request(work.head.region);
    } else if (work.is_run()) {
      perform_part(0, work.head, *work.what, work.is_seen);
    } else {
      work.all_came = crew_.lead(work.head.region, *work.what);
    }
  }

  /// Waits until all have reported. In a loop lead() has done so.
  LOCKSTEP_ALWAYS_INLINE void collect(const region_work& work) {
    if (!work.is_run() || work.head.size <= 1) return;
    board_.collect(0, board_.current());
    board_.expect_next();
  }

  /// Requires: no thread is in the region any more. Puts all at rest. False if the region was stopped.
  LOCKSTEP_ALWAYS_INLINE bool finish(const region_work& work) {
    if (LOCKSTEP_UNLIKELY(work.is_seen)) region_ends(seen_);
    running_.store(0, memory_order_relaxed);             // 1
    if (crew_.is_orphaned()) crew_.set_orphaned(false);  // members read that line
    const bool goes_on = !stop_.requested(work.head.region);
    if (!goes_on && destroyed_inside_ != nullptr) fail_destroyed_inside(destroyed_inside_);
    if (work.is_given_up) error_.forget();
    if (work.is_run()) {
      group_.come_to_rest(!goes_on);
    } else if (goes_on && work.loop->ends != nullptr && work.head.size > 1) {
      work.loop->ends->finish(*work.plan, board_);
    }
    if (LOCKSTEP_UNLIKELY(!goes_on)) error_.rethrow();
    return goes_on;
  }

  /// Takes the place of these steps if the caller has no turn. It is the only member of a lone region: turns.hpp.
  static LOCKSTEP_NOINLINE bool run_inline(const lone_team& of, const job& what, bool is_run) {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) region_runs_inline(!is_run);
    lone_region here(of, innermost_region(), of.door.look_alone());
    const nesting::inside mark(here.where());
    stop_source stop(here);
    bool goes_on;
    if (is_run) {
      member_state own(stop);
      member_access alone(own);
      goes_on = call_alone(stop, what, alone.self);
    } else {
      atomic<std::size_t> tickets{0};
      const loop_part whole = {1, 1, 1, 0, 0};
      loop_share all(stop, tickets, whole);
      if (all.is_stopped()) return false;  // the region around it was stopped before
      goes_on = call_alone(stop, what, all);
    }
    here.check_team();
    return goes_on;
  }

  LOCKSTEP_NOINLINE void tell_begin(region_head head, const char* kind, source_place where,
                                    const loop_request* loop, const loop_plan* plan) {
    const bool is_loop = loop != nullptr && !loop->is_plan;
    if (is_loop && seen_.since != 0) crew_.tell();
    region_begins(
        seen_, {kind, head.region, head.size, loop != nullptr ? plan->parts : 0,
                is_loop ? loop->iterations : 0, where, is_loop ? loop->place : nullptr, is_loop});
  }

  /// A member's part of a `run`. Requires: the calling thread is marked as inside it.
  LOCKSTEP_ALWAYS_INLINE void perform_part(std::size_t rank, const region_head& head, const job& f,
                                           bool is_seen) {
    member_state& self = group_.state(rank);
    self.enter(head.size, head.region);
    if (LOCKSTEP_UNLIKELY(is_seen)) part_begins(team_seen_, self);
    member_access here(self);
    call_guarded(stop_, head.region, error_, rank, f, here.self);
    if (diagnoses_misuse) group_.note_return(self);
    if (LOCKSTEP_UNLIKELY(is_seen)) part_ends(self);
  }
  /// What a worker has to do in a `run`.
  LOCKSTEP_HOT void run_part(std::size_t rank, const assignment& what) {
    board_.expect_report(rank);
    board_.relay(rank, what, true);
    const region_head head = what.head();
    if (rank < head.size) perform_part(rank, head, what.line->what, what.announced.is_seen());
    if (crew_.is_orphaned()) end_of_lone_child();
    if (board_.is_leader(rank)) board_.collect(rank, what.announced);
    const bool has_woken_caller = board_.report(rank, what.announced);
    if (LOCKSTEP_UNLIKELY(has_woken_caller)) board_.look_for_caller(rank, what.announced);
  }

  /// Whether the calling thread is in the region that runs, or has started it.
  bool is_in_region() const noexcept {
    return nesting::contains(region_) || nesting::contains(caller_region_);
  }
  /// Whether the threads were the user's, and serve no more.
  bool are_gone() const noexcept {
    return owner_ == thread_owner::user && (is_child_ || board_.is_closed());
  }

  LOCKSTEP_NOINLINE void start_threads() {
    board_.reset();
    workers_.reserve(size_ - 1);  // each thread has the address of its worker
    int error = 0;
    while (error == 0 && workers_.size() < size_ - 1) {
      workers_.push_back({this, workers_.size() + 1, {}});
      error = workers_.back().thread.start(run_worker, &workers_.back());
    }
    if (error == 0) return;
    char message[160];
    std::snprintf(message, sizeof message,
                  "lockstep::team: the system refused thread %zu of %zu; ask for fewer members "
                  "or raise the limit on threads",
                  workers_.size(), size_ - 1);
    workers_.pop_back();
    stop_threads();
#if LOCKSTEP_HAS_EXCEPTIONS
    throw std::system_error(error, std::generic_category(), message);
#else
    print_and_abort(message);
#endif
  }
  /// What the thread of a worker calls.
  static void* run_worker(void* of) {
    const worker& self = *static_cast<const worker*>(of);
    const std::size_t rank = self.rank;
    const team_core& all = *self.all;
    all.name_thread(rank);
    if (!all.cpu_of_rank_.empty()) pin_this_thread(all.cpu_of_rank_[rank]);
    all.call_hook(all.on_start_, rank);
    self.all->work(rank);
    all.call_hook(all.on_exit_, rank);
    return nullptr;
  }
  /// Linux shows 15 characters: the end of the team's name is cut rather than the rank.
  void name_thread(std::size_t rank) const {
    char number[24];
    const int length = std::snprintf(number, sizeof number, " %zu", rank);
    char text[48];
    std::snprintf(text, sizeof text, "%.*s%s", 15 - length, name(), number);
    name_this_thread(text);
  }
  /// CORE-4: no team is younger than what marks the thread, so it waits for none.
  void call_hook(const team_options::hook& hook, std::size_t rank) const {
    if (!hook) return;
    const nesting::region where = {this, region_.age + nesting::most_age_apart, nullptr, nullptr,
                                   nullptr};
    const nesting::inside here(where);
    hook(rank);
  }

  line_gap before_;
  const std::size_t size_;
  team_door& door_;
  team_view team_seen_;  // here, on a line that is not written: members read it in each region
  stop_source stop_;
  group group_;
  region_board board_;
  first_error error_;
  loop_crew crew_;
  // The caller's own.
  nesting::region region_;
  // Of the caller that has started a region: its workers are not in it.
  nesting::region caller_region_;
  std::uint32_t number_ = 0;
  wait_word running_{0};
  region_view seen_;
  job started_job_;
  region_work started_{started_job_, nullptr, call_site::none(), 0};
  const char* destroyed_inside_ = nullptr;  ///< the kind of team, once a member has destroyed it
  line_gap after_;
  // These are last, so that they move none of the others.
  const lone_team alone_{this, stop_, door_};
  const thread_owner owner_;
  bool is_child_ = false;  ///< of a process in which the threads live
  // Of the team's own.
  std::vector<worker> workers_;  ///< from rank 1 on
  const std::vector<unsigned> cpu_of_rank_;
  const team_options::hook on_start_, on_exit_;
  // Of the user's.
  aligned_array<wait_word> claimed_;
  semaphore left_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP
