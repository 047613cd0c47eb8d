// SPDX-License-Identifier: MIT
// lockstep/detail/wait/misuse.hpp -- finds misuse of objects in debug builds (layer: wait)
//
// Where LOCKSTEP_DIAGNOSE_MISUSE is 1 (the default without NDEBUG), objects register who owns them and
// who waits on them in a table beside them, so that their layout is the same in every build. Misuse ends
// the program with a message that names the object's kind and address and both threads. Elsewhere every
// function here is empty.
// Objects of static storage are destroyed without a word: a detached thread may wait on one, or hold it, when
// the program ends.
//
// The table is behind locks, which order more than the objects themselves promise: look for missing
// order (ThreadSanitizer) with the diagnosis switched off.
//
// If any unit of the process is compiled without, nothing is diagnosed: it may have locked what is unlocked here.
//
// Memory order (# marks the line)
//   #  access          order    pairs  why it suffices
//   1  unchecked.load  relaxed  -      set before the unit that it stands for runs
//
// Cost   with diagnosis: a lock and a search, about 100 ns a call. Without: nothing.
#ifndef LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
#define LOCKSTEP_DETAIL_WAIT_MISUSE_HPP

#include <cstdint>

#include "../observe/hooks.hpp"
#include "../platform/config.hpp"
#include "../platform/system.hpp"

#if LOCKSTEP_HAS_BODIES
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include "../base/growing_array.hpp"
#include "../platform/atomic.hpp"
#include "../platform/fork_tables.hpp"
#include "../platform/process.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace misuse {

constexpr bool diagnosed = detail::diagnoses_misuse;

/// Prints "kind at address: text" and aborts.
[[noreturn]] LOCKSTEP_COLD void report(const void* object, const char* kind, const char* text);

/// Tells the watchdog who holds what.
inline void note_if_watched(const void* object, bool is_taken) noexcept {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_lock(object, is_taken);
}

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Before the calling thread waits to own `object`.
LOCKSTEP_COLD void locking(const void* object, const char* kind);
/// The calling thread owns `object` now. Where it counts the observers are looked at before the read-modify-write, which
/// would hold up the look.
LOCKSTEP_COLD void locked(const void* object, bool is_watched = observers() != 0);
/// Before the calling thread unlocks `object`, once or for good.
LOCKSTEP_COLD void check_owner(const void* object, const char* kind);
/// Before the calling thread gives `object` up.
LOCKSTEP_COLD void unlocking(const void* object, const char* kind);

/// As locked() and unlocking(), for one of several readers.
LOCKSTEP_COLD void locked_shared(const void* object);
LOCKSTEP_COLD void unlocking_shared(const void* object, const char* kind);
/// Before the calling thread waits for `object`, as owner or reader: it may wait for itself.
LOCKSTEP_COLD void check_no_reader(const void* object, const char* kind);

/// The calling thread waits on `object` from now on; that thread does not any more.
LOCKSTEP_COLD void waiting(const void* object);
LOCKSTEP_COLD void let_go(const void* object, std::uint64_t thread);

/// In the destructor of `object`. A thread may wait on an object of static storage when the program ends, if
/// nobody joins it: it ends with the program, and never finds the object gone.
LOCKSTEP_COLD void destroying(const void* object, const char* kind);
/// As destroying(), of an object that can be owned.
LOCKSTEP_COLD void destroying_lock(const void* object, const char* kind);

#else

inline void locking(const void*, const char*) {}
inline void locked(const void* object, bool is_watched = observers() != 0) {
  if (LOCKSTEP_UNLIKELY(is_watched)) note_lock(object, true);
}
inline void check_owner(const void*, const char*) {}
inline void unlocking(const void* object, const char*) { note_if_watched(object, false); }
inline void locked_shared(const void* object) { note_if_watched(object, true); }
inline void unlocking_shared(const void* object, const char*) { note_if_watched(object, false); }
inline void check_no_reader(const void*, const char*) {}
inline void waiting(const void*) {}
inline void let_go(const void*, std::uint64_t) {}
inline void destroying(const void*, const char*) {}
inline void destroying_lock(const void*, const char*) {}

#endif

/// The calling thread waits on `object` while this lives.
class waiting_scope {
 public:
  explicit waiting_scope(const void* object) : object_(object) { waiting(object_); }
  ~waiting_scope() {
    if (diagnosed) let_go(object_, detail::number_of_this_thread());
  }
  waiting_scope(const waiting_scope&) = delete;
  waiting_scope& operator=(const waiting_scope&) = delete;

 private:
  const void* object_;
};

/// A base for objects of one word, registered under their own address: its destructor calls destroying().
/// Where nothing is diagnosed it is trivial, so that objects of static storage need no guard and no call
/// at exit. It has no members in either build.
template <class Object, bool Diagnosed = diagnosed>
class watched {
 protected:
  constexpr watched() noexcept = default;
  ~watched() { destroying(this, Object::kind); }
};
template <class Object>
class watched<Object, false> {};

#if LOCKSTEP_HAS_BODIES

[[noreturn]] LOCKSTEP_COLD void report(const void* object, const char* kind, const char* text) {
  end_program("%s at %p: %s", kind, object, text);
}

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Which thread holds or waits on which object. One table for the process.
class registry {
 public:
  enum class role { owner, reader, waiter };

