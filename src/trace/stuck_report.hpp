// SPDX-License-Identifier: MIT
// src/trace/stuck_report.hpp -- which threads wait for which, which are missing, which form a ring (layer: trace)
//
// Pure functions. They work on a snapshot of all threads, which the watchdog takes, and make a text for people.
//
//   STUCK-1  A member has come to a phase if it has arrived in its last construct of that region, in that phase or a
//            later one. All other members of the region are missing: a member that was let go from a phase has seen all
//            arrive in it.
//   STUCK-2  A wait leads from a thread to each thread without which it cannot end: the member that it names, each
//            missing member, the holder of a lock, the thread that is joined. So threads in a ring of such steps wait for ever, unless one of the
//            waits has a time limit or is stopped from outside. Waits that began after the snapshot began do not count:
//            all others were under way when the first thread was looked at.
//   STUCK-3  What is not known adds no step. So every ring that is found is real, but some may not be found.
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
  std::uint64_t number;  ///< thread_log::thread(): 0 if it has ended
  char state;            ///< as the system tells it: R, S, D, T, ...; 0: not known
  std::uint32_t wait_count, visit_count;
  shown_wait waits[thread_log::most_waits];         ///< the outermost first
  wait_stage stage;                                 ///< of the innermost
  construct_visit visits[thread_log::most_visits];  ///< the latest last
  open_part part;  ///< the innermost part, or the last one; team is null if there was none
  node_visit node;
  held_locks held;
  last_meetings met;

  seen_thread() noexcept { std::memset(static_cast<void*>(this), 0, sizeof *this); }
};

struct stuck_snapshot {
  std::vector<seen_thread> threads;
  std::vector<object_name> names;  ///< of the objects that they wait for or hold
  std::uint64_t now;               ///< tick at which the first thread was looked at
  double ticks_per_second;

  double seconds_since(std::uint64_t tick) const noexcept {
    return now > tick ? static_cast<double>(now - tick) / ticks_per_second : 0;
  }
};

/// The name that the program gave the object, or null.
const char* name_of(const stuck_snapshot& all, const void* object) noexcept;

/// Whether waits get more time before the watchdog looks at them. If it slept much longer than it meant to, the whole
/// process was stopped, and so were the threads that others wait for. Times are in nanoseconds.
class stop_excuse {
 public:
  /// Asked after each sleep. It is never true twice in a row: a watchdog that always oversleeps must report, too.
  bool is_due(std::uint64_t limit, std::uint64_t meant, std::uint64_t slept) noexcept {
    const bool was_stopped = slept > meant && slept - meant > limit / 2 + 1000000;
    was_due_ = was_stopped && !was_due_;
    return was_due_;
  }
  /// How much more time.
  static std::uint64_t time_of(std::uint64_t limit) noexcept { return limit / 4 + 1; }

 private:
  bool was_due_ = false;
};

/// Whether it is the wait of an idle worker, which is not reported.
bool is_idle(const wait_subject& what) noexcept;

/// The wait of a thread that counts: the innermost one. Null if the thread does not wait, or is idle.
const shown_wait* wait_of(const seen_thread& one) noexcept;

/// The indices of the threads without which this one cannot go on: STUCK-2.
std::vector<std::size_t> awaited_by(const stuck_snapshot& all, std::size_t thread);

/// Threads that wait for each other, each for the next one, the last for the first; empty if there are none.
std::vector<std::size_t> find_ring(const stuck_snapshot& all);

/// The ranks of the members that have come to the phase in which this thread waits, and of those that have not. False
/// if it waits in no phase.
bool find_missing(const stuck_snapshot& all, std::size_t thread, std::vector<std::uint32_t>& come,
                  std::vector<std::uint32_t>& missing);

/// The ranks that have come to the object at which this thread waits for others, and those that have not. Those that
/// wait there in this phase have come, and so have those that they saw. False if the thread waits for no such object.
bool find_arrivals(const stuck_snapshot& all, std::size_t thread, std::vector<std::uint32_t>& come,
                   std::vector<std::uint32_t>& missing);

/// Two members that were at different places in the same phase of a region: the earliest such phase that is known.
struct construct_mismatch {
  construct_visit one, other;
};
bool find_mismatch(const stuck_snapshot& all, const construct_visit& in, construct_mismatch& found);

/// The snapshot as a text of several lines. `why` is the first line, without its end.
std::string stuck_report(const stuck_snapshot& all, const char* why);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_STUCK_REPORT_HPP
