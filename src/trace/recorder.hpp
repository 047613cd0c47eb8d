// SPDX-License-Identifier: MIT
// src/trace/recorder.hpp -- writes what threads do into a ring of records for each thread (layer: trace)
//
// trace.hpp is for users, and trace_file.cpp makes the file. Only its thread writes a ring. The thread never waits, and
// takes no lock.
//
//   RECORD-1  At most one trace runs in a process. The rings with its number belong to it.
//   RECORD-2  A child of fork() records nothing until it starts a trace of its own.
//   RING-1  A record is read whole or not at all, also while its thread goes on writing. After reading, the reader
//           looks how far the writer is, and drops the records that the writer may have overwritten.
//   RING-2  A ring that is full loses its oldest records.
//   RING-3  A ring belongs to one trace. In the next trace, its thread begins it anew when it has something to write.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  session.load     acquire  2      a session is made before its address is seen
//   2  session.store    release  1      as 1
//   3  number.load      acquire  4      the options of the trace are set before its number
//   4  number.store     release  3      as 3
//   5  options          relaxed  -      ordered by 3 and 4
//   6  ring.store       release  -      a ring is whole before it is seen (2 of trace_view.hpp)
//   7  ring, number     relaxed  -      the ring of the thread, or of an earlier one; a number that stands for itself
//   8  place            relaxed  -      a hint that is whole in itself
//   9  count.store      release  11     a reader that sees the count sees the records before it
//   10 word.store       release  12     a reader that sees a word of a later round sees the count before it
//   11 count.load       acquire  9      as 9
//   12 word.load        acquire  10     as 10: the count that is read next is not older
//   13 count            relaxed  -      its own thread; else a number that stands for itself, or ordered by 12, 14
//   14 trace.store      release  15     the trace of the ring and its counts are set before
//   15 trace.load       acquire  14     as 14
//
// Cost   two looks at the tick clock for what takes time (10 ns each here), and a copy of 88 bytes.
#ifndef LOCKSTEP_SRC_TRACE_RECORDER_HPP
#define LOCKSTEP_SRC_TRACE_RECORDER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/clock.hpp>
#include "../observe/observers.hpp"
#include "../platform/fork.hpp"
#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

enum class record_kind : std::uint8_t {
  none,
  region,  ///< number: the team; label: the user's region; more: iterations; phase: parts of a share
  part,    ///< number: the team; detail: 1 of a loop; phase: the part
  construct,  ///< number: the team; more: after how many ticks it arrived
  wait,  ///< number: team or object; label: what the program calls the object; detail: wait_kind; size: the awaited rank
  stage,  ///< of a wait
  node,   ///< number: the iteration
  user,
  mark,     ///< detail: mark_kind; label: why, or null
  counter,  ///< number: the value's bits
  begin,  ///< of a thread; text: its name; number: what debuggers call it; detail 1: it has a new name
  wake,  ///< number: the word whose sleepers are woken
};

/// What happened. A field that its kind does not use is 0.
struct trace_record {
  std::uint64_t begin, end;  ///< ticks
  const char* text;
  const char* label;
  const char* file;  ///< of the call; null: not known
  std::uint64_t number, more;
  std::uint32_t line, region, phase, rank, size;
  std::uint32_t
      released_by;  ///< of a wait: the track of the thread that let it go, at the tick `more`; or nobody
  record_kind kind;
  std::uint8_t detail;
  std::uint8_t stage;  ///< of a wait: the last wait_stage
  bool is_woken;       ///< of a wait: the thread that let it go has woken it

  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
};

class record_ring {
 public:
  /// The memory of this many records is touched at once. The first record on an untouched page takes 0.3 us more.
  static constexpr std::size_t touched_at_once = 16384;

  /// Makes a ring with room for so many records, a power of two above 1; null if there is no memory. It is never freed.
  /// `before`: the ring that it replaces, which a thread may be reading, or null.
  static record_ring* make(std::size_t room, record_ring* before) noexcept {
    slot* const places = static_cast<slot*>(std::calloc(room, sizeof(slot)));
    if (places == nullptr) return nullptr;
    // All places are zeros from calloc(), but the later ones get memory only when they are written: a program that
    // records little takes no more memory.
    for (std::size_t i = 0; i < room && i < touched_at_once; ++i) ::new (places + i) slot();
    record_ring* const made = new (std::nothrow) record_ring(places, room, before);
    if (made == nullptr) std::free(places);
    return made;
  }

  std::size_t room() const noexcept { return room_; }
  const record_ring* before() const noexcept { return before_; }
  /// Begins anew, for the trace of that number, with so many records at most. Only for its thread.
  void begin(std::uint32_t trace, std::size_t records) noexcept {
    count_.store(0, memory_order_relaxed);  // 13
    records_ = records;
    trace_.store(trace, memory_order_release);  // 14
  }
  std::uint32_t trace() const noexcept { return trace_.load(memory_order_acquire); }  // 15

