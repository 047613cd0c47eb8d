// SPDX-License-Identifier: MIT
// src/observe/hooks.hpp -- what the library tells those who watch (layer: observe)
//
// The rooms above call these where observers() is not 0, and else go on:
//     if (LOCKSTEP_UNLIKELY(observers() != 0)) note_wake(&word);
// Their bodies, and all that observers keep, are in detail/trace, which stands on top of all: what a hook needs of a
// member, a region or a team is plain data of this header.
//
//   HOOK-1  A hook throws nothing, waits for nobody, and changes nothing but what observers keep.
//   HOOK-2  What is observed at its begin is told of its end, also if nobody watches any more by then.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  made.load   relaxed  -      the team ends: nobody else uses it
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

class ledger_board;  ///< of detail/trace: what the ledger keeps of a team

}  // namespace detail

struct ledger;  ///< of ledger.hpp

namespace detail {

// Waits.

/// A wait of the calling thread, as long as this lives: from its long part on.
class observed_wait {
 public:
  /// Subject: has subject(), a wait_subject. Asked only where somebody watches.
  template <class Subject>
  explicit observed_wait(const Subject& of) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0)) begin(of.subject());
  }
  ~observed_wait() {
    if (LOCKSTEP_UNLIKELY(log_ != nullptr)) end();
  }
  observed_wait(const observed_wait&) = delete;
  observed_wait& operator=(const observed_wait&) = delete;

  /// From now on it spins, yields or sleeps.
  void enter(wait_stage next) noexcept {
    if (LOCKSTEP_UNLIKELY(log_ != nullptr)) change(next);
  }

 private:
  void begin(const wait_subject& what) noexcept;
  void change(wait_stage next) noexcept;
  void record_stage(std::uint64_t now) noexcept;
  void end() noexcept;

  thread_log* log_ = nullptr;
  wait_subject what_;
  std::uint64_t since_, stage_since_;
  wait_stage stage_, furthest_;
  bool is_shown_;
};

// What was decided, or found out.

/// A mark on the thread's track. `why` may be null.
void note_mark(mark_kind kind, const char* name, const char* why, std::uint64_t number) noexcept;

// Teams and regions.

/// What observers keep of a team. On lines that nobody writes while a region runs.
class team_view {
 public:
  /// `its_team`: what observers know it by: observed_member's. Its members have so many CPUs.
  team_view(const void* its_team, std::size_t its_members, std::size_t its_cpus) noexcept
      : team(its_team), members(its_members), cpus(its_cpus) {}
  inline ~team_view();
  team_view(const team_view&) = delete;
  team_view& operator=(const team_view&) = delete;

  const void* const team;
  const std::size_t members, cpus;
  observer_atomic<ledger_board*> made{nullptr};  ///< null: its ledger was never on
  observer_atomic<ledger_board*> kept{nullptr};  ///< null: it is off
};
/// Where the ledger of a team goes when the team ends.
struct ledger_output {
  bool is_wanted;
  const char* file;          ///< "": stderr
  const char *name, *given;  ///< of the variable that says so
};

/// Throws std::bad_alloc.
void keep_ledger(team_view& of, bool yes);
void reset_ledger(team_view& of) noexcept;
/// What was gathered so far, if the ledger was ever on. Any thread, at any time. Throws std::bad_alloc.
void gather_ledger(const team_view& of, ledger& to);
void print_ledger(const ledger& of, const ledger_output& to);
/// Prints the ledger, if there is one and it is wanted.
void show_ledger(const team_view& of, const char* name, const ledger_output& to) noexcept;
/// Its memory is given back.
void team_ends(team_view& of) noexcept;
/// A worker's thread ends, or serves its team no more.
void worker_ends() noexcept;

