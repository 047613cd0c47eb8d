// SPDX-License-Identifier: MIT
// src/trace/recorder.cpp -- the bodies of recorder.hpp (layer: trace)
#include "recorder.hpp"

#include <cstdlib>
#include <new>

#include "../observe/observers.hpp"
#include "../platform/fork.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE record_ring* record_ring::make(std::size_t room, record_ring* before) noexcept {
  slot* const places = static_cast<slot*>(std::calloc(room, sizeof(slot)));
  if (places == nullptr) return nullptr;
  // All places are zeros from calloc(), but the later ones get memory only when they are written: a program that
  // records little takes no more memory.
  for (std::size_t i = 0; i < room && i < touched_at_once; ++i) ::new (places + i) slot();
  record_ring* const made = new (std::nothrow) record_ring(places, room, before);
  if (made == nullptr) std::free(places);
  return made;
}

LOCKSTEP_INLINE void record_ring::begin(std::uint32_t trace, std::size_t records) noexcept {
  count_.store(0, memory_order_relaxed);  // 13
  records_ = records;
  trace_.store(trace, memory_order_release);  // 14
}

LOCKSTEP_INLINE std::size_t record_ring::copy(trace_record* to, std::size_t room) const noexcept {
  const std::uint64_t end = count_.load(memory_order_acquire);  // 11
  std::uint64_t first = end > records_ ? end - records_ : 0;
  if (end - first > room) first = end - room;
  for (std::uint64_t at = first; at < end; ++at) {
    const slot& from = slots_[at & (records_ - 1)];
    for (unsigned k = 0; k < 4; ++k) {
      to[at - first].words[k] = from.words[k].load(memory_order_acquire);  // 12
    }
  }
  // The thread may be writing the two records after its count now.
  const std::uint64_t now = count_.load(memory_order_relaxed);  // 13
  const std::uint64_t whole = now + 2 > records_ ? now + 2 - records_ : 0;
  std::uint64_t begin = first;
  if (whole > first && (now != end || end > records_ - 2)) begin = whole < end ? whole : end;
  for (std::uint64_t at = begin; begin != first && at < end; ++at) to[at - begin] = to[at - first];
  return converted<std::size_t>(end - begin);
}

LOCKSTEP_INLINE std::size_t rounded_records(std::size_t records) noexcept {
  std::size_t rounded = 16;
  while (rounded < records && rounded < recorder::most_records) rounded *= 2;
  return rounded;
}

/// RECORD-2.
LOCKSTEP_INLINE void recorder::in_child() noexcept {
  end_to_observe(observer::records);
  if (trace_session* const of = session()) of->is_running = of->is_to_be_written = false;
}

LOCKSTEP_INLINE bool recorder::start_with_room(std::size_t records) noexcept {
  if (records > most_records) return false;
  thread_log* const log = log_of_this_thread();
  if (log != nullptr && ring_with_room(*log, rounded_records(records)) == nullptr) return false;
  return start(records);
}

LOCKSTEP_INLINE bool recorder::start(std::size_t records) noexcept {
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

LOCKSTEP_INLINE bool recorder::stop() noexcept {
  const holding<fork_section> held(process().trace_forks);
  trace_session* const of = session();
  if (of == nullptr || !of->is_running) return false;
  end_to_observe(observer::records);
  of->end = tick_clock::now();
  of->is_running = false;
  return true;
}

LOCKSTEP_INLINE bool recorder::is_running() noexcept {
  const holding<fork_section> held(process().trace_forks);
  const trace_session* const of = session();
  return of != nullptr && of->is_running;
}

/// The ring of the thread, or a larger one that replaces it; null: no memory.
LOCKSTEP_INLINE record_ring* recorder::ring_with_room(thread_log& log,
                                                      std::size_t records) noexcept {
  record_ring* const known = log.ring.load(memory_order_relaxed);  // 7
  if (known != nullptr && known->room() >= records) return known;
  record_ring* const made = record_ring::make(records, known);
  if (made != nullptr) log.ring.store(made, memory_order_release);  // 6
  return made;
}

LOCKSTEP_INLINE record_ring* recorder::make_ready(thread_log& log) noexcept {
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
  const trace_record begin = trace_record::of(record_kind::begin, 0, now, now,
                                              log.texts.kept(name.text), log.shown_number());
  ring->put(&begin, 1);
  return ring;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
