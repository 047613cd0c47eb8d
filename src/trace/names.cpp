// SPDX-License-Identifier: MIT
// src/trace/names.cpp -- the bodies of names.hpp and of named_object.hpp (layer: trace)
#include "names.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include <lockstep/named_object.hpp>
#include "../platform/fork.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE kept_texts* kept_texts::of_process() noexcept {
  observer_atomic<void*>& word = process().trace_texts;
  void* first = word.load(memory_order_acquire);  // 1
  if (first != nullptr) return static_cast<kept_texts*>(first);
  kept_texts* const made = new (std::nothrow) kept_texts();
  if (made == nullptr || word.compare_exchange_strong(first, made, memory_order_release,  // 2
                                                      memory_order_acquire)) {            // 1
    return made;
  }
  delete made;
  return static_cast<kept_texts*>(first);
}

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

LOCKSTEP_INLINE std::string site_text(const char* file, std::uint64_t line) {
  const char* last_part = file;
  for (const char* at = file; *at != 0; ++at) {
    if (*at == '/' || *at == '\\') last_part = at + 1;
  }
  return line == 0 ? last_part : last_part + (":" + std::to_string(line));
}

struct named_entry {
  shown<object_name> name;
  named_entry* next;
};

inline observer_atomic<void*>& names_near(const void* object) noexcept {
  const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
  return process().object_names[place % process_state::object_names_size].first;
}

LOCKSTEP_INLINE bool object_names::set(const void* object, const char* name) noexcept {
  if (object == nullptr) return false;
  watch_forks<locked_around_fork<&process_state::name_forks, object_names>>();
  const bool has_name = name != nullptr && name[0] != 0;
  object_name wanted = {};
  if (has_name) {
    wanted.object = object;
    std::snprintf(wanted.text, sizeof wanted.text, "%s", name);
  }
  observer_atomic<void*>& first = names_near(object);
  const holding<fork_section> held(process().name_forks);
  named_entry *place = nullptr, *unused = nullptr;
  named_entry* const head = static_cast<named_entry*>(first.load(memory_order_relaxed));  // 4
  for (named_entry* at = head; at != nullptr && place == nullptr; at = at->next) {
    object_name known;
    if (!at->name.read(known)) continue;
    if (known.object == nullptr) unused = at;
    if (known.object == object) place = at;
  }
  if (place == nullptr && has_name) place = unused;
  if (place != nullptr) place->name.show(wanted);
  if (place != nullptr || !has_name) return true;
  place = new (std::nothrow) named_entry();
  if (place == nullptr) return false;
  place->name.show(wanted);
  place->next = head;
  first.store(place, memory_order_release);  // 2
  return true;
}

LOCKSTEP_INLINE bool object_names::find(const void* object, object_name& out) noexcept {
  if (object == nullptr) return false;
  const void* const head = names_near(object).load(memory_order_acquire);  // 1
  for (const named_entry* at = static_cast<const named_entry*>(head); at != nullptr;
       at = at->next) {
    if (at->name.read(out) && out.object == object) return true;
  }
  return false;
}

}  // namespace detail

LOCKSTEP_INLINE bool name_object(const void* object, const char* name) noexcept {
  return detail::object_names::set(object, name);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
