// SPDX-License-Identifier: MIT
// src/trace/watch_hooks.hpp -- what the watchdog is told, and keeps of each thread (layer: trace)
//
// The watchdog reads the logs of threads while they run (thread_log.hpp). What it needs beyond that is in a watch_log
// of each thread: the last constructs, not only the last one; the part of a region that the thread is in; the node of a
// graph; the locks that it holds.
//
//   WATCH-1  Only its thread writes to a watch_log. It is hung on the log of its thread, and used again with it.
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  watchdog, count relaxed -      its own thread has stored it, or one before it (10 of thread_log.hpp); before 4
//   2  watchdog.store release  3      the watch_log is made before its address is seen
//   3  watchdog.load  acquire  2      as 2
//   4  count, thread  release  5      a visit is shown before it is counted; what is left of another thread is gone
//   5  count, thread  acquire  4      as 4
#ifndef LOCKSTEP_SRC_TRACE_WATCH_HOOKS_HPP
#define LOCKSTEP_SRC_TRACE_WATCH_HOOKS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A member's part of a region.
struct region_part {
  const void* team;  ///< as construct_visit's; null: none yet
  std::uint32_t region, rank, size;
  std::uint64_t began, ended;  ///< ticks; ended is 0 while it runs
};

/// A node of a graph that a thread runs, or has run last.
struct node_visit {
  char name[40];               ///< cut, and a copy: the node may end before it is read
  std::uint64_t began, ended;  ///< began is 0: none yet
};

/// The last objects outside of regions at which the thread waited for others, as which rank, and in which phase. The
/// latest first.
struct last_meetings {
  static constexpr std::uint32_t most = 4;
  struct meeting {
    const void* object;
    std::uint32_t rank, phase;
  };

  std::uint32_t count;
  meeting all[most];
};

/// More than `most` are not known.
struct held_locks {
  static constexpr std::uint32_t most = 8;

  std::uint32_t count;
  const void* objects[most];
};

class watch_log {
 public:
  static constexpr std::uint32_t most_visits = 8, most_parts = 4;

  /// How many visits there were, modulo 2^32; the last ones are at their numbers modulo most_visits.
  observer_atomic<std::uint32_t> visit_count{0};
  /// The number of the thread that writes here.
  observer_atomic<std::uint64_t> thread{0};
  shown<construct_visit> visits[most_visits];
  shown<region_part> part;  ///< the innermost that runs, or the last
  shown<node_visit> node;
  shown<held_locks> locks;
  shown<last_meetings> meetings;

  std::uint32_t visits_so_far() const noexcept {
    return visit_count.load(memory_order_acquire);  // 5
  }
  bool is_of(std::uint64_t number) const noexcept {
    return thread.load(memory_order_acquire) == number;  // 5
  }

  // The thread's own.
  std::uint32_t part_count = 0;
  bool shows_ended_part = false;
  region_part parts[most_parts] = {};
  held_locks held = {};
  last_meetings met = {};
  node_visit node_here = {};
};

/// Called where observer::watches is on, on the thread itself.
struct watch_hooks {
  /// For readers: what the watchdog knows of that thread, or null.
  static watch_log* of(const thread_log& log) noexcept {
    return static_cast<watch_log*>(log.watchdog.load(memory_order_acquire));  // 3
  }

  static void wait_begins(thread_log& log, const wait_subject& what) noexcept {
    if (what.kind != wait_kind::end_of_part) show_outer_part(log);
    if (what.expected != 0 && what.rank != wait_subject::nobody) meets(log, what);
  }
  static void wait_ends(thread_log& log, const wait_subject&) noexcept { show_outer_part(log); }

  /// A member has come to a construct; it arrives in a phase, or goes on: the same visit, by its `came`, with more in it.
  static void visit_changes(thread_log& log, const construct_visit& visit) noexcept;

  static void part_begins(thread_log& log, const region_part& part) noexcept;
  static void part_ends(thread_log& log, std::uint64_t now) noexcept;

  static void node_begins(thread_log& log, const char* name, std::uint64_t now) noexcept;
  static void node_ends(thread_log& log, std::uint64_t now) noexcept;

  static void lock_taken(thread_log& log, const void* object) noexcept;
  static void lock_left(thread_log& log, const void* object) noexcept;

 private:
  /// A part that has ended is shown until its region has. Then the one from which that was called is again.
  static void show_outer_part(thread_log& log) noexcept;
  static void visit_begins(thread_log& log, const construct_visit& visit) noexcept;
  static void meets(thread_log& log, const wait_subject& what) noexcept;
  static watch_log* mine(thread_log& log) noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_WATCH_HOOKS_HPP
