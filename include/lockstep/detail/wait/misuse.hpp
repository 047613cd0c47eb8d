// SPDX-License-Identifier: MIT
// lockstep/detail/wait/misuse.hpp -- finds misuse of objects in debug builds (layer: wait)
//
// Where LOCKSTEP_DIAGNOSE_MISUSE is 1 (the default without NDEBUG), objects register who owns them and
// who waits on them in a table beside them, so that their layout is the same in every build. Misuse ends
// the program with a message that names the object's kind and address and both threads. Elsewhere every
// function here is empty, but for what the watchdog is told of locks.
// Objects of static storage are destroyed without a word: a detached thread may wait on one, or hold it, when
// the program ends.
//
// If any unit of the process is compiled without, nothing is diagnosed: it may have locked what is unlocked here.
//
// Cost   with diagnosis: a lock and a search, about 100 ns a call. Without: nothing.
#ifndef LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
#define LOCKSTEP_DETAIL_WAIT_MISUSE_HPP

#include <cstdint>

#include <lockstep/detail/observe/observers.hpp>
#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace misuse {

constexpr bool diagnosed = detail::diagnoses_misuse;

/// Prints "kind at address: text" and aborts.
[[noreturn]] void report(const void* object, const char* kind, const char* text);

/// Tells the watchdog who holds what.
inline void note_if_watched(const void* object, bool is_taken) noexcept {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_lock(object, is_taken);
}

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Before the calling thread waits to own `object`.
void locking(const void* object, const char* kind);
/// The calling thread owns `object` now. Where it counts the observers are looked at before the read-modify-write, which
/// would hold up the look.
void locked(const void* object, bool is_watched = observers() != 0);
/// Before the calling thread unlocks `object`, once or for good.
void check_owner(const void* object, const char* kind);
/// Before the calling thread gives `object` up.
void unlocking(const void* object, const char* kind);
/// As locked() and unlocking(), for one of several readers.
void locked_shared(const void* object);
void unlocking_shared(const void* object, const char* kind);
/// Before the calling thread waits for `object`, as owner or reader: it may wait for itself.
void check_no_reader(const void* object, const char* kind);
/// The calling thread waits on `object` from now on; that thread does not any more.
void waiting(const void* object);
void let_go(const void* object, std::uint64_t thread);
/// Before the calling thread waits on `object`, which has one waiter at a time.
void check_only_waiter(const void* object, const char* kind);
/// A plan uses `object`, its graph or its team, from now on; it does not any more; `object` ends.
void used_by_plan(const void* object);
void unused_by_plan(const void* object);
void ended_for_plans(const void* object);
/// Whether `object` has not ended since used_by_plan().
bool lives_for_plans(const void* object);
/// In the destructor of `object`. A thread may wait on an object of static storage when the program ends, if
/// nobody joins it: it ends with the program, and never finds the object gone.
void destroying(const void* object, const char* kind);
/// As destroying(), of an object that can be owned.
void destroying_lock(const void* object, const char* kind);

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
inline void check_only_waiter(const void*, const char*) {}
inline void used_by_plan(const void*) {}
inline void unused_by_plan(const void*) {}
inline void ended_for_plans(const void*) {}
inline bool lives_for_plans(const void*) { return true; }
inline void destroying(const void*, const char*) {}
inline void destroying_lock(const void*, const char*) {}

#endif

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

}  // namespace misuse
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_MISUSE_HPP
