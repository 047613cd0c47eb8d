// SPDX-License-Identifier: MIT
// src/trace/kept_texts.cpp -- the bodies of kept_texts.hpp (layer: trace)
#include "kept_texts.hpp"

#include <cstdlib>
#include <new>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* keep_text(const char* given) noexcept {
  kept_texts* const texts = kept_texts::of_process();
  if (texts == nullptr) return "?";
  std::size_t place = 5381;
  for (const char* at = given; *at != 0; ++at) place = place * 33 + static_cast<unsigned char>(*at);
  observer_atomic<kept_texts::text*>& first = texts->first[place % kept_texts::size];
  kept_texts::text* next = first.load(memory_order_acquire);  // 1
  for (const kept_texts::text* at = next; at != nullptr; at = at->next) {
    if (std::strcmp(kept_texts::content(at), given) == 0) return kept_texts::content(at);
  }
  if (texts->count.fetch_add(1, memory_order_relaxed) >= kept_texts::most) {  // 3
    return "(too many names)";
  }
  const std::size_t length = std::strlen(given) + 1;
  void* const raw = std::malloc(sizeof(kept_texts::text) + length);
  if (raw == nullptr) return "?";
  kept_texts::text* const made = ::new (raw) kept_texts::text{next};
  std::memcpy(static_cast<void*>(made + 1), given, length);
  while (!first.compare_exchange_weak(made->next, made, memory_order_release,  // 2
                                      memory_order_relaxed)) {                 // 3
  }
  return kept_texts::content(made);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
