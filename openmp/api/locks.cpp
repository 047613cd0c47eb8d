// SPDX-License-Identifier: MIT
// omp_..._lock and omp_..._nest_lock.
//
// They exist in two versions. In OMP_1.0 a lock belongs to a thread, and a nested one has 8 bytes; in OMP_3.0 it belongs to
// a task, and a nested one has 16. Plain locks have 4 bytes in both, and it does not matter who holds them.
// Fortran's omp_lock_kind has 4 bytes: the lock itself. Its omp_nest_lock_kind has 8: in OMP_1.0 the lock, in OMP_3.0 a
// pointer to one of ours.
#include "runtime/word_lock.hpp"

#include <cstdlib>

#include <lockstep/detail/platform/atomic.hpp>

#include "runtime/abi.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/part.hpp"

namespace lockstep::openmp {
namespace {

/// omp_nest_lock_t of OMP_3.0. set(), test() and unset() return how often it is held then. `owner` and `depth` belong to the holder; others read `owner` to see that it is not them.
struct nest_lock {
  word_lock lock;
  std::uint32_t depth;
  detail::atomic<task*> owner;

  void reset() noexcept {
    lock.reset();
    depth = 0;
    owner.store(nullptr, detail::memory_order_relaxed);  // before others know the lock
  }
  bool is_mine(const task* self) const noexcept {
    // Relaxed: only our own address says anything, and we wrote it ourselves.
    return owner.load(detail::memory_order_relaxed) == self;
  }
  std::uint32_t set() noexcept {
    task* const self = here().running;
    if (!is_mine(self)) {
      lock.lock();
      owner.store(self, detail::memory_order_relaxed);  // for is_mine()
    }
    return ++depth;
  }
  std::uint32_t test() noexcept {
    task* const self = here().running;
    if (!is_mine(self)) {
      if (!lock.try_lock()) return 0;
      owner.store(self, detail::memory_order_relaxed);  // for is_mine()
    }
    return ++depth;
  }
  std::uint32_t unset() noexcept {
    const std::uint32_t rest = --depth;
    if (rest > 0) return rest;
    owner.store(nullptr, detail::memory_order_relaxed);  // for is_mine()
    lock.unlock();
    return 0;
  }
};
static_assert(sizeof(nest_lock) == 16, "omp_nest_lock_t");

/// omp_nest_lock_t of OMP_1.0: its word is the number of the thread that holds it.
struct old_nest_lock {
  word_lock lock;
  std::uint32_t depth;

  void reset() noexcept {
    lock.reset();
    depth = 0;
  }
  std::uint32_t set() noexcept {
    const std::uint32_t self = thread_number() * 2;
    if (!lock.is_held_by(self)) lock.lock(self);
    return ++depth;
  }
  std::uint32_t test() noexcept {
    const std::uint32_t self = thread_number() * 2;
    if (!lock.is_held_by(self) && !lock.try_lock(self)) return 0;
    return ++depth;
  }
  std::uint32_t unset() noexcept {
    const std::uint32_t rest = --depth;
    if (rest == 0) lock.unlock();
    return rest;
  }
};
static_assert(sizeof(old_nest_lock) == 8, "omp_nest_lock_t before OpenMP 3.0");

// What programs call, with what a tool is told.

using ompt::mutex_kind;

template <class Lock>
mutex_kind kind_of(const Lock&) noexcept {
  return mutex_kind::nest_lock;
}
mutex_kind kind_of(const word_lock&) noexcept { return mutex_kind::lock; }

template <class Lock>
[[gnu::always_inline]] inline void init(Lock& lock) noexcept {
  lock.reset();
  note_call();
  if (has_tool()) ompt::tell_lock_init(kind_of(lock), &lock, 0);
}
template <class Lock>
[[gnu::always_inline]] inline void destroy(Lock& lock) noexcept {
  note_call();
  if (has_tool()) ompt::tell_lock_destroy(kind_of(lock), &lock);
}

/// It is held `depth` times now; 0: it was not taken.
void tell_taken(mutex_kind kind, const void* lock, std::uint32_t depth) noexcept {
  if (depth > 1) return ompt::tell_nesting(ompt::endpoint::begin, lock);
  ompt::has_locked(kind, lock, depth == 1);
}
template <class Lock>
[[gnu::always_inline]] inline void set_nest(Lock& lock) noexcept {
  if (!has_tool()) return static_cast<void>(lock.set());
  note_call();
  ompt::begin_to_lock(mutex_kind::nest_lock, &lock);
  tell_taken(mutex_kind::nest_lock, &lock, lock.set());
}
template <class Lock>
[[gnu::always_inline]] inline int test_nest(Lock& lock) noexcept {
  if (!has_tool()) return static_cast<int>(lock.test());
  note_call();
  ompt::begin_to_lock(mutex_kind::test_nest_lock, &lock);
  const std::uint32_t depth = lock.test();
  tell_taken(mutex_kind::test_nest_lock, &lock, depth);
  return static_cast<int>(depth);
}
template <class Lock>
[[gnu::always_inline]] inline void unset_nest(Lock& lock) noexcept {
  const std::uint32_t depth = lock.unset();
  if (!has_tool()) return;
  note_call();
  if (depth == 0) return ompt::has_unlocked(mutex_kind::nest_lock, &lock);
  ompt::tell_nesting(ompt::endpoint::end, &lock);
}

}  // namespace
}  // namespace lockstep::openmp

