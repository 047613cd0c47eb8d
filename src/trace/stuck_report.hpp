// SPDX-License-Identifier: MIT
// src/trace/stuck_report.hpp -- who waits for whom, who is missing, which waits form a ring (layer: trace)
//
// Pure: works on a snapshot of all threads, which the watchdog takes, and makes a text for people of it.
//
//   STUCK-1  A member has come to a phase if its last construct is of that region, and in that phase or a later one,
//            and it has arrived there. All others of the region are missing: a member that was let go from a phase has
//            seen all arrive in it.
//   STUCK-2  A wait leads from a thread to another that it cannot end without: the member that is named, each missing
//            member, the holder of a lock, the thread that has to end. So threads in a ring of such steps wait for
//            ever, unless one of the waits has a time limit or is stopped from outside. Waits that began after the
//            snapshot was begun do not count: the others were all under way when the first thread was looked at.
//   STUCK-3  What is not known adds no step. So every ring that is found is one, but some may not be found.
#ifndef LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP
#define LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "names.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What was seen of a thread.
struct seen_thread {
  char label[80];        ///< "thread 4711 'lockstep 3'"
  std::uint64_t number;  ///< no other thread has it
  char state;            ///< as the system tells it: R, S, D, T, ...; 0: not known
  std::uint32_t wait_count, visit_count;
  shown_wait waits[thread_log::most_waits];         ///< the outermost first
  wait_stage stage;                                 ///< of the innermost
  construct_visit visits[thread_log::most_visits];  ///< the latest last
  open_part part;  ///< the innermost, or the last; team is null if there was none
  node_visit node;
  held_locks held;
  last_meetings met;

  seen_thread() noexcept { std::memset(static_cast<void*>(this), 0, sizeof *this); }
};

struct stuck_snapshot {
  std::vector<seen_thread> threads;
  std::vector<object_name> names;  ///< of what they wait for or hold
  std::uint64_t now;               ///< tick at which the first thread was looked at
  double ticks_per_second;

  double seconds_since(std::uint64_t tick) const noexcept {
    return now > tick ? static_cast<double>(now - tick) / ticks_per_second : 0;
  }
};

/// What the program calls the object, or null.
const char* name_of(const stuck_snapshot& all, const void* object) noexcept;

/// Whether waits get time to go on before they are looked at: a watchdog that slept much longer than it meant to was
/// stopped, with the whole process, and so were those that are waited for. Times in nanoseconds.
class stop_excuse {
 public:
  /// After a sleep. Never twice in a row: a watchdog that always oversleeps reports, too.
  bool is_due(std::uint64_t limit, std::uint64_t meant, std::uint64_t slept) noexcept {
    const bool was_stopped = slept > meant && slept - meant > limit / 2 + 1000000;
    was_due_ = was_stopped && !was_due_;
    return was_due_;
  }
  /// How long.
  static std::uint64_t time_of(std::uint64_t limit) noexcept { return limit / 4 + 1; }

 private:
  bool was_due_ = false;
};

/// The wait of an idle worker, which is not reported.
bool is_idle(const wait_subject& what) noexcept;

/// The wait of a thread that counts: the innermost. Null: it waits for nothing, or is idle.
const shown_wait* wait_of(const seen_thread& one) noexcept;

/// The threads that this one cannot go on without, as indices: STUCK-2.
std::vector<std::size_t> awaited_by(const stuck_snapshot& all, std::size_t thread);

/// Threads that wait for each other, each for the next one, the last for the first; empty if there are none.
std::vector<std::size_t> find_ring(const stuck_snapshot& all);

/// The ranks of the members that have come to the phase in which this thread waits, and of those that have not. False if
/// it waits in none.
bool find_missing(const stuck_snapshot& all, std::size_t thread, std::vector<std::uint32_t>& come,
                  std::vector<std::uint32_t>& missing);

/// The ranks that have come to the object at which this thread waits for so many, and those that have not: by what all
/// who wait there in this phase saw when they began to, and those themselves. False if it waits for no such object.
bool find_arrivals(const stuck_snapshot& all, std::size_t thread, std::vector<std::uint32_t>& come,
                   std::vector<std::uint32_t>& missing);

/// Two members that were in the same phase of a region at different places, the earliest that is known.
struct construct_mismatch {
  construct_visit one, other;
};
bool find_mismatch(const stuck_snapshot& all, const construct_visit& in, construct_mismatch& found);

/// What the snapshot says, as a text of several lines. `why` is the first one, without its end.
std::string stuck_report(const stuck_snapshot& all, const char* why);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP
