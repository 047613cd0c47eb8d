// SPDX-License-Identifier: MIT
// src/trace/records.hpp -- a ring of records for each thread (layer: trace)
//
// A record is 32 bytes: what began when, how long it took, a text, a number. A longer one takes two records; the second
// is the `rest`. One thread writes a ring; it never waits, and takes no lock.
//
//   RING-1  A record is read whole or not at all, also while its thread writes on: the reader looks how far the
//           writer is after it has read, and drops what may have been written over meanwhile.
//   RING-2  A ring that is full loses its oldest records, or takes no more, as the trace says. It counts what is lost.
//   RING-3  A ring is of one trace. Its thread begins it anew in the next one, when it has something to write.
//
//   words of a record
//     0  tick at which it began                       of a rest: a text
//     1  bits 0..7 kind, 8..15 detail, 16 scale, 24..63 duration in ticks; with `scale` in 2^20 ticks
//                                                     of a rest: 0..7 kind, 8..31 rank, 32..55 size or awaited
//     2  a text                                       of a rest: a number
//     3  a number or an address                       of a rest: two numbers of 32 bits
//
// Memory order (# marks the line)
//   #  access            order    pairs  why it suffices
//   1  count.store       release  -      who sees the count (3 of the bodies) sees the records before it
//   2  word.store        release  -      who sees a word of a later round (4 of the bodies) sees the count before it
//   3  count.load        relaxed  -      its own thread; of others a number that stands for itself
//   4  lost              relaxed  -      a number that stands for itself
//   5  trace.load        acquire  -      what the ring is for is set before (1 of the bodies)
//
// Cost   two looks at the tick clock for what takes time (10 ns each here), and 5 to 10 ns a record.
#ifndef LOCKSTEP_SRC_TRACE_RECORDS_HPP
#define LOCKSTEP_SRC_TRACE_RECORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lockstep/detail/observe/wait_kinds.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

enum class record_kind : std::uint8_t {
  none,
  region,  ///< number: the team. Rest: text user's region; 2 iterations; 3 number of the region, parts of a share
  part,    ///< detail: 1 of a loop; number: the team. Rest: 3 number of the region, part
  construct,  ///< number: the team. Rest: text file; 2 line, and after how many ticks it arrived; 3 region, phase
  wait,  ///< number: the object; detail: wait_stage, and from bit 2 on wait_kind. Rest: text file; 2 what it sleeps on; 3 phase, line
  stage,  ///< of a wait
  node,   ///< number: the iteration; detail: 1 if run for another member
  user,
  mark,     ///< detail: mark_kind. Rest, if there is one: text why
  counter,  ///< number: the value's bits
  begin,  ///< of a thread; text: its name; number: what debuggers call it; detail 1: it has a new name
  wake,  ///< number: the word whose sleepers are woken
  rest,
  label,  ///< text: what the program calls the object of the wait before
  site,   ///< behind a region. Text: the file in which it was called; number: the line
  let_go  ///< behind a wait; number: the log's number of the thread that let it go; from when to when that took
};

struct trace_record {
  std::uint64_t words[4];

  static trace_record of(record_kind kind, std::uint8_t detail, std::uint64_t begin,
                         std::uint64_t end, const char* text, std::uint64_t number) noexcept {
    const std::uint64_t time = end - begin;
    const bool is_long = time >> 40 != 0;
    const std::uint64_t shown = is_long ? time >> 20 : time;
    return {{begin,
             static_cast<std::uint64_t>(kind) | std::uint64_t{detail} << 8 |
                 (is_long ? std::uint64_t{1} << 16 : 0) | shown << 24,
             converted<std::uint64_t>(reinterpret_cast<std::uintptr_t>(text)), number}};
  }
  static trace_record rest_of(const char* text, std::uint32_t rank, std::uint32_t size,
                              std::uint64_t number, std::uint32_t high,
                              std::uint32_t low) noexcept {
    return {{converted<std::uint64_t>(reinterpret_cast<std::uintptr_t>(text)),
             static_cast<std::uint64_t>(record_kind::rest) | std::uint64_t{rank & 0xFFFFFFu} << 8 |
                 std::uint64_t{size & 0xFFFFFFu} << 32,
             number, std::uint64_t{high} << 32 | low}};
  }

