// SPDX-License-Identifier: MIT
// src/trace/records.cpp -- the bodies of records.hpp (layer: trace)
#include "records.hpp"

#include <cstdlib>
#include <new>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  trace.store    release  -      the counts are set before: trace() acquires them
//   2  count.store    relaxed  -      as 1
//   3  count.load     acquire  -      the records are seen; pairs with the release of put()
//   4  word.load      acquire  -      pairs with the release of put(): the count that is read next is not older
//   5  count.load     relaxed  -      4 orders it

LOCKSTEP_INLINE record_ring* record_ring::make(std::size_t room, record_ring* before) noexcept {
  slot* const places = static_cast<slot*>(std::calloc(room, sizeof(slot)));
  if (places == nullptr) return nullptr;
  // The others are zeros until they are written, which is what these are: a program that records little takes no more
  // memory.
  for (std::size_t i = 0; i < room && i < touched_at_once; ++i) ::new (places + i) slot();
  record_ring* const made = new (std::nothrow) record_ring(places, room, before);
  if (made == nullptr) std::free(places);
  return made;
}

LOCKSTEP_INLINE void record_ring::begin(std::uint32_t trace, std::size_t records,
                                        bool stops) noexcept {
  count_.store(0, memory_order_relaxed);  // 2
  lost_.store(0, memory_order_relaxed);   // 2
  records_ = records;
  stops_ = stops;
  trace_.store(trace, memory_order_release);  // 1
}

LOCKSTEP_INLINE std::size_t record_ring::copy(trace_record* to, std::size_t room) const noexcept {
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
