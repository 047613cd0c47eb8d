// SPDX-License-Identifier: MIT
// src/trace/object_names.cpp -- the bodies of object_names.hpp (layer: trace)
#include "object_names.hpp"

#include <lockstep/named_object.hpp>

#include <cstdio>
#include <new>
#include "../platform/fork_tables.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool object_names::set(const void* object, const char* name) noexcept {
  if (object == nullptr) return false;
  watch_forks<locked_around_fork<&process_state::name_forks, object_names>>();
  const bool has_name = name != nullptr && name[0] != 0;
  object_name wanted = {};
  if (has_name) {
    wanted.object = object;
    std::snprintf(wanted.text, sizeof wanted.text, "%s", name);
  }
  observer_atomic<void*>& first = list_of(object);
  const holding<fork_section> held(process().name_forks);
  entry *place = nullptr, *unused = nullptr;
  void* const head = first.load(memory_order_relaxed);  // 3
  for (entry* at = static_cast<entry*>(head); at != nullptr && place == nullptr; at = at->next) {
    object_name known;
    if (!at->name.read(known)) continue;
    if (known.object == nullptr) unused = at;
    if (known.object == object) place = at;
  }
  if (place == nullptr && has_name) place = unused;
  if (place != nullptr) place->name.show(wanted);
  if (place != nullptr || !has_name) return true;
  place = new (std::nothrow) entry();
  if (place == nullptr) return false;
  place->name.show(wanted);
  place->next = static_cast<entry*>(head);
  first.store(place, memory_order_release);  // 1
  return true;
}

LOCKSTEP_INLINE bool object_names::find(const void* object, object_name& out) noexcept {
  if (object == nullptr) return false;
  const void* const head = list_of(object).load(memory_order_acquire);  // 2
  for (const entry* at = static_cast<const entry*>(head); at != nullptr; at = at->next) {
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