  /// Only for its thread.
  void put(const trace_record& of) noexcept {
    const std::uint64_t at = count_.load(memory_order_relaxed);  // 13
    std::uint64_t image[record_words];
    std::memcpy(image, &of, sizeof of);
    for (std::size_t k = 0; k < record_words; ++k) {
      slots_[at & (records_ - 1)].words[k].store(image[k], memory_order_release);  // 10
    }
    count_.store(at + 1, memory_order_release);  // 9
  }

  /// How many records there were, including lost ones.
  std::uint64_t count() const noexcept {
    return count_.load(memory_order_relaxed);  // 13
  }
  /// How many there are now, at most.
  std::size_t held() const noexcept {
    const std::uint64_t so_far = count_.load(memory_order_relaxed);  // 13
    return so_far < records_ ? static_cast<std::size_t>(so_far) : records_;
  }
  /// Copies what there is, the oldest first, to `to`, which has room for `room` records. Returns their number.
  std::size_t copy(trace_record* to, std::size_t room) const noexcept {
    const std::uint64_t end = count_.load(memory_order_acquire);  // 11
    std::uint64_t first = end > records_ ? end - records_ : 0;
    if (end - first > room) first = end - room;
    for (std::uint64_t at = first; at < end; ++at) {
      std::uint64_t image[record_words];
      for (std::size_t k = 0; k < record_words; ++k) {
        image[k] = slots_[at & (records_ - 1)].words[k].load(memory_order_acquire);  // 12
      }
      std::memcpy(static_cast<void*>(to + (at - first)), image, sizeof *to);
    }
    // The thread may be writing the record after its count now.
    const std::uint64_t now = count_.load(memory_order_relaxed);  // 13
    const std::uint64_t whole = now + 1 > records_ ? now + 1 - records_ : 0;
    const std::uint64_t begin = whole > first ? (std::min)(whole, end) : first;
    if (begin != first) std::move(to + (begin - first), to + (end - first), to);
    return converted<std::size_t>(end - begin);
  }

  std::uint64_t thread = 0;  ///< the thread that writes it, and that alone uses this

 private:
  static constexpr std::size_t record_words = sizeof(trace_record) / 8;
  static_assert(sizeof(trace_record) % 8 == 0, "whole words");
  struct slot {
    observer_atomic<std::uint64_t> words[record_words];
  };

  record_ring(slot* its_slots, std::size_t room, record_ring* before) noexcept
      : slots_(its_slots), room_(room), before_(before) {}

  slot* const slots_;
  const std::size_t room_;
  record_ring* const before_;
  std::size_t records_ = 1;
  observer_atomic<std::uint32_t> trace_{0};
  observer_atomic<std::uint64_t> count_{0};
};

/// Which thread last let go the waiters of a word, when, and whether it woke any. A notifier that finds no sleeper does
/// not know the waiters, so a waiter looks here when its wait is over. Words that share a place overwrite each other:
/// then an arrow is missing.
///
///   bits of a place  0..40 tick, 41 wakes, 42..55 track, 56..63 a part of the hash of the word's address
struct last_notify {
  std::uint32_t track;
  std::uint64_t at;  ///< tick
  bool wakes;
};
class last_notifies {
 public:
  void note(const void* word, const last_notify& by) noexcept {
    if (by.track >= most_tracks) return;
    const std::uint64_t hash = hash_of(word);
    places_[hash % places].store(hash >> 56 << 56 | std::uint64_t{by.track} << 42 |
                                     (by.wakes ? wakes_bit : 0) | (by.at & tick_mask),
                                 memory_order_relaxed);  // 8
  }
  /// False if no such thread is known from after `since` and until `now`.
  bool find(const void* word, std::uint64_t since, std::uint64_t now,
            last_notify& by) const noexcept {
    const std::uint64_t hash = hash_of(word);
    const std::uint64_t known = places_[hash % places].load(memory_order_relaxed);  // 8
    const std::uint64_t age = (now - known) & tick_mask;
    if (known == 0 || known >> 56 != hash >> 56 || age > now - since) return false;
    by = {static_cast<std::uint32_t>(known >> 42) & (most_tracks - 1), now - age,
          (known & wakes_bit) != 0};
    return true;
  }

 private:
  static constexpr std::size_t places = 4096;
  static constexpr std::uint32_t most_tracks = 1u << 14;
  static constexpr std::uint64_t wakes_bit = std::uint64_t{1} << 41, tick_mask = wakes_bit - 1;

  static std::uint64_t hash_of(const void* word) noexcept {
    const std::uint64_t product = reinterpret_cast<std::uintptr_t>(word) * 0x9E3779B97F4A7C15u;
    return product ^ product >> 32;
  }

  unseamed_atomic<std::uint64_t> places_[places] = {};  // too many for the explorer
};

/// The trace of the process: the one that runs, or ran last. It is made once, and never freed.
struct trace_session {
  observer_atomic<std::uint32_t> number{0};   ///< of the trace; 0: none yet
  observer_atomic<std::uint64_t> records{0};  ///< for each thread, a power of two
  last_notifies notifies;
  // Under the lock of process_state::trace_forks.
  bool is_running = false;
  std::uint64_t begin = 0, end = 0;  ///< ticks
  bool is_to_be_written = false;     ///< to the path, when the program ends
  char path[4096];
};

