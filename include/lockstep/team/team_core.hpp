// SPDX-License-Identifier: MIT
// lockstep/team/team_core.hpp -- a team's threads, and how a region runs on them (layer: team)
//
// What team and external_team are made of. One region at a time: its caller has a turn (caller_queue.hpp),
// announces it (fork_board.hpp), runs its own part, and collects the reports. For users: team.hpp.
//
//   C1  A region has a number, never 0; running_ is it from before the first member starts until after the
//       last has reported, else 0.
//   C2  Between regions the group's boards are at rest (A1 of group.hpp).
//   C3  In a child process there are no workers; a region that the forking thread was in is stopped there.
//       A guest (inside_region.hpp) was in none.
//   C4  A thread inside a region waits for its turn with a team only if that is younger than all whose
//       regions it is in: else it takes a turn at once or runs alone. So regions of several teams, called
//       from each other, never wait in a circle.
//   C5  Whatever runs of the user's while its caller has the turn, on any thread, runs marked as inside: it
//       may call the team, and is alone then. Hooks of threads never wait for a turn with any team.
//   C6  Who has claimed a share of a loop is the member of that rank for it: its place in the group, its cells and
//       its error are used by that thread alone, from the claim to the report.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  running.store  relaxed  -      request_stop() takes a number from it; what it does with a number
//                                     that is old is harmless (Q1 of stop_source.hpp)
//   2  running.load   relaxed  -      as 1
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "../platform/unwinding.hpp"
#include "fork_board.hpp"
#include "member.hpp"
#include "team_door.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

class team_core {
 public:
  /// The door outlives the last thread that uses this object, or is not touched.
  team_core(const resolved_team& made, team_door& door)
      : size_(made.members),
        is_crowded_(made.is_crowded),
        door_(door),
        group_(size_, made.policy, stop_, nullptr, made.parts),
        forks_(fork_tree(size_), made.policy, way_of(made), 0, made.anticipates,
               fork_board::usual_most_age, made.parts),
        errors_(size_),
        region_{this, door.age(), &group_, &running_, nullptr},
        between_(region_) {}
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  std::size_t size() const noexcept { return size_; }
  wait_policy policy() const noexcept { return group_.barrier.policy(); }
  bool is_inside() const noexcept { return nesting::is_inside(this); }

  /// Runs f on the first `size` members; then finish(group, head), still in the caller's turn, unless the
  /// region was stopped. False if it was. Requires: the caller's turn, not inside, workers there if size > 1.
  template <class Function, class Finish>
  bool run(std::size_t size, Function& f, Finish finish, region_kind kind = region_kind::run) {
    const region_head head = begin(size);
    const nesting::inside here(
        region_);  // up to the last of the user's code, in finish() and after
    const bool woke = size > 1 && forks_.announce(head, f, kind);
    // Not through the line just published: it is on its way to the others.
    perform(0, head, f);
    if (size > 1 && kind == region_kind::loop) take_shares(0, size, woke);
    return end(head, finish);
  }

  /// The two halves of run() for f on all members: a region that is open between them. For users:
  /// started_region.hpp.
  template <class Function>
  void start(Function& f) {
    started_.what.assign(f);
    started_.head = begin(size_);
    if (size_ > 1) forks_.announce(started_.head, f);
    between_.outer = nesting::innermost();
    nesting::innermost() = &between_;
  }
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether it was the calling thread that started it; and whether that has entered no other since.
  bool has_started() const noexcept { return nesting::contains(between_); }
  bool can_join() const noexcept { return nesting::innermost() == &between_; }
  bool join() {
    const region_head head = leave_between();
    const nesting::inside here(region_);
    perform(0, head, started_.what);
    return end(head, [](group&, const region_head&) {});
  }
  /// In place of join(): stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  void give_up() {
    const region_head head = leave_between();
    const nesting::inside here(region_);
    stop_.request(head.region);
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      end(head, [](group&, const region_head&) {});
    } catch (...) {
    }
#else
    end(head, [](group&, const region_head&) {});