  record_kind kind() const noexcept { return static_cast<record_kind>(words[1] & 0xFF); }
  std::uint8_t detail() const noexcept { return static_cast<std::uint8_t>(words[1] >> 8); }
  /// Of a wait.
  static std::uint8_t detail_of(wait_stage furthest, wait_kind of) noexcept {
    static_assert(static_cast<unsigned>(wait_kind::how_many) <= 64, "6 bits");
    return static_cast<std::uint8_t>(static_cast<unsigned>(furthest) | static_cast<unsigned>(of)
                                                                           << 2);
  }
  wait_stage wait_stage_of() const noexcept { return static_cast<wait_stage>(detail() & 3u); }
  wait_kind wait_kind_of() const noexcept { return static_cast<wait_kind>(detail() >> 2); }
  std::uint64_t begin() const noexcept { return words[0]; }
  std::uint64_t duration() const noexcept {
    return (words[1] & 0x10000) != 0 ? words[1] >> 24 << 20 : words[1] >> 24;
  }
  std::uint64_t end() const noexcept { return begin() + duration(); }
  const char* text() const noexcept { return text_in(words[2]); }
  std::uint64_t number() const noexcept { return words[3]; }

  // Of a rest.
  const char* rest_text() const noexcept { return text_in(words[0]); }
  std::uint32_t rank() const noexcept {
    return static_cast<std::uint32_t>(words[1] >> 8) & 0xFFFFFF;
  }
  std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(words[1] >> 32) & 0xFFFFFF;
  }
  std::uint64_t rest_number() const noexcept { return words[2]; }
  std::uint32_t high() const noexcept { return static_cast<std::uint32_t>(words[3] >> 32); }
  std::uint32_t low() const noexcept { return static_cast<std::uint32_t>(words[3]); }

 private:
  static const char* text_in(std::uint64_t word) noexcept {
    return reinterpret_cast<const char*>(converted<std::uintptr_t>(word));
  }
};
static_assert(sizeof(trace_record) == 32, "two a cache line");

class record_ring {
 public:
  /// So many records have their memory from the first on. A record that is the first on its page takes 0.3 us more.
  static constexpr std::size_t touched_at_once = 65536;

  /// With room for so many records, a power of two above 1; null if there is no memory. Never freed.
  /// `before`: the ring that it replaces, which somebody may be reading; or null.
  static record_ring* make(std::size_t room, record_ring* before) noexcept;

  std::size_t room() const noexcept { return room_; }
  const record_ring* before() const noexcept { return before_; }
  /// Begins anew, for a trace of that number, with so many records at most. By its thread.
  void begin(std::uint32_t trace, std::size_t records, bool stops) noexcept;
  std::uint32_t trace() const noexcept { return trace_.load(memory_order_acquire); }  // 5

  /// One or two records. By its thread.
  void put(const trace_record* of, unsigned count) noexcept {
    const std::uint64_t at = count_.load(memory_order_relaxed);  // 3
    if (stops_ && at + count > records_) {
      lost_.store(lost_.load(memory_order_relaxed) + count, memory_order_relaxed);  // 4
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      slot& to = slots_[(at + i) & (records_ - 1)];
      for (unsigned k = 0; k < 4; ++k)
        to.words[k].store(of[i].words[k], memory_order_release);  // 2
    }
    count_.store(at + count, memory_order_release);  // 1
  }

  /// How many records there were, with those that are lost.
  std::uint64_t count() const noexcept {
    return count_.load(memory_order_relaxed) + lost_.load(memory_order_relaxed);  // 3, 4
  }
  /// How many there are now, at most.
  std::size_t held() const noexcept {
    const std::uint64_t so_far = count_.load(memory_order_relaxed);  // 3
    return so_far < records_ ? static_cast<std::size_t>(so_far) : records_;
  }
  /// Copies what there is, the oldest first, to `to`, which has place for `room` records; their number.
  std::size_t copy(trace_record* to, std::size_t room) const noexcept;

  std::uint64_t thread = 0;  ///< that writes it: its thread's own

 private:
  struct slot {
    observer_atomic<std::uint64_t> words[4];
  };

  record_ring(slot* its_slots, std::size_t room, record_ring* before) noexcept
      : slots_(its_slots), room_(room), before_(before) {}

  slot* const slots_;
  const std::size_t room_;
  record_ring* const before_;
  std::size_t records_ = 1;
  bool stops_ = false;
  observer_atomic<std::uint32_t> trace_{0};
  observer_atomic<std::uint64_t> count_{0}, lost_{0};
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_RECORDS_HPP
