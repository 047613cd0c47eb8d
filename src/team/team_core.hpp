// SPDX-License-Identifier: MIT
// src/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team, external_team and the teams of openmp/ have in common. live() below is a region from top to bottom: the
// caller takes a turn (turns.hpp), begins the region, announces it (region_board.hpp), performs its own part, collects
// the reports, and finishes. Every region follows these steps: those of run(), of loops, of plans, and those that are
// started and joined. work() is the other side, what a worker does. The threads that work, of the team or of the user,
// are in team_threads.cpp. For users: team.hpp.
//
//   CORE-1  A region has a number, never 0; running_ is it from before the first member starts until after the
//           last has reported, else 0.
//   CORE-2  Between regions the group's boards are at rest (GROUP-1 of group.hpp).
//   CORE-3  In a child process there are no workers; a region that the forking thread was in is stopped there.
//           A guest (inside_region of region.hpp) was in none.
//   CORE-4  All code of the user that runs while the caller has the turn, on any thread, runs marked as inside: it
//           may call the team, and is alone then. Hooks of threads never wait for a turn with any team.
//   CORE-5  A loop uses nothing that belongs to a member (loop_crew.hpp): any thread may run any part of it.
//   CORE-6  A member that calls exit() destroys a static team in its own region. The destructor cannot know of exit():
//           it leaves all as it is, and stops the region. After exit() that region never ends, because it waits for
//           this member. So where it does end, the team was destroyed by mistake: the program ends with a message.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access         order    pairs  why it suffices
//   1  running.store  relaxed  -      request_stop() takes a number from it; what it does with a number
//                                     that is old is harmless (STOP-1 of stop_source.hpp)
//   2  running.load   relaxed  -      as 1
//
// Cost   see team.hpp.
#ifndef LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

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

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct resolved_team;  ///< of placement.hpp

/// It lies at a boundary of 256 bytes: which of its parts share a line, or a pair of lines that are fetched together,
/// does not depend on the heap. Elsewhere a barrier of two took up to 1.35 times as long (41 to 55 ns).
class team_core : public aligned_new<256> {
 public:
  /// Starts no threads yet. The door outlives the last thread that uses this object, or is not touched.
  team_core(const resolved_team& made, team_door& door, const team_options& options,
            thread_owner owner);
  /// Ends the team's threads. Releases the user's threads, and waits until all have left.
  ~team_core();
  team_core(const team_core&) = delete;
  team_core& operator=(const team_core&) = delete;

  std::size_t size() const noexcept { return size_; }
  team_door& door() const noexcept { return door_; }
  wait_policy policy() const noexcept { return group_.barrier.policy(); }
  /// For regions that a thread runs alone.
  const lone_team& alone() const noexcept { return alone_; }
  /// For the destructor of the team: whether the calling thread is in a region or a hook of the team. Then everything
  /// stays as it is: CORE-6.
  bool ends_inside() noexcept;

  /// run() in two halves, for f on all members: the region is open between them. Requires: the caller has the turn.
  /// For users: started_region of region.hpp.
  void start(const job& f, source_place where, const char* kind);
  /// `gives_up`: stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  bool join(bool gives_up);
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether the calling thread started it; and whether it has entered no other region since.
  bool has_started() const noexcept { return nesting::contains(caller_region_); }
  bool can_join() const noexcept { return nesting::innermost() == &caller_region_; }

  /// For ledgers. Any thread, at any time.
  const char* name() const noexcept { return door_.name(); }
  team_view& seen() noexcept { return team_seen_; }
  /// Prints the ledger where LOCKSTEP_LEDGER asks for it.
  void print_ledger() const noexcept;

  /// The number of the region that runs, or 0.
  std::uint32_t running() const noexcept;
  /// How many regions have begun, modulo 2^32. For the caller of the regions.
  std::uint32_t begun() const noexcept { return number_; }
  /// Stops the region that runs, if any. Any thread.
  void request_stop();
  /// For objects in which members of regions wait.
  stop_source& stop() noexcept { return stop_; }

  // The threads.

  /// What a worker does until close().
  void work(std::size_t rank);
  void close() { board_.close(); }
  /// Whether the team's threads have to be started, or the user's are gone.
  bool lacks_threads() const noexcept {
    return owner_ == thread_owner::team ? workers_ == nullptr : are_gone();
  }
  /// Called before a region that needs threads: starts the team's. Throws if they cannot be started, or if the user's
  /// threads are gone.
  void make_ready();
  /// Ends the team's threads, if they were started. Requires: no region runs.
  void stop_threads();
  /// What a thread of the user does until the team is closed.
  void serve(std::size_t rank);

  /// In a child process, which has none of the workers. Stops the region that the calling thread is in;
  /// any other region has ended.
  void forget_others() noexcept;

 private:
  friend class team_host;

  struct open_region {
    region_head head;
    job what;
    bool is_seen;
  };
  struct region_work;

  // A region from top to bottom, and its steps. Steps that are not inlined get parts of the work by value, so that the
  // work itself can stay in registers.
  static bool live(team_host& host, region_work& work);
  region_head begin(region_work& work, const nesting::region* outer);
  void announce(const region_head& head, const region_work& work);
  void perform(const region_head& head, region_work& work);
  void collect(const region_head& head, const region_work& work);
  bool finish(const region_head& head, const region_work& work);
  /// In place of it, where the caller has no turn.
  static bool run_inline(const lone_team& of, const job& what, bool is_run);
  void tell_begin(region_head head, const char* kind, source_place where, const loop_request* loop,
                  const loop_plan* plan);

  /// A member's part of a `run`. Requires: the calling thread is marked as inside it.
  void perform_part(std::size_t rank, const region_head& head, const job& f, bool is_seen);

  /// What a worker has to do in a `run`.
  void run_part(std::size_t rank, const assignment& what);

  struct worker;
  void start_threads();
  [[noreturn]] void refuse() const;
  /// Whether the threads were the user's, and serve no more.
  bool are_gone() const noexcept {
    return owner_ == thread_owner::user && (is_child_ || board_.is_closed());
  }
  /// What the thread of a worker calls.
  static void* run_worker(void* self);
  void name_thread(std::size_t rank) const;
  void call_hook(const team_options::hook& hook, std::size_t rank) const;

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
  nesting::region
      caller_region_;  // of the caller that has started a region: its workers are not in it
  std::uint32_t number_ = 0;
  wait_word running_{0};
  region_view seen_;
  open_region started_ = {};
  const char* destroyed_inside_ = nullptr;  ///< the kind of team, once a member has destroyed it
  line_gap after_;
  // These are last, so that they move none of the others.
  const lone_team alone_{this, stop_, door_};
  const thread_owner owner_;
  bool is_child_ = false;  ///< of a process in which the threads live
  // Of the team's own.
  worker* workers_ = nullptr;
  std::size_t started_threads_ = 0;
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
