// SPDX-License-Identifier: MIT
// lockstep/trace.hpp -- a timeline of what the threads of a program do (layer: trace)
//
// While a trace runs, each thread records what it does: its part of each region, the constructs in which members meet,
// its waits, what a loop's steering decided, and what the program adds. The file opens in Perfetto (ui.perfetto.dev).
//
// Without a change of the program: LOCKSTEP_TRACE=trace.json in the environment, if the program makes a team. The file
// is written when the program ends as by exit(). LOCKSTEP_TRACE=trace.json,records=1M keeps 1M records of each thread.
//
//   TRACE-1  At most one trace runs at a time in a process. It does not have what threads did before it began, except
//            how long they had been waiting or working.
//   TRACE-2  Each thread keeps as many records as were asked for, and then loses the oldest ones. The file says how many
//            were lost, and from when on none is missing.
//   TRACE-3  Threads may run, begin and end while a trace starts, stops or is written. They never wait for it.
//   TRACE-4  A child of fork() records nothing, and writes nothing, until it starts a trace of its own.
//   TRACE-5  Names may be any text, which is copied when it is recorded; a trace keeps at most 65536 different ones.
//
// Cost   no trace: a load and a branch for each region, part and construct; for locks, events and the like nothing
//        unless the thread waits longer than half a microsecond. A trace: 88 bytes and 17 to 50 ns a record, once
//        1.4 MB for each thread, and more as it fills: 12 MB with the records that are kept by default.
// Order  none (TRACE-3).
// Errors none is thrown. The functions return false where there is nothing to start, to stop or to write, or no room.
// Example
//   lockstep::start_trace();
//   {
//     LOCKSTEP_TRACE_SCOPE("assemble");
//     lockstep::trace_mark("half way", 50);
//   }
//   lockstep::stop_trace("trace.json");
#ifndef LOCKSTEP_TRACE_HPP
#define LOCKSTEP_TRACE_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
// Called where observers() is not 0.
/// Begins a part of the timeline with a name; `outer` gets the name around it. Returns the tick, or 0 if the thread has no log.
std::uint64_t scope_begins(const char* name, const char*& outer) noexcept;
void scope_ends(const char* name, const char* outer, std::uint64_t since) noexcept;
void note_counter(const char* name, double value) noexcept;
void note_user_mark(const char* name, std::uint64_t value) noexcept;
}  // namespace detail

/// How much a trace keeps of each thread.
struct trace_options {
  static constexpr std::size_t default_records = std::size_t{1} << 17;

  std::size_t records_per_thread;  ///< rounded up to a power of two, at most 2^30; 88 bytes each

  constexpr explicit trace_options(std::size_t records = default_records) noexcept
      : records_per_thread(records) {}
};

/// From now on threads record. False if a trace runs already, or there is no memory for the records of this thread. If
/// there is none for those of another thread, that thread keeps fewer.
bool start_trace(trace_options options = trace_options());
/// Ends the trace; its records stay until the next one. One that LOCKSTEP_TRACE has started is written now,
/// and not at the end of the program. False if none runs.
bool stop_trace();
/// The same, and writes it. False, and a message, if it cannot be written.
bool stop_trace(const char* file);
/// Writes what was recorded so far, or in the trace that ran last, as Trace Event JSON.
bool write_trace(const char* file);
/// The same as a table for a terminal: what each thread did, and how long each name took.
std::string trace_summary();

/// Whether a trace runs now.
inline bool is_tracing() noexcept { return detail::is_observed_by(detail::observer::records); }

/// A part of the timeline of the calling thread, under a name, as long as this lives; LOCKSTEP_TRACE_SCOPE("name") makes one
/// for the rest of a scope. Regions that the thread calls meanwhile have the name, too.
class trace_scope {
 public:
  /// `name` is to live as long as this object.
  explicit trace_scope(const char* name) noexcept {
    if (LOCKSTEP_UNLIKELY(detail::observers() != 0)) {
      name_ = name;
      since_ = detail::scope_begins(name, outer_);
    }
  }
  ~trace_scope() {
    if (LOCKSTEP_UNLIKELY(since_ != 0)) detail::scope_ends(name_, outer_, since_);
  }
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;

 private:
  std::uint64_t since_ = 0;
  const char* name_;
  const char* outer_;
};

/// A mark on the timeline of the calling thread.
inline void trace_mark(const char* name, std::uint64_t value = 0) noexcept {
  if (LOCKSTEP_UNLIKELY(detail::observers() != 0)) detail::note_user_mark(name, value);
}
/// A value that changes over time: the timeline draws a curve for each name.
inline void trace_counter(const char* name, double value) noexcept {
  if (LOCKSTEP_UNLIKELY(detail::observers() != 0)) detail::note_counter(name, value);
}
/// Names the calling thread in timelines and messages from now on, and in debuggers as far as the system has room. At
/// most 47 characters; null or "" removes the name.
void name_this_thread(const char* name) noexcept;

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TRACE_HPP