#endif
  }

  /// run() of `core` in a turn of the calling thread; alone where it must not wait for one, and cannot have it at
  /// once. Before it has the turn, nothing of the core is looked at: D1 of team_door.hpp.
  template <class Function, class Prepare, class Finish>
  static bool run_in_turn(team_door& door, team_core* core, std::size_t size, Function& f,
                          Prepare prepare, Finish finish, region_kind kind = region_kind::run) {
    if (nesting::is_inside(core)) return run_alone(f);
    if (door.may_wait()) {
      door.callers().begin();
    } else if (!door.callers().try_begin()) {
      return run_alone(f);
    }
    const caller_turn mine(door.callers(), std::adopt_lock);
    if (size > 1) prepare();
    return core->run(size, f, finish, kind);
  }

  /// A region of one member, the calling thread.
  template <class Function>
  static bool run_alone(Function& f) {
    stop_source stop;
    member_state own;
    own.place.region = 1;
    member self(seat(own, stop));
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f(self);
    } catch (const region_stopped&) {
      if (!stop.requested(1)) throw;  // that of another region
    }
#else
    f(self);
#endif
    return !stop.requested(1);
  }

  /// What marks a thread of this team that runs the user's hooks: no team is younger, so none is waited for.
  nesting::region hook_region() const noexcept {
    return {this, region_.age + nesting::most_age_apart, nullptr, nullptr, nullptr};
  }

  /// What a worker does until close().
  void work(std::size_t rank) {
    const nesting::inside here(region_);  // whatever it runs of the user's is in one
    while (region_line* const order = forks_.next(rank)) {
      play(rank, *order);
      if (is_crowded_ && order->kind() == region_kind::loop) {
        forks_.take_others(rank, *order, [&](std::size_t late) { play_for(late, *order); });
      }
      if (is_left_alone_) end_of_lone_child();
      forks_.report(rank, *order);
    }
  }
  void close() { forks_.close(); }
  bool is_closed() const noexcept { return forks_.is_closed(); }
  /// While no worker lives: those that are started next begin at the beginning.
  void reopen() noexcept { forks_.reset(); }

  /// Stops the region that runs, if any. Any thread.
  void request_stop() {
    const std::uint32_t region = running_.load(platform::memory_order_relaxed);  // 2
    if (region != 0) stop_.request(region);
  }

  /// In a child process, which has none of the workers. A region that the calling thread is in is stopped;
  /// any other has ended.
  void forget_others() noexcept {
    const bool in_region = nesting::contains(region_) || nesting::contains(between_);
    door_.callers().forget_others(in_region);
    forks_.reset();
    stop_.forget_others();
    group_.sub_groups().forget_others();
    group_.forget_kept_values();
    if (in_region) {
      is_left_alone_ = true;
      request_stop();
    } else {
      running_.store(0, platform::memory_order_relaxed);  // 1
      started_.head.region = 0;
      for (std::exception_ptr& error : errors_) error = nullptr;  // of a region that has ended here
      group_.end(true);
    }
  }

 private:
  static fork_board::way way_of(const resolved_team& made) noexcept {
    return made.members > fork_tree::usual_width && !made.is_crowded ? fork_board::way::relayed
                                                                     : fork_board::way::direct;
  }

  /// Destroys the values of a region, however its end ends.
  class values_until_end {
   public:
    explicit values_until_end(group& of) noexcept : of_(of) {}
    ~values_until_end() { of_.destroy_kept_values(); }
    values_until_end(const values_until_end&) = delete;
    values_until_end& operator=(const values_until_end&) = delete;

   private:
    group& of_;
  };

  region_head begin(std::size_t size) noexcept {
    if (++number_ == 0) number_ = 1;
    stop_.begin(number_);
    running_.store(number_, platform::memory_order_relaxed);  // 1
    if (region_.outer != nesting::innermost()) region_.outer = nesting::innermost();
    return region_head{number_, static_cast<std::uint32_t>(size), group_.begin(size)};
  }

  template <class Finish>
  bool end(const region_head& head, Finish finish) {
    if (head.size > 1) forks_.collect(0, head.size);
    running_.store(0, platform::memory_order_relaxed);  // 1
    if (is_left_alone_) is_left_alone_ = false;         // members read that line
    const bool was_stopped = stop_.requested(head.region);
    group_.end(was_stopped);
    const values_until_end values(group_);
    if (was_stopped) {
      rethrow_first_error();
    } else {
      finish(group_, head);
    }
    return !was_stopped;
  }

  /// What a worker has to do in a region but to report: for itself, or for a member whose share it has taken.
  /// In a loop that was stopped shares are begun no more.
  void play(std::size_t rank, region_line& order) {
    const bool is_loop = order.kind() == region_kind::loop;
    const bool woke = forks_.relay(rank, order);
    if (rank < order.head.size && !(is_loop && stop_.requested_relaxed(order.head.region))) {
      perform(rank, order.head, order.what);
    }
    if (!forks_.is_leader(rank)) return;
    if (is_loop) take_shares(rank, order.head.size, woke);
    forks_.collect(rank, order.head.size);
  }
  /// In a loop, after a member's own part: those of members that it has told of it, and that have not come.
  void take_shares(std::size_t rank, std::size_t size, bool at_once) {
    forks_.take_shares(rank, size, at_once || is_crowded_,
                       [this](std::size_t late, region_line& order) { play_for(late, order); });
  }
  void play_for(std::size_t late, region_line& order) {
    play(late, order);
    forks_.report(late, order);
  }

  /// A member's part of a region. Requires: the calling thread is marked as inside it.
  template <class Function>
  void perform(std::size_t rank, const region_head& head, Function& f) {
    member self(seat(group_.enter(rank, head.size, head.region, head.phase), group_));
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      f(self);
    } catch (const region_stopped&) {
      if (!stop_.requested(head.region)) fail(rank, head);  // that of another region
    } catch (const platform::forced_unwind&) {
      end_of_lost_member();
    } catch (...) {
      fail(rank, head);
    }
