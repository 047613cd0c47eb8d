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
#ifndef LOCKSTEP_DETAIL_TRACE_RECORDS_IPP
#define LOCKSTEP_DETAIL_TRACE_RECORDS_IPP

#include <cstdlib>
#include <new>

#include "../platform/fork.hpp"
#include "../platform/process.hpp"
#include "records.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_COLD record_ring* record_ring::make(std::size_t room) noexcept {
  slot* const slots = new (std::nothrow) slot[room]();  // touched here, not by the records
  if (slots == nullptr) return nullptr;
  record_ring* const made = new (std::nothrow) record_ring(slots, room);
  if (made == nullptr) delete[] slots;
  return made;
}

LOCKSTEP_COLD void record_ring::begin(std::uint32_t trace, std::size_t records,
                                      bool stops) noexcept {
  count_.store(0, memory_order_relaxed);  // 2
  lost_.store(0, memory_order_relaxed);   // 2
  records_ = records;
  stops_ = stops;
  trace_.store(trace, memory_order_release);  // 1
}

LOCKSTEP_COLD std::size_t record_ring::copy(trace_record* to, std::size_t room) const noexcept {
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
  return static_cast<std::size_t>(end - begin);
}

struct kept_texts {
  struct text {
    text* next;
  };
  static constexpr std::size_t size = 256, most = 65536;

  text* of[size];
  std::size_t count;
};

LOCKSTEP_COLD const char* record_ring::keep(const char* given) noexcept {
  process_state& all = process();
  const holding<system_mutex> held(all.trace_forks.lock());
  kept_texts* texts = static_cast<kept_texts*>(all.trace_texts);
  if (texts == nullptr) {
    all.trace_texts = texts = static_cast<kept_texts*>(std::calloc(1, sizeof(kept_texts)));
    if (texts == nullptr) return "?";
  }
  std::size_t place = 5381;
  for (const char* at = given; *at != 0; ++at) place = place * 33 + static_cast<unsigned char>(*at);
  kept_texts::text*& first = texts->of[place % kept_texts::size];
  for (kept_texts::text* at = first; at != nullptr; at = at->next) {
    const char* const known = reinterpret_cast<const char*>(at + 1);
    if (std::strcmp(known, given) == 0) return known;
  }
  if (texts->count >= kept_texts::most) return "(too many names)";
  const std::size_t length = std::strlen(given) + 1;
  void* const raw = std::malloc(sizeof(kept_texts::text) + length);
  if (raw == nullptr) return "?";
  first = ::new (raw) kept_texts::text{first};
  ++texts->count;
  return static_cast<const char*>(std::memcpy(first + 1, given, length));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_RECORDS_IPP