  LOCKSTEP_COLD static void add(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) home.entries = new list;
    entries_of(home).push_back(entry{object, as, detail::label_of_this_thread()});
  }

  /// Takes one entry of that thread out; false if there is none.
  LOCKSTEP_COLD static bool remove(const void* object, role as,
                                   std::uint64_t thread = detail::number_of_this_thread()) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return false;
    list& entries = entries_of(home);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const entry& each = entries[i];
      if (each.object != object || each.as != as || each.who.number != thread) continue;
      entries[i] = entries.back();
      entries.pop_back();
      return true;
    }
    return false;
  }

  /// Any thread in that role; its number is 0 if there is none.
  LOCKSTEP_COLD static detail::thread_label find(const void* object, role as) {
    bucket& home = bucket_of(object);
    const holding<system_mutex> lock(home.lock);
    if (home.entries == nullptr) return detail::thread_label();
    for (const entry& each : entries_of(home)) {
      if (each.object == object && each.as == as) return each.who;
    }
    return detail::thread_label();
  }

 private:
  struct entry {
    const void* object;
    role as;
    detail::thread_label who;
  };
  using list = growing_array<entry>;
  using bucket = detail::misuse_bucket;

  static list& entries_of(bucket& home) noexcept { return *static_cast<list*>(home.entries); }

  // One table for the process, never destroyed: static objects may be used until the very end.
  static bucket& bucket_of(const void* object) {
    detail::watch_forks<around_fork>();
    const std::size_t place = reinterpret_cast<std::uintptr_t>(object) / 8;
    return detail::process().misuse[place % detail::process_state::misuse_size];
  }

  /// The table is whole in the child, and tells of the thread that is left only.
  struct around_fork {
    static void before() {
      if (!detail::process().misuse_forks.enter()) return;
      for (bucket& each : detail::process().misuse) each.lock.lock();
    }
    static void after() {
      if (!detail::process().misuse_forks.is_held()) return;
      for (bucket& each : detail::process().misuse) each.lock.unlock();
      detail::process().misuse_forks.leave();
    }
    static void child() {
      if (!detail::process().misuse_forks.is_held()) return;
      for (bucket& each : detail::process().misuse) {
        if (each.entries != nullptr) forget_others(entries_of(each));
        each.lock.unlock();
      }
      detail::process().misuse_forks.leave();
    }
    static void forget_others(list& entries) {
      for (std::size_t at = entries.size(); at-- > 0;) {
        if (entries[at].who.number == detail::number_of_this_thread()) continue;
        entries[at] = entries.back();
        entries.pop_back();
      }
    }
  };
};

/// "destroyed by thread 1 'a' while thread 2 'b' is waiting on it".
[[noreturn]] LOCKSTEP_COLD void report_deed(const void* object, const char* kind, const char* deed,
                                            const char* other, const char* does) {
  char text[240];
  std::snprintf(text, sizeof text, "%s by %s while %s %s", deed,
                detail::label_of_this_thread().text, other, does);
  report(object, kind, text);
}

/// Whether the table tells the truth: units that diagnose nothing do not write to it, and may lock, unlock or
/// wake what others complain of.
LOCKSTEP_COLD bool table_is_whole() noexcept {
  return detail::process().unchecked_units.load(detail::memory_order_relaxed) == 0;  // 1
}

LOCKSTEP_COLD void locked(const void* object, bool is_watched) {
  registry::add(object, registry::role::owner);
  if (is_watched) note_lock(object, true);
}
LOCKSTEP_COLD void locked_shared(const void* object) {
  registry::add(object, registry::role::reader);
  note_if_watched(object, true);
}
LOCKSTEP_COLD void waiting(const void* object) { registry::add(object, registry::role::waiter); }

LOCKSTEP_COLD void locking(const void* object, const char* kind) {
  sync_point();
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number != detail::number_of_this_thread()) return;
  report_deed(object, kind, "locked", "the same thread", "holds it");
}

LOCKSTEP_COLD void check_owner(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  if (owner.number == 0) report_deed(object, kind, "unlocked", "no thread", "holds it");
  if (owner.number != detail::number_of_this_thread()) {
    report_deed(object, kind, "unlocked", owner.text, "holds it");
  }
}

LOCKSTEP_COLD void unlocking(const void* object, const char* kind) {
  check_owner(object, kind);
  note_if_watched(object, false);
  sync_point();
  registry::remove(object, registry::role::owner);
}

LOCKSTEP_COLD void check_no_reader(const void* object, const char* kind) {
  if (!table_is_whole() || !registry::remove(object, registry::role::reader)) return;
  report_deed(object, kind, "locked", "the same thread", "holds it as a reader");
}

LOCKSTEP_COLD void unlocking_shared(const void* object, const char* kind) {
  note_if_watched(object, false);
  if (registry::remove(object, registry::role::reader) || !table_is_whole()) return;
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  const char* const holder = reader.number == 0 ? "no thread" : reader.text;
  report_deed(object, kind, "unlocked as a reader", holder, "holds it as a reader");
}

LOCKSTEP_COLD void let_go(const void* object, std::uint64_t thread) {
  registry::remove(object, registry::role::waiter, thread);
}

LOCKSTEP_COLD void destroying(const void* object, const char* kind) {
  if (!table_is_whole()) return;
  const detail::thread_label waiter = registry::find(object, registry::role::waiter);
  if (waiter.number == 0 || detail::is_static(object)) return;
  report_deed(object, kind, "destroyed", waiter.text, "is waiting on it");
}

LOCKSTEP_COLD void destroying_lock(const void* object, const char* kind) {
  destroying(object, kind);
  if (!table_is_whole()) return;
  const detail::thread_label owner = registry::find(object, registry::role::owner);
  const detail::thread_label reader = registry::find(object, registry::role::reader);
  if ((owner.number == 0 && reader.number == 0) || detail::is_static(object)) return;
  report_deed(object, kind, "destroyed", owner.number != 0 ? owner.text : reader.text, "holds it");
}

#endif

#endif

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
