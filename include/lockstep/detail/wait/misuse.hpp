// SPDX-License-Identifier: MIT
// lockstep/detail/wait/misuse.hpp -- finds misuse of objects in debug builds (layer: wait)
//
// Where LOCKSTEP_DIAGNOSE_MISUSE is 1 (the default without NDEBUG), a table beside the objects holds their owners and
// waiters. So the layout of the objects is the same in every build. Misuse ends the program with a message that names
// the object's kind and address and both threads. Elsewhere the functions here only report locks to the watchdog.
// The destruction of an object of static storage is no misuse: a detached thread may wait on it, or hold it, when the
// program ends.
// If any unit of the process is compiled without the diagnosis, nothing is diagnosed: that unit may have locked what
// is unlocked here.
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

/// Reports to the watchdog that the calling thread takes or gives up `object`.
inline void note_if_watched(const void* object, bool is_taken) noexcept {
  if (LOCKSTEP_UNLIKELY(observers() != 0)) note_lock(object, is_taken);
}

#if LOCKSTEP_DIAGNOSE_MISUSE

/// Before the calling thread waits to own `object`.
void locking(const void* object, const char* kind);
/// The calling thread owns `object` now. Fast paths pass `is_watched`, read before the read-modify-write that locks:
/// a read after it would be held up.
void locked(const void* object, bool is_watched = observers() != 0);
/// Before the calling thread unlocks `object`, once or for good.
void check_owner(const void* object, const char* kind);
/// Before the calling thread gives `object` up.
void unlocking(const void* object, const char* kind);
/// As locked() and unlocking(), for one of several readers.
void locked_shared(const void* object);
void unlocking_shared(const void* object, const char* kind);
/// Before the calling thread waits for `object`. If it is a reader of it already, it would wait for itself.
void check_no_reader(const void* object, const char* kind);
/// waiting(): the calling thread begins to wait on `object`. let_go(): thread number `thread` no longer waits on it.
void waiting(const void* object);
void let_go(const void* object, std::uint64_t thread);
/// Before the calling thread waits on `object`, which has one waiter at a time.
void check_only_waiter(const void* object, const char* kind);
/// A plan begins to use `object`, its graph or its team; it no longer uses it; `object` ends.
void used_by_plan(const void* object);
void unused_by_plan(const void* object);
void ended_for_plans(const void* object);
/// Whether `object` has not ended since used_by_plan().
bool lives_for_plans(const void* object);
/// In the destructor of `object`. A thread that is not joined may wait on an object of static storage when the program
/// ends: it ends with the program, and never finds the object gone.
void destroying(const void* object, const char* kind);
/// As destroying(), for an object that can be owned.
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

/// A base for objects of one word that are registered under their own address. Its destructor calls destroying().
/// Without the diagnosis the base is trivial, so that objects of static storage need no guard and no call at exit. It
/// has no members in either build.
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