/// A region or a loop, from its caller's view.
struct observed_region {
  const char* kind;  ///< "run", "loop", "plan"
  std::uint32_t region, size, parts;
  std::uint64_t iterations;
  source_place where;  ///< no file: not known
  const void* place;   ///< of a loop of which that is not known; or null
  bool is_loop;
};
/// What observers keep of the region that a team runs: its caller's own. The caller looks once whether they see it.
class region_view {
 public:
  explicit region_view(team_view& of) noexcept : team(of) {}
  region_view(const region_view&) = delete;
  region_view& operator=(const region_view&) = delete;

  team_view& team;
  observed_region what = {};
  std::uint64_t since = 0;  ///< tick at which it came; 0: only the ledger sees it
  // The ledger's.
  member_ledger* own = nullptr;     ///< of member 0; null: none are kept
  member_ledger* before = nullptr;  ///< of a region around this one
  thread_log* log = nullptr;        ///< of the caller
  const ledger_board* board = nullptr;
  std::size_t account = 0;
  std::uint64_t begin = 0;
  std::uint16_t weight = 0;
};
/// A region is about to begin: nobody knows of it yet.
void region_comes(region_view& of) noexcept;
/// It has begun, and the others know: they come meanwhile.
void region_begins(region_view& of, const observed_region& what) noexcept;
/// Every member has reported.
void region_ends(region_view& of) noexcept;
/// It was called from inside of a region, and runs on its caller alone.
void region_runs_inline(bool is_loop) noexcept;

/// A member begins its part of a region, which it has entered; and has ended it.
void part_begins(const team_view& team, member_view& self) noexcept;
void part_ends(member_view& self) noexcept;

/// A thread begins a part of a share of a loop; and ends what that has returned, which may be null. Not a guard object:
/// with one, a loop of 64 iterations on the caller alone took 67 to 71 ns in place of 60.
open_part* loop_part_begins(const observed_member& who, std::uint32_t part) noexcept;
void loop_part_ends(open_part& what) noexcept;
/// For the ledger: the thread of rank `self` begins to run such parts; and ends one before others can know. Null: none
/// is kept.
member_ledger* share_begins(const team_view& team, std::size_t self, std::uint32_t region) noexcept;
void share_ends(member_ledger& of) noexcept;

/// The parts of loops that one thread of a team runs.
class observed_share {
 public:
  /// `team` may be null.
  observed_share(const team_view* team, std::size_t self, std::uint32_t region) noexcept {
    if (LOCKSTEP_UNLIKELY(observers() != 0) && team != nullptr) {
      own_ = share_begins(*team, self, region);
    }
  }
  /// A part is done, before others can know.
  void end_part() const noexcept {
    if (LOCKSTEP_UNLIKELY(own_ != nullptr)) share_ends(*own_);
  }

 private:
  member_ledger* own_ = nullptr;
};

// Nodes of plans.

/// A node is about to run. The name is copied.
void node_begins(const char* name) noexcept;
/// The member had to wait for a node of the plan that was made there.
void note_node_wait(const char* name, source_place plan, std::uint64_t ticks) noexcept;
/// A node was run.
void note_node(const char* name, std::uint64_t iteration, std::uint64_t begin) noexcept;

// What the environment asks for.

/// What messages say that LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY must be.
struct debug_aid_values {
  static constexpr const char* watchdog() {
    return "seconds as 2 or 0.5, at most a year, and perhaps ,abort and ,signal";
  }
  static constexpr const char* delay() { return "a number"; }
};
/// Starts what these variables ask for, once in a process. Says so if they are wrong.
void start_debug_aids() noexcept;
/// Whether these variables may have that value, which is in small letters.
bool is_watchdog_value(const char* word) noexcept;
bool is_delay_value(const char* word) noexcept;
/// Starts a trace that is written when the program ends. `path`: %p in it is the number of the process.
void start_trace_of_program(const char* path, const char* whose, std::size_t records);

team_view::~team_view() {
  if (made.load(memory_order_relaxed) != nullptr) team_ends(*this);  // 1
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_OBSERVE_HOOKS_HPP
