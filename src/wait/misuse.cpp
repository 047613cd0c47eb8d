// SPDX-License-Identifier: MIT
// src/wait/misuse.cpp -- the functions of misuse.hpp: reports wrong use of objects (layer: wait)
//
// The locks of the table order more than the objects promise. So switch the diagnosis off to look for missing order
// (ThreadSanitizer).
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  unchecked.load  relaxed  -      set before the unit that it stands for runs
#include <lockstep/detail/wait/misuse.hpp>

#include <cstdint>

#include <lockstep/detail/platform/error.hpp>
#include "../platform/fork.hpp"
#include "../platform/process.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if LOCKSTEP_DIAGNOSE_MISUSE
struct misuse_entry : list_node<misuse_entry> {
  const void* const object;
  const misuse::role as;
  const thread_label who;

  misuse_entry(const void* of, misuse::role is) : object(of), as(is), who(label_of_this_thread()) {}
};
#endif

namespace misuse {

#if LOCKSTEP_DIAGNOSE_MISUSE

// Which thread has what to do with which object. One table for the process. It is never destroyed, because static
// objects may be used until the program ends.

/// The child's table is consistent, and keeps only the entries of the thread that is left and those of plans.
struct around_fork : guarded_by_section {
  static fork_section& section() { return process().misuse_forks; }
  static void lock() {
    for (misuse_bucket& each : process().misuse) each.lock.lock();
  }
  static void unlock() {
    for (misuse_bucket& each : process().misuse) each.lock.unlock();
  }
  static void in_child() {
    for (misuse_bucket& each : process().misuse) {
      for (misuse_entry *at = each.entries.first(), *next; at != nullptr; at = next) {
        next = at->next();
        if (at->as == role::plan || at->who.number == number_of_this_thread()) continue;
        each.entries.remove(*at);
        delete at;
      }
      each.lock.unlock();
    }
  }
};
LOCKSTEP_FIRST_AT_LOAD watch_forks_at_load() { watch_forks<around_fork>(); }  // ATFORK-3

/// The bucket of an object's entries, locked while this lives.
struct entries_of {
  misuse_bucket& bucket;
  const holding<system_mutex> lock;

  explicit entries_of(const void* object)
      : bucket(process().misuse[reinterpret_cast<std::uintptr_t>(object) / 8 %
                                process_state::misuse_size]),
        lock(bucket.lock) {}
  misuse_entry* find(const void* object, role as, std::uint64_t thread) const noexcept {
    misuse_entry* each = bucket.entries.first();
    while (each != nullptr && (each->object != object || each->as != as ||
                               (thread != 0 && each->who.number != thread))) {
      each = each->next();
    }
    return each;
  }
};

LOCKSTEP_INLINE void note(const void* object, role as) {
  misuse_entry* const made = new misuse_entry(object, as);
  const entries_of all(object);
  all.bucket.entries.push_back(*made);
}

LOCKSTEP_INLINE bool forget(const void* object, role as, std::uint64_t thread) {
  const entries_of all(object);
  misuse_entry* const found = all.find(object, as, thread);
  if (found != nullptr) all.bucket.entries.remove(*found);
  delete found;
  return found != nullptr;
}

/// A thread in that role; its number is 0 if there is none.
LOCKSTEP_INLINE thread_label one_of(const void* object, role as) {
  const entries_of all(object);
  const misuse_entry* const found = all.find(object, as, 0);
  return found != nullptr ? found->who : thread_label();
}
LOCKSTEP_INLINE bool is_noted(const void* object, role as) {
  return one_of(object, as).number != 0;
}

/// "destroyed by thread 1 'a' while thread 2 'b' is waiting on it".
[[noreturn]] LOCKSTEP_INLINE void report_deed(const void* object, const char* kind,
                                              const char* deed, const char* other,
                                              const char* does) {
  end_program("%s at %p: %s by %s while %s %s", kind, object, deed, label_of_this_thread().text,
              other, does);
}

/// Whether the table is complete. A unit without the diagnosis does not write to it, so its locks, unlocks and wakes
/// would look like misuse to other units.
LOCKSTEP_INLINE bool table_is_whole() noexcept {
  return process().unchecked_units.load(memory_order_relaxed) == 0;  // 1
}

LOCKSTEP_INLINE void locked(const void* object, role as) {
  note(object, as);
  note_lock(object, true);
}

LOCKSTEP_INLINE bool is_held_here(const void* object) {
  return table_is_whole() && one_of(object, role::owner).number == number_of_this_thread();
}

LOCKSTEP_INLINE void locking(const void* object, const char* kind) {
  sync_point();
  if (!is_held_here(object)) return;
  report_deed(object, kind, "locked", "the same thread",
              "holds it; unlock it first, or take a recursive_mutex");
}

LOCKSTEP_INLINE void check_owner(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const thread_label owner = one_of(object, role::owner);
  if (owner.number == 0)
    report_deed(object, kind, "unlocked", "no thread", "holds it; lock it first");
  if (owner.number != number_of_this_thread()) {
    report_deed(object, kind, "unlocked", owner.text,
                "holds it; the thread that has locked it unlocks it");
  }
}

LOCKSTEP_INLINE void unlocking(const void* object, const char* kind, role as) {
  if (as == role::owner) check_owner(object, kind);
  note_lock(object, false);
  sync_point();
  if (forget(object, as, number_of_this_thread()) || !table_is_whole()) return;
  const thread_label reader = one_of(object, role::reader);
  report_deed(object, kind, "unlocked as a reader", reader.number == 0 ? "no thread" : reader.text,
              "holds it as a reader; call lock_shared() first");
}

LOCKSTEP_INLINE void check_no_reader(const void* object, const char* kind) {
  if (!table_is_whole() || !forget(object, role::reader, number_of_this_thread())) return;
  report_deed(object, kind, "locked", "the same thread",
              "holds it as a reader; call unlock_shared() first");
}

LOCKSTEP_INLINE void check_only_waiter(const void* object, const char* kind) {
  const thread_label waiter = one_of(object, role::waiter);
  if (waiter.number == 0) return;
  report_deed(object, kind, "waited for", waiter.text,
              "is waiting on it; it is for one waiter at a time, a manual_reset_event for many");
}

LOCKSTEP_INLINE void destroying(const void* object, const char* kind, role waiters) {
  if (!table_is_whole()) return;
  for (const role as : {waiters, role::owner, role::reader}) {
    const thread_label who = one_of(object, as);
    if (who.number == 0 || is_static(object)) continue;
    report_deed(
        object, kind, "destroyed", who.text,
        as == waiters
            ? "is waiting on it; end its wait first, and keep the object until that has returned"
            : "holds it; unlock it first");
  }
}

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
