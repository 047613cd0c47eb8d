// SPDX-License-Identifier: MIT
// src/wait/misuse.cpp -- the functions of misuse.hpp: reports wrong use of objects (layer: wait)
//
// The locks of the table order more than the objects promise. So switch the diagnosis off to look for missing order
// (ThreadSanitizer).
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  unchecked.load  relaxed  -      set before the unit that it stands for runs
#include "misuse_registry.hpp"

#include <cstdio>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace misuse {

[[noreturn]] LOCKSTEP_INLINE void report(const void* object, const char* kind, const char* text) {
  end_program("%s at %p: %s", kind, object, text);
}

#if LOCKSTEP_DIAGNOSE_MISUSE

LOCKSTEP_AT_LOAD watch_forks_at_load() { registry::watch_forks(); }

/// "destroyed by thread 1 'a' while thread 2 'b' is waiting on it".
[[noreturn]] LOCKSTEP_INLINE void report_deed(const void* object, const char* kind,
                                              const char* deed, const char* other,
                                              const char* does) {
  char text[320];
  std::snprintf(text, sizeof text, "%s by %s while %s %s", deed,
                detail::label_of_this_thread().text, other, does);
  report(object, kind, text);
}

/// Whether the table is complete. A unit without the diagnosis does not write to it, so its locks, unlocks and wakes
/// would look like misuse to other units.
LOCKSTEP_INLINE bool table_is_whole() noexcept {
  return detail::process().unchecked_units.load(detail::memory_order_relaxed) == 0;  // 1
}

LOCKSTEP_INLINE void locked(const void* object, bool is_watched) {
  registry::add(object, registry::role::owner);
  if (is_watched) note_lock(object, true);
}
LOCKSTEP_INLINE void locked_shared(const void* object) {
  registry::add(object, registry::role::reader);
  note_if_watched(object, true);
}
LOCKSTEP_INLINE void waiting(const void* object) { registry::add(object, registry::role::waiter); }

LOCKSTEP_INLINE void locking(const void* object, const char* kind) {
  sync_point();
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number != detail::number_of_this_thread()) return;
  report_deed(object, kind, "locked", "the same thread",
              "holds it; unlock it first, or take a recursive_mutex");
}

LOCKSTEP_INLINE void check_owner(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number == 0)
    report_deed(object, kind, "unlocked", "no thread", "holds it; lock it first");
  if (owner.number != detail::number_of_this_thread()) {
    report_deed(object, kind, "unlocked", owner.text,
                "holds it; the thread that has locked it unlocks it");
  }
}

LOCKSTEP_INLINE void unlocking(const void* object, const char* kind) {
  check_owner(object, kind);
  note_if_watched(object, false);
  sync_point();
  registry::remove(object, registry::role::owner);
}

LOCKSTEP_INLINE void check_no_reader(const void* object, const char* kind) {
  if (!table_is_whole() || !registry::remove(object, registry::role::reader)) return;
  report_deed(object, kind, "locked", "the same thread",
              "holds it as a reader; call unlock_shared() first");
}

LOCKSTEP_INLINE void unlocking_shared(const void* object, const char* kind) {
  note_if_watched(object, false);
  if (registry::remove(object, registry::role::reader) || !table_is_whole()) return;
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  const char* const holder = reader.number == 0 ? "no thread" : reader.text;
  report_deed(object, kind, "unlocked as a reader", holder,
              "holds it as a reader; call lock_shared() first");
}

LOCKSTEP_INLINE void let_go(const void* object, std::uint64_t thread) {
  registry::remove(object, registry::role::waiter, thread);
}

LOCKSTEP_INLINE void check_only_waiter(const void* object, const char* kind) {
  const detail::thread_label waiter = registry::find(object, registry::role::waiter);
  if (waiter.number == 0) return;
  report_deed(object, kind, "waited for", waiter.text,
              "is waiting on it; it is for one waiter at a time, a manual_reset_event for many");
}

LOCKSTEP_INLINE void used_by_plan(const void* object) {
  registry::add(object, registry::role::plan);
}
LOCKSTEP_INLINE void unused_by_plan(const void* object) {
  registry::remove(object, registry::role::plan, registry::any_thread);
}
LOCKSTEP_INLINE void ended_for_plans(const void* object) {
  while (registry::remove(object, registry::role::plan, registry::any_thread)) {
  }
}
LOCKSTEP_INLINE bool lives_for_plans(const void* object) {
  return registry::find(object, registry::role::plan).number != 0;
}

LOCKSTEP_INLINE void destroying(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label waiter = registry::find(object, registry::role::waiter);
  if (waiter.number == 0 || detail::is_static(object)) return;
  report_deed(object, kind, "destroyed", waiter.text,
              "is waiting on it; end its wait first, and keep the object until that has returned");
}

LOCKSTEP_INLINE void destroying_lock(const void* object, const char* kind) {
  destroying(object, kind);
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  if ((owner.number == 0 && reader.number == 0) || detail::is_static(object)) return;
  report_deed(object, kind, "destroyed", owner.number != 0 ? owner.text : reader.text,
              "holds it; unlock it first");
}

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
