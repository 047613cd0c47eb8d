// SPDX-License-Identifier: MIT
// src/trace/recorder.hpp -- writes what threads do into their rings (layer: trace)
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
//   6  ring.store       release  -      a ring is whole before it is seen (2 of trace_view.hpp)
//   7  ring, number     relaxed  -      the thread's own ring, or of one before it; a number that stands for itself
//   8  place            relaxed  -      a hint that is whole in itself
#ifndef LOCKSTEP_SRC_TRACE_RECORDER_HPP
#define LOCKSTEP_SRC_TRACE_RECORDER_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include "records.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Which thread notified the waiters of a word last, and when. A notifier that finds no sleeper does not know the
/// waiters, so a waiter looks here when its wait is over. Words that share a place overwrite each other: then an arrow
/// is missing.
///
///   bits of a place  0..41 tick, 42..55 number of the log, 56..63 of the hash of the word's address
class last_notifies {
 public:
  void note(const void* word, std::uint32_t track, std::uint64_t now) noexcept {
    if (track >= most_tracks) return;
    const std::uint64_t hash = hash_of(word);
    places_[hash % places].store(hash >> 56 << 56 | std::uint64_t{track} << 42 | (now & tick_mask),
                                 memory_order_relaxed);  // 8
  }
  /// False if nobody is known who did after `since` and not after `now`.
  bool find(const void* word, std::uint64_t since, std::uint64_t now, std::uint32_t& track,
            std::uint64_t& at) const noexcept {
    const std::uint64_t hash = hash_of(word);
    const std::uint64_t known = places_[hash % places].load(memory_order_relaxed);  // 8
    const std::uint64_t age = (now - known) & tick_mask;
    if (known == 0 || known >> 56 != hash >> 56 || age > now - since) return false;
    track = static_cast<std::uint32_t>(known >> 42) & (most_tracks - 1);
    at = now - age;
    return true;
  }

 private:
  static constexpr std::size_t places = 4096;
  static constexpr std::uint32_t most_tracks = 1u << 14;
  static constexpr std::uint64_t tick_mask = (std::uint64_t{1} << 42) - 1;

  static std::uint64_t hash_of(const void* word) noexcept {
    const std::uint64_t product = reinterpret_cast<std::uintptr_t>(word) * 0x9E3779B97F4A7C15u;
    return product ^ product >> 32;
  }

  unseamed_atomic<std::uint64_t> places_[places] = {};  // too many for the explorer
};

/// The trace of the process: the one that runs, or ran last. Made once, never freed.
struct trace_session {
  observer_atomic<std::uint32_t> number{0};   ///< of the trace; 0: none yet
  observer_atomic<std::uint64_t> records{0};  ///< for each thread, a power of two
  observer_atomic<std::uint32_t> stops{0};    ///< 1: what does not fit is left out
  last_notifies notifies;
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
    put(log, {trace_record::of(kind, detail, begin, end, log.texts.kept(text), number)});
  }
  /// One record, or two that belong together.
  template <unsigned Count>
  static void put(thread_log& log, const trace_record (&of)[Count]) noexcept {
    if (record_ring* const ring = ring_of(log)) ring->put(of, Count);
  }

  static constexpr std::size_t most_records = std::size_t{1} << 30;

  /// The same, if there is room for so many records of the calling thread.
  static bool start_with_room(std::size_t records, bool stops) noexcept;
  /// Starts a trace; false if one runs, or there is no memory. Requires: no more than most_records.
  static bool start(std::size_t records, bool stops) noexcept;
  /// Ends the trace; false if none runs.
  static bool stop() noexcept;
  static bool is_running() noexcept;
  static void in_child() noexcept;

 private:
  static record_ring* ring_with_room(thread_log& log, std::size_t records) noexcept;
  static record_ring* make_ready(thread_log& log) noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_RECORDER_HPP
