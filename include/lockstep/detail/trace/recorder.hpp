// SPDX-License-Identifier: MIT
// lockstep/detail/trace/recorder.hpp -- writes what threads do into their rings (layer: trace)
//
// For users: trace.hpp. The file is made by trace_export.hpp.
//
//   RECORD-1  At most one trace runs in a process. Its rings are those that carry its number.
//   RECORD-2  A child of fork() records nothing until it starts a trace of its own.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  session.load     acquire  2      a session is made before its address is seen
//   2  session.store    release  1      as 1
//   3  number.load      acquire  4      what the trace wants is set before its number
//   4  number.store     release  3      as 3
//   5  options          relaxed  -      ordered by 3 and 4
//   6  ring.store       release  -      a ring is whole before it is seen (2 of trace_view.ipp)
//   7  ring, number     relaxed  -      the thread's own ring, or of one before it; a number that stands for itself
#ifndef LOCKSTEP_DETAIL_TRACE_RECORDER_HPP
#define LOCKSTEP_DETAIL_TRACE_RECORDER_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/clock.hpp"
#include "observers.hpp"
#include "records.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The trace of the process: the one that runs, or ran last. Made once, never freed.
struct trace_session {
  observer_atomic<std::uint32_t> number{0};   ///< of the trace; 0: none yet
  observer_atomic<std::uint64_t> records{0};  ///< for each thread, a power of two
  observer_atomic<std::uint32_t> stops{0};    ///< 1: what does not fit is left out
  // Under the lock of process_state::trace_forks.
  bool is_running = false;
  std::uint64_t begin = 0, end = 0;  ///< ticks
  bool is_to_be_written = false;     ///< when the program ends, to the path
  char path[4096];
};

struct recorder {
  static trace_session* session() noexcept {
    return static_cast<trace_session*>(process().trace.load(memory_order_acquire));  // 1
  }
  /// The ring of the calling thread, for the trace that runs; null: no memory.
  static record_ring* ring_of(thread_log& log) noexcept {
    const trace_session* const of = session();
    record_ring* const ring = log.ring.load(memory_order_relaxed);                           // 7
    const std::uint32_t number = of != nullptr ? of->number.load(memory_order_relaxed) : 0;  // 7
    if (LOCKSTEP_UNLIKELY(ring == nullptr || ring->trace() != number ||
                          ring->thread != log.thread())) {
      return make_ready(log);
    }
    return ring;
  }

  static void put(thread_log& log, record_kind kind, std::uint8_t detail, std::uint64_t begin,
                  std::uint64_t end, const char* text, std::uint64_t number) noexcept {
    record_ring* const ring = ring_of(log);
    if (ring == nullptr) return;
    const trace_record one = trace_record::of(kind, detail, begin, end, ring->kept(text), number);
    ring->put(&one, 1);
  }

  /// Starts a trace; false if one runs, or there is no memory.
  LOCKSTEP_OBSERVER static bool start(std::size_t records, bool stops) noexcept;
  /// No more is recorded; false if none runs.
  LOCKSTEP_OBSERVER static bool stop() noexcept;
  LOCKSTEP_OBSERVER static bool is_running() noexcept;

 private:
  LOCKSTEP_OBSERVER static record_ring* make_ready(thread_log& log) noexcept;
};

/// For trace.hpp: a part of the timeline with a name.
struct user_region {
  LOCKSTEP_OBSERVER static std::uint64_t begin(const char* name, const char*& outer) noexcept;
  LOCKSTEP_OBSERVER static void end(const char* name, const char* outer,
                                    std::uint64_t since) noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#if LOCKSTEP_HAS_OBSERVERS
#include "recorder.ipp"
#endif

#endif  // LOCKSTEP_DETAIL_TRACE_RECORDER_HPP
