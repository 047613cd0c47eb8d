// SPDX-License-Identifier: MIT
// lockstep/detail/trace/object_names.hpp -- the table of names that objects were given (layer: trace)
//
// For named_object.hpp, which says what names are. The table is one for the process: lists that only grow, by the
// address. Entries are changed under a lock that is held around fork(), and read without.
//
// Memory order (# marks the line)
//   #  access       order    pairs  why it suffices
//   1  first.store  release  2      an entry is whole before it is in the list
//   2  first.load   acquire  1      the other half
//   3  first.load   relaxed  -      under the lock under which it is stored
#ifndef LOCKSTEP_DETAIL_TRACE_OBJECT_NAMES_HPP
#define LOCKSTEP_DETAIL_TRACE_OBJECT_NAMES_HPP

#include <cstddef>
#include <cstdint>

#include "thread_log.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstdio>
#include <new>
#include "../platform/fork_tables.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct object_name {
  const void* object;  ///< null: the entry is free
  char text[48];
};

struct object_names {
  /// Null or "" takes the name away. False if there is no memory, or no object.
  LOCKSTEP_COLD static bool set(const void* object, const char* name) noexcept;
  /// False if it has none.
  LOCKSTEP_COLD static bool find(const void* object, object_name& out) noexcept;

 private:
  struct entry {
    shown<object_name> name;
    entry* next;
  };
  struct around_fork;

  static observer_atomic<void*>& list_of(const void* object) noexcept {
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return process().object_names[place % process_state::object_names_size].first;
  }
};

#if LOCKSTEP_HAS_BODIES

/// The table is whole in the child.
struct object_names::around_fork {
  static void before() { process().name_forks.enter(); }
  static void after() {
    if (process().name_forks.is_held()) process().name_forks.leave();
  }
  static void child() { after(); }
};

LOCKSTEP_COLD bool object_names::set(const void* object, const char* name) noexcept {
  if (object == nullptr) return false;
  watch_forks<around_fork>();
  const bool has_name = name != nullptr && name[0] != 0;
  object_name wanted = {};
  if (has_name) {
    wanted.object = object;
    std::snprintf(wanted.text, sizeof wanted.text, "%s", name);
  }
  observer_atomic<void*>& first = list_of(object);
  const holding<fork_section> held(process().name_forks);
  entry* place = nullptr;
  void* const head = first.load(memory_order_relaxed);  // 3
  for (entry* at = static_cast<entry*>(head); at != nullptr; at = at->next) {
    object_name known;
    if (!at->name.read(known)) continue;
    if (known.object == nullptr && place == nullptr) place = at;
    if (known.object != object) continue;
    place = at;
    break;
  }
  if (!has_name) {
    object_name known;
    if (place != nullptr && place->name.read(known) && known.object == object) {
      place->name.show(wanted);
    }
    return true;
  }
  if (place != nullptr) {
    place->name.show(wanted);
    return true;
  }
  place = new (std::nothrow) entry();
  if (place == nullptr) return false;
  place->name.show(wanted);
  place->next = static_cast<entry*>(head);
  first.store(place, memory_order_release);  // 1
  return true;
}

LOCKSTEP_COLD bool object_names::find(const void* object, object_name& out) noexcept {
  if (object == nullptr) return false;
  const void* const head = list_of(object).load(memory_order_acquire);  // 2
  for (const entry* at = static_cast<const entry*>(head); at != nullptr; at = at->next) {
    if (at->name.read(out) && out.object == object) return true;
  }
  return false;
}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_OBJECT_NAMES_HPP