#else
    f(self);
#endif
  }

#if LOCKSTEP_HAS_EXCEPTIONS
  void fail(std::size_t rank, const region_head& head) {
    errors_[rank] = std::current_exception();
    stop_.request(head.region);
  }
#endif

  void rethrow_first_error() {
#if LOCKSTEP_HAS_EXCEPTIONS
    std::exception_ptr first;
    for (std::exception_ptr& error : errors_) {
      if (error && !first) first = error;
      error = nullptr;
    }
    if (first) std::rethrow_exception(first);
#endif
  }

  /// A worker that has called fork() in a region, and returned from there in the child.
  [[noreturn]] static void end_of_lone_child() {
    std::fprintf(
        stderr,
        "lockstep::team: fork() was called inside a region by a member other than 0; in the "
        "child process that member has nowhere to return to: call exec or _exit there\n");
    std::abort();
  }

  [[noreturn]] LOCKSTEP_NOINLINE static void end_of_lost_member() {
    std::fprintf(
        stderr,
        "lockstep::team: the thread of a member was cancelled, or called pthread_exit(), inside "
        "a region, which then cannot end; return from the function instead\n");
    std::abort();
  }

  region_head leave_between() noexcept {
    const region_head head = started_.head;
    started_.head.region = 0;
    nesting::innermost() = between_.outer;
    return head;
  }

  struct open_region {
    region_head head;
    job what;
  };

  platform::line_gap before_;
  const std::size_t size_;
  const bool is_crowded_;
  team_door& door_;
  bool is_left_alone_ = false;  ///< in a child process, inside a region: the others are not there
  stop_source stop_;
  group group_;
  fork_board forks_;
  // The caller's own.
  std::vector<std::exception_ptr> errors_;
  nesting::region region_;
  nesting::region between_;  // of the caller that has started a region: its workers are not in it
  std::uint32_t number_ = 0;
  platform::wait_word running_{0};
  open_region started_ = {};
  platform::line_gap after_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_TEAM_CORE_HPP
