// SPDX-License-Identifier: MIT
// src/team/team_core.hpp -- the life of a region, from its caller's call to the return (layer: team)
//
// What team and external_team have in common. live() below is a region from top to bottom: the caller takes a turn
// (turns.hpp), begins the region, announces it (region_board.hpp), performs its own part, collects the reports, and
// finishes. Every region follows these steps: those of run(), of loops, of plans, and those that are started and
// joined. work() is the other side, what a worker does. For users: team.hpp.
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
#ifndef LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP
#define LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/member.hpp>
#include "../loop/loop_crew.hpp"
#include "../loop/loop_steering.hpp"
#include "../observe/hooks.hpp"
#include "../region/group.hpp"
#include "../region/lone_region.hpp"
#include "../region/region_board.hpp"
#include "../region/stop_source.hpp"
#include "../region/team_door.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct resolved_team;  ///< of placement.hpp
class team_threads;

class team_core;
/// What a thread that comes to a team finds. The core is not looked at before the turn. By value, in two registers: made
/// on the stack, it takes 2 ns of each region.
struct team_parts {
  team_door& door;
  team_core* core;
};

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
  const lone_team& alone() const noexcept { return alone_; }
  /// Once, before the first region; not for a team whose threads come by themselves.
  void have(team_threads& threads) noexcept { threads_ = &threads; }
  team_threads& threads() const noexcept { return *threads_; }
  /// For the destructor of the team: whether the calling thread is in a region of it, or in a hook. Then everything
  /// stays as it is: CORE-6.
  bool ends_inside() noexcept;

  // A region, from its caller's call to the return. The threads are made ready where others are needed. So few arguments
  // that all are in registers: a place that is written to the stack by halves, and read as a whole, takes 6 ns.

  /// f(member&) on the first `size` members. False if the region was stopped. `kind` and `where`: for observers.
  static bool run(team_parts of, std::size_t size, const job& f, source_place where,
                  const char* kind);
  /// what(loop_share&) for all shares of a loop. False if it was stopped.
  static bool run_loop(team_parts of, const loop_request& wanted, const job& what,
                       const loop_ends& ends);
  /// what(loop_share&) for so many shares, each once: by its member, or by a thread that waits for it and finds that
  /// it has not begun.
  static shares_outcome run_shares(team_parts of, const shares_request& wanted, const job& what);

  /// run() in two halves, for f on all members: a region that is open between them. In a turn of the caller.
  /// For users: started_region of region.hpp.
  void start(const job& f, source_place where, const char* kind);
  /// `gives_up`: stops the region, and waits for the others. The caller's part is not run; errors are dropped.
  bool join(bool gives_up = false);
  /// The number of the region that is open, or 0.
  std::uint32_t started() const noexcept { return started_.head.region; }
  /// Whether it was the calling thread that started it; and whether that has entered no other since.
  bool has_started() const noexcept { return nesting::contains(caller_region_); }
  bool can_join() const noexcept { return nesting::innermost() == &caller_region_; }

  /// Between regions.
  void keep_ledger(bool yes);
  void reset_ledger() noexcept;
  /// For ledgers. Any thread, at any time.
  const char* name() const noexcept { return door_.callers().whose().name; }
  const team_view& seen() const noexcept { return team_seen_; }
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
  struct open_region {
    region_head head;
    job what;
    bool is_seen;
  };
  struct region_work;

  // A region from top to bottom, and its steps. Those that are not inlined get a copy of the work: the work itself is in
  // registers.
  static bool live(team_parts of, region_work& work);
  region_head begin(region_work& work);
  void plan_shares(region_work& work);
  void announce(const region_head& head, const region_work& work);
  void perform(const region_head& head, region_work& work);
  void lead(const region_head& head, region_work& work);
  void collect(const region_head& head, const region_work& work);
  bool finish(const region_head& head, const region_work& work);
  /// In place of it, where the caller has no turn.
  static bool run_inline(const lone_team& of, const job& what, bool is_run, const loop_ends* ends);
  void tell_begin(std::uint32_t region, region_work work);

  /// A member's part of a `run`. Requires: the calling thread is marked as inside it.
  void perform_part(std::size_t rank, const region_head& head, const job& f, bool is_seen);

  /// A loop of an unknown place: STEER-3. True if every other member came in time.
  bool run_probe(const loop_plan& plan, const region_head& head, const job& what);

  /// What a worker has to do in a `run`.
  void run_part(std::size_t rank, const assignment& what);

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
  // The last: they move none of the others.
  const lone_team alone_{this, stop_, door_};
  team_threads* threads_ = nullptr;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TEAM_TEAM_CORE_HPP