struct recorder {
  static trace_session* session() noexcept {
    return static_cast<trace_session*>(process().trace.load(memory_order_acquire));  // 1
  }
  /// The ring of the calling thread, for the trace that runs or ran last; null: no trace yet, or no memory.
  static record_ring* ring_of(thread_log& log) noexcept {
    const trace_session* const of = session();
    record_ring* const ring = log.ring.load(memory_order_relaxed);                           // 7
    const std::uint32_t number = of != nullptr ? of->number.load(memory_order_relaxed) : 0;  // 7
    if (LOCKSTEP_UNLIKELY(ring == nullptr || ring->trace() != number ||
                          ring->thread != log.number)) {
      return make_ready(log);
    }
    return ring;
  }

  static trace_record record_of(thread_log& log, record_kind kind, std::uint64_t begin,
                                std::uint64_t end, const char* text,
                                std::uint64_t number) noexcept {
    trace_record made = {};
    made.kind = kind;
    made.begin = begin;
    made.end = end;
    made.text = log.texts.kept(text);
    made.number = number;
    return made;
  }
  static void put(thread_log& log, const trace_record& of) noexcept {
    if (record_ring* const ring = ring_of(log)) ring->put(of);
  }
  static void put(thread_log& log, record_kind kind, std::uint64_t begin, std::uint64_t end,
                  const char* text, std::uint64_t number) noexcept {
    put(log, record_of(log, kind, begin, end, text, number));
  }

  static constexpr std::size_t most_records = std::size_t{1} << 30;

  /// start(), if there is memory for so many records of the calling thread. False also above most_records.
  static bool start_with_room(std::size_t records) noexcept {
    if (records > most_records) return false;
    thread_log* const log = log_of_this_thread();
    if (log != nullptr && ring_with_room(*log, rounded_records(records)) == nullptr) return false;
    return start(records);
  }
  /// Starts a trace; false if one runs, or there is no memory. Requires: no more than most_records.
  static bool start(std::size_t records) noexcept {
    const std::size_t rounded = rounded_records(records);
    watch_forks<locked_around_fork<&process_state::trace_forks, recorder>>();
    const holding<fork_section> held(process().trace_forks);
    trace_session* of = session();
    if (of == nullptr) {
      of = new (std::nothrow) trace_session;
      if (of == nullptr) return false;
      process().trace.store(of, memory_order_release);  // 2
    }
    if (of->is_running) return false;
    of->is_running = true;
    const std::uint32_t before = of->number.load(memory_order_relaxed);  // 7
    of->records.store(rounded, memory_order_relaxed);                    // 5
    of->begin = tick_clock::now();
    of->end = 0;
    of->number.store(before + 1, memory_order_release);  // 4
    begin_to_observe(observer::records);
    return true;
  }
  /// Ends the trace; false if none runs.
  static bool stop() noexcept {
    const holding<fork_section> held(process().trace_forks);
    trace_session* const of = session();
    if (of == nullptr || !of->is_running) return false;
    end_to_observe(observer::records);
    of->end = tick_clock::now();
    of->is_running = false;
    return true;
  }
  static bool is_running() noexcept {
    const holding<fork_section> held(process().trace_forks);
    const trace_session* const of = session();
    return of != nullptr && of->is_running;
  }
  /// RECORD-2.
  static void in_child() noexcept {
    end_to_observe(observer::records);
    if (trace_session* const of = session()) of->is_running = of->is_to_be_written = false;
  }

 private:
  static std::size_t rounded_records(std::size_t records) noexcept {
    std::size_t rounded = 4;
    while (rounded < records && rounded < most_records) rounded *= 2;
    return rounded;
  }
  /// The ring of the thread, or a larger one that replaces it; null: no memory.
  static record_ring* ring_with_room(thread_log& log, std::size_t records) noexcept {
    record_ring* const known = log.ring.load(memory_order_relaxed);  // 7
    if (known != nullptr && known->room() >= records) return known;
    record_ring* const made = record_ring::make(records, known);
    if (made != nullptr) log.ring.store(made, memory_order_release);  // 6
    return made;
  }
  LOCKSTEP_NOINLINE static record_ring* make_ready(thread_log& log) noexcept {
    const trace_session* const of = session();
    const std::uint32_t number = of != nullptr ? of->number.load(memory_order_acquire) : 0;  // 3
    if (number == 0) return nullptr;
    std::size_t records = converted<std::size_t>(of->records.load(memory_order_relaxed));  // 5
    record_ring* ring = ring_with_room(log, records);
    while (ring == nullptr && records > record_ring::touched_at_once) {
      records /= 2;
      ring = ring_with_room(log, records);
    }
    if (ring == nullptr) return nullptr;
    if (ring->trace() != number) {
      ring->begin(number, records);
    }
    ring->thread = log.number;
    thread_name name = {};
    log.name.read(name);
    const std::uint64_t now = tick_clock::now();
    ring->put(record_of(log, record_kind::begin, now, now, name.text, log.shown_number()));
    return ring;
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_RECORDER_HPP
