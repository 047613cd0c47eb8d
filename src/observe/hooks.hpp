// SPDX-License-Identifier: MIT
// src/observe/hooks.hpp -- what the library tells its observers (layer: observe)
//
// The layers above call a hook only if observers() is not 0:
//     if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(&word);
// The bodies, and all that observers keep, are in src/trace, the topmost layer. So what a hook needs of a member, a
// region or a team is plain data in this header.
//
//   HOOK-1  A hook throws nothing, never waits, and changes nothing but the data of observers.
//   HOOK-2  If observers were told of a begin, they are told of the end, even if all are switched off by then.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  made.load   relaxed  -      the team ends: no other thread uses it
#ifndef LOCKSTEP_SRC_OBSERVE_HOOKS_HPP
#define LOCKSTEP_SRC_OBSERVE_HOOKS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/observe/member_view.hpp>
#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class ledger_board;  ///< of src/trace: what the ledger keeps of a team

}  // namespace detail

struct ledger;  ///< of ledger.hpp

namespace detail {

// Waits.

/// A wait of the calling thread. The object lives as long as the long part of the wait.
class observed_wait {
 public:
  explicit observed_wait(const wait_subject& what) noexcept;
  ~observed_wait();
  observed_wait(const observed_wait&) = delete;
  observed_wait& operator=(const observed_wait&) = delete;

  /// From now on the waiter spins, yields or sleeps.
  void enter(wait_stage next) noexcept;

 private:
  void record_stage(std::uint64_t now) noexcept;

  thread_log* log_ = nullptr;  ///< null: no observer was on
  wait_subject what_;
  std::uint64_t since_, stage_since_;
  wait_stage stage_, furthest_;
  bool is_shown_;
};

// Marks.

/// Something was decided, or found out: a mark on the thread's track. `why` may be null.
void note_mark(mark_kind kind, const char* name, const char* why, std::uint64_t number) noexcept;

// Teams and regions.

/// What observers keep of a team. It lies on lines that no thread writes while a region runs.
class team_view {
 public:
  /// `its_team`: as in observed_member. `its_cpus`: how many CPUs its members have.
  team_view(const void* its_team, std::size_t its_members, std::size_t its_cpus) noexcept
      : team(its_team), members(its_members), cpus(its_cpus) {}
  inline ~team_view();
  team_view(const team_view&) = delete;
  team_view& operator=(const team_view&) = delete;

  const void* const team;
  const std::size_t members, cpus;
  observer_atomic<ledger_board*> made{nullptr};  ///< null: its ledger was never on
  observer_atomic<ledger_board*> kept{nullptr};  ///< null: its ledger is off
};
/// Where the ledger of a team goes when the team ends.
struct ledger_output {
  bool is_wanted;
  const char* file;          ///< "": stderr
  const char *name, *given;  ///< the variable that asks for it, and its value
};

/// Switches the ledger of a team on or off. Throws std::bad_alloc.
void keep_ledger(team_view& of, bool yes);
void reset_ledger(team_view& of) noexcept;
/// What was gathered so far, if the ledger was ever on. For any thread, at any time. Throws std::bad_alloc.
void gather_ledger(const team_view& of, ledger& to);
void print_ledger(const ledger& of, const ledger_output& to);
/// Prints the ledger if it is wanted and was ever on.
void show_ledger(const team_view& of, const char* name, const ledger_output& to) noexcept;
/// Frees what observers keep of a team.
void team_ends(team_view& of) noexcept;
/// The thread of a worker ends, or stops serving its team.
void worker_ends() noexcept;

/// A region or a loop, as its caller sees it.
struct observed_region {
  const char* kind;  ///< "run", "loop", "plan"
  std::uint32_t region, size, parts;
  std::uint64_t iterations;
  source_place where;  ///< no file: not known
  const void* place;   ///< tells loops apart whose call site is not known; or null
  bool is_loop;
};
/// What observers keep of the region that a team runs. Only its caller uses it.
class region_view {
 public:
  explicit region_view(team_view& of) noexcept : team(of) {}
  region_view(const region_view&) = delete;
  region_view& operator=(const region_view&) = delete;

  team_view& team;
  observed_region what = {};
  std::uint64_t since = 0;  ///< tick at which the region came; 0: only the ledger sees it
  // For the ledger.
  member_ledger* own = nullptr;     ///< of member 0; null: none is kept
  member_ledger* before = nullptr;  ///< of a region around this one, or null
  thread_log* log = nullptr;        ///< of the caller
  const ledger_board* board = nullptr;
  std::size_t account = 0;
  std::uint64_t begin = 0;
  std::uint16_t weight = 0;
};
/// A region is about to begin: no other thread knows of it yet.
void region_comes(region_view& of) noexcept;
/// The region has begun, and the other members know: they may come at any moment.
void region_begins(region_view& of, const observed_region& what) noexcept;
/// Every member has reported.
void region_ends(region_view& of) noexcept;
/// A region was called inside of another one, and runs on its caller alone.
void region_runs_inline(bool is_loop) noexcept;

/// A member begins its part of a region, which it has entered; it has ended its part.
void part_begins(const team_view& team, member_view& self) noexcept;
void part_ends(member_view& self) noexcept;

/// A thread begins a part of a share of a loop. It passes what loop_part_begins() has returned to loop_part_ends(),
/// unless that is null. With a guard object, a loop of 64 iterations on the caller alone took 67 to 71 ns instead of
/// 60.
open_part* loop_part_begins(const observed_member& who, std::uint32_t part) noexcept;
void loop_part_ends(open_part& what) noexcept;
/// For the ledger: the thread of rank `self` begins to run such a part, and has run it, before others can know. The
/// result is null if the ledger is off.
member_ledger* share_begins(const team_view& team, std::size_t self, std::uint32_t region) noexcept;
void share_ends(member_ledger& of) noexcept;

// Nodes of plans.

/// A node is about to run. Its name is copied.
void node_begins(const char* name) noexcept;
/// The member had to wait for a node of the plan that was made at the place `plan`.
void note_node_wait(const char* name, source_place plan, std::uint64_t ticks) noexcept;
/// A node has run.
void note_node(const char* name, std::uint64_t iteration, std::uint64_t begin) noexcept;

// What the environment asks for.

/// The values of LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY, for messages about wrong ones.
struct debug_aid_values {
  static constexpr const char* watchdog() {
    return "seconds as 2 or 0.5, at most a year, and perhaps ,abort and ,signal";
  }
  static constexpr const char* delay() { return "a number"; }
};
/// Starts what these variables ask for, once in a process. Prints a message if they are wrong.
void start_debug_aids() noexcept;
/// Whether these variables may have that value. Requires: it is in small letters.
bool is_watchdog_value(const char* word) noexcept;
bool is_delay_value(const char* word) noexcept;
/// Starts a trace that is written when the program ends. %p in `path` stands for the number of the process.
void start_trace_of_program(const char* path, const char* whose, std::size_t records);

team_view::~team_view() {
  if (made.load(memory_order_relaxed) != nullptr) team_ends(*this);  // 1
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_OBSERVE_HOOKS_HPP
