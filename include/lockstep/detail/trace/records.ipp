// SPDX-License-Identifier: MIT
// lockstep/detail/trace/records.ipp -- the bodies of records.hpp (layer: trace)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  trace.store    release  -      the counts are set before: trace() acquires them
//   2  count.store    relaxed  -      as 1
//   3  count.load     acquire  -      the records are seen; pairs with the release of put()
//   4  word.load      acquire  -      pairs with the release of put(): the count that is read next is not older
//   5  count.load     relaxed  -      4 orders it
//   6  first.load     acquire  7      a text, and the table, is whole before its address is seen
//   7  first.cmp_exch release  6      as 6
//   8  count.add      relaxed  -      a limit; where 7 fails, nothing is read of the text that was before it
#ifndef LOCKSTEP_DETAIL_TRACE_RECORDS_IPP
#define LOCKSTEP_DETAIL_TRACE_RECORDS_IPP

#include <cstdlib>
#include <new>

#include "../platform/process.hpp"
#include "records.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_OBSERVER record_ring* record_ring::make(std::size_t room, record_ring* before) noexcept {
  slot* const room_of_records =
      new (std::nothrow) slot[room]();  // touched here, not by the records
  if (room_of_records == nullptr) return nullptr;
  record_ring* const made = new (std::nothrow) record_ring(room_of_records, room, before);
  if (made == nullptr) delete[] room_of_records;
  return made;
}

LOCKSTEP_OBSERVER void record_ring::begin(std::uint32_t trace, std::size_t records,
                                          bool stops) noexcept {
  count_.store(0, memory_order_relaxed);  // 2
  lost_.store(0, memory_order_relaxed);   // 2
  records_ = records;
  stops_ = stops;
  trace_.store(trace, memory_order_release);  // 1
}

LOCKSTEP_OBSERVER std::size_t record_ring::copy(trace_record* to, std::size_t room) const noexcept {
  const std::uint64_t end = count_.load(memory_order_acquire);  // 3
  std::uint64_t first = end > records_ ? end - records_ : 0;
  if (end - first > room) first = end - room;
  for (std::uint64_t at = first; at < end; ++at) {
    const slot& from = slots_[at & (records_ - 1)];
    for (unsigned k = 0; k < 4; ++k) {
      to[at - first].words[k] = from.words[k].load(memory_order_acquire);  // 4
    }
  }
  // The thread may be writing the two records behind its count now.
  const std::uint64_t now = count_.load(memory_order_relaxed);  // 5
  const std::uint64_t whole = now + 2 > records_ ? now + 2 - records_ : 0;
  std::uint64_t begin = first;
  if (!stops_ && whole > first && (now != end || end > records_ - 2))
    begin = whole < end ? whole : end;
  for (std::uint64_t at = begin; begin != first && at < end; ++at) to[at - begin] = to[at - first];
  return converted<std::size_t>(end - begin);
}

/// Lists that only grow: without a lock, so that a thread that forks may keep texts at any time.
struct kept_texts {
  struct text {
    text* next;
  };
  static constexpr std::size_t size = 128, most = 65536;

  observer_atomic<text*> first[size];
  observer_atomic<std::size_t> count;

  static const char* content(const text* of) noexcept {
    return reinterpret_cast<const char*>(of + 1);
  }
  static kept_texts* of_process() noexcept {
    observer_atomic<void*>& word = process().trace_texts;
    void* known = word.load(memory_order_acquire);  // 6
    if (known != nullptr) return static_cast<kept_texts*>(known);
    kept_texts* const made = new (std::nothrow) kept_texts();
    if (made == nullptr || word.compare_exchange_strong(known, made, memory_order_release,  // 7
                                                        memory_order_acquire)) {            // 6
      return made;
    }
    delete made;
    return static_cast<kept_texts*>(known);
  }
};

LOCKSTEP_OBSERVER const char* record_ring::keep(const char* given) noexcept {
  kept_texts* const texts = kept_texts::of_process();
  if (texts == nullptr) return "?";
  std::size_t place = 5381;
  for (const char* at = given; *at != 0; ++at) place = place * 33 + static_cast<unsigned char>(*at);
  observer_atomic<kept_texts::text*>& first = texts->first[place % kept_texts::size];
  kept_texts::text* next = first.load(memory_order_acquire);  // 6
  for (const kept_texts::text* at = next; at != nullptr; at = at->next) {
    if (std::strcmp(kept_texts::content(at), given) == 0) return kept_texts::content(at);
  }
  if (texts->count.fetch_add(1, memory_order_relaxed) >= kept_texts::most) {  // 8
    return "(too many names)";
  }
  const std::size_t length = std::strlen(given) + 1;
  void* const raw = std::malloc(sizeof(kept_texts::text) + length);
  if (raw == nullptr) return "?";
  kept_texts::text* const made = ::new (raw) kept_texts::text{next};
  std::memcpy(static_cast<void*>(made + 1), given, length);
  while (!first.compare_exchange_weak(made->next, made, memory_order_release,  // 7
                                      memory_order_relaxed)) {                 // 8
  }
  return kept_texts::content(made);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_RECORDS_IPP
