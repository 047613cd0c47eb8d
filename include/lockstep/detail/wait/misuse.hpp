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

/// What a thread has to do with an object. A plan uses its graph and its team while it lives. A thread that waits for a
/// condition_variable may still be under way when the object is gone and another object has its address. So it has a
/// role of its own.
enum class role : unsigned char { owner, reader, waiter, condition_waiter, plan };

/// Whether anybody wants to hear of locks: the table, or an observer. Fast paths ask before the read-modify-write that
/// locks: a read after it would be held up.
LOCKSTEP_ALWAYS_INLINE bool is_watched() noexcept { return diagnosed || observers() != 0; }

// Those that require is_watched() may be called when that has just become false.

#if LOCKSTEP_DIAGNOSE_MISUSE

/// note(): the calling thread takes this role at `object`. forget(): thread number `thread`, or any thread if that is
/// 0, gives it up; false if none had it.
void note(const void* object, role as);
bool forget(const void* object, role as, std::uint64_t thread);
/// Whether a thread has this role at `object`.
bool is_noted(const void* object, role as);

/// Whether the calling thread owns `object`.
bool is_held_here(const void* object);
/// Before the calling thread waits to own `object`. Requires: is_watched().
void locking(const void* object, const char* kind);
/// The calling thread owns `object` now, or reads it. Requires: is_watched().
void locked(const void* object, role as = role::owner);
/// Before the calling thread unlocks `object`, once or for good.
void check_owner(const void* object, const char* kind);
/// Before the calling thread gives `object` up. Requires: is_watched().
void unlocking(const void* object, const char* kind, role as = role::owner);
/// Before the calling thread waits for `object`. If it is a reader of it already, it would wait for itself.
void check_no_reader(const void* object, const char* kind);
/// Before the calling thread waits on `object`, which has one waiter at a time.
void check_only_waiter(const void* object, const char* kind);
/// In the destructor of `object`. A thread that is not joined may wait on an object of static storage when the program
/// ends: it ends with the program, and never finds the object gone.
void destroying(const void* object, const char* kind, role waiters = role::waiter);

#else

inline void note(const void*, role) {}
inline bool forget(const void*, role, std::uint64_t) { return false; }
inline bool is_noted(const void*, role) { return true; }
inline bool is_held_here(const void*) { return false; }
inline void locking(const void*, const char*) {}
inline void locked(const void* at, role = role::owner) { note_lock(at, true); }
inline void check_owner(const void*, const char*) {}
inline void unlocking(const void* at, const char*, role = role::owner) { note_lock(at, false); }
inline void check_no_reader(const void*, const char*) {}
inline void check_only_waiter(const void*, const char*) {}
inline void destroying(const void*, const char*, role = role::waiter) {}

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