using namespace lockstep::openmp;

// A function of ours that programs call by the name and version behind it.
#define VERSIONED(ours, name, version) __asm__(".symver " #ours "," name version)
#define OLD(ours, name) VERSIONED(ours, name, "@OMP_1.0")
#define NEW(ours, name) VERSIONED(ours, name, "@@OMP_3.0")

// --- plain locks: the same in both versions ---

#define PLAIN(suffix)                                                                           \
  OPENMP_API void init_lock##suffix(word_lock* lock) { init(*lock); }                           \
  OPENMP_API void destroy_lock##suffix(word_lock* lock) { destroy(*lock); }                     \
  OPENMP_API void set_lock##suffix(word_lock* lock) { lock_told(mutex_kind::lock, *lock); }     \
  OPENMP_API void unset_lock##suffix(word_lock* lock) { unlock_told(mutex_kind::lock, *lock); } \
  OPENMP_API int test_lock##suffix(word_lock* lock) {                                           \
    return try_lock_told(mutex_kind::test_lock, *lock) ? 1 : 0;                                 \
  }
PLAIN(_old)
PLAIN(_new)
PLAIN(_f_old)
PLAIN(_f_new)

// --- nested locks of C ---

OPENMP_API void init_nest_lock_new(nest_lock* lock) { init(*lock); }
OPENMP_API void destroy_nest_lock_new(nest_lock* lock) { destroy(*lock); }
OPENMP_API void set_nest_lock_new(nest_lock* lock) { set_nest(*lock); }
OPENMP_API void unset_nest_lock_new(nest_lock* lock) { unset_nest(*lock); }
OPENMP_API int test_nest_lock_new(nest_lock* lock) { return test_nest(*lock); }

OPENMP_API void init_nest_lock_old(old_nest_lock* lock) { init(*lock); }
OPENMP_API void destroy_nest_lock_old(old_nest_lock* lock) { destroy(*lock); }
OPENMP_API void set_nest_lock_old(old_nest_lock* lock) { set_nest(*lock); }
OPENMP_API void unset_nest_lock_old(old_nest_lock* lock) { unset_nest(*lock); }
OPENMP_API int test_nest_lock_old(old_nest_lock* lock) { return test_nest(*lock); }

// --- nested locks of Fortran ---

OPENMP_API void init_nest_lock_f_new(nest_lock** lock) {
  *lock = static_cast<nest_lock*>(std::malloc(sizeof(nest_lock)));
  if (*lock == nullptr) fail("omp_init_nest_lock: out of memory");
  init(**lock);
}
OPENMP_API void destroy_nest_lock_f_new(nest_lock** lock) {
  destroy(**lock);
  std::free(*lock);
  *lock = nullptr;
}
OPENMP_API void set_nest_lock_f_new(nest_lock** lock) { set_nest(**lock); }
OPENMP_API void unset_nest_lock_f_new(nest_lock** lock) { unset_nest(**lock); }
OPENMP_API int test_nest_lock_f_new(nest_lock** lock) { return test_nest(**lock); }

OPENMP_API void init_nest_lock_f_old(old_nest_lock* lock) { init(*lock); }
OPENMP_API void destroy_nest_lock_f_old(old_nest_lock* lock) { destroy(*lock); }
OPENMP_API void set_nest_lock_f_old(old_nest_lock* lock) { set_nest(*lock); }
OPENMP_API void unset_nest_lock_f_old(old_nest_lock* lock) { unset_nest(*lock); }
OPENMP_API int test_nest_lock_f_old(old_nest_lock* lock) { return test_nest(*lock); }

#define BOTH_VERSIONS(verb)                                \
  OLD(verb##_lock_old, "omp_" #verb "_lock");              \
  NEW(verb##_lock_new, "omp_" #verb "_lock");              \
  OLD(verb##_lock_f_old, "omp_" #verb "_lock_");           \
  NEW(verb##_lock_f_new, "omp_" #verb "_lock_");           \
  OLD(verb##_nest_lock_old, "omp_" #verb "_nest_lock");    \
  NEW(verb##_nest_lock_new, "omp_" #verb "_nest_lock");    \
  OLD(verb##_nest_lock_f_old, "omp_" #verb "_nest_lock_"); \
  NEW(verb##_nest_lock_f_new, "omp_" #verb "_nest_lock_")
BOTH_VERSIONS(init);
BOTH_VERSIONS(destroy);
BOTH_VERSIONS(set);
BOTH_VERSIONS(unset);
BOTH_VERSIONS(test);
