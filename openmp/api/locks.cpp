// SPDX-License-Identifier: MIT
// omp_..._lock and omp_..._nest_lock.
//
// A plain lock has 4 bytes, with GCC and with Fortran; LLVM gives it 8. It does not matter who holds it.
// A nested lock belongs to a task. GCC gives it 16 bytes, LLVM and Fortran 8: what we have there is a pointer to our own.
// In OMP_1.0 it has 8 bytes and belongs to a thread.
#include "locks.hpp"

#include <cstdlib>

#include <lockstep/detail/platform/atomic.hpp>

#include "runtime/abi.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/part.hpp"

namespace lockstep::openmp {

/// A nested lock. set(), test() and unset() return how often it is held then. `owner` and `depth` belong to the holder; others
/// read `owner` to see that it is not them.
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

namespace {

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
[[gnu::always_inline]] inline void init(Lock& lock, unsigned hint = 0) noexcept {
  lock.reset();
  note_call();
  if (has_tool()) ompt::tell_lock_init(kind_of(lock), &lock, hint);
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

OPENMP_API void lock_init(word_lock* lock) { init(*lock); }
OPENMP_API void lock_destroy(word_lock* lock) { destroy(*lock); }
OPENMP_API void lock_set(word_lock* lock) { lock_told(mutex_kind::lock, *lock); }
OPENMP_API void lock_unset(word_lock* lock) { unlock_told(mutex_kind::lock, *lock); }
OPENMP_API int lock_test(word_lock* lock) {
  return try_lock_told(mutex_kind::test_lock, *lock) ? 1 : 0;
}

OPENMP_API void nest_lock_init(nest_lock** lock) {
  *lock = static_cast<nest_lock*>(std::malloc(sizeof(nest_lock)));
  if (*lock == nullptr) fail("omp_init_nest_lock: out of memory");
  init(**lock);
}
OPENMP_API void nest_lock_destroy(nest_lock** lock) {
  destroy(**lock);
  std::free(*lock);
  *lock = nullptr;
}
OPENMP_API void nest_lock_set(nest_lock** lock) { set_nest(**lock); }
OPENMP_API void nest_lock_unset(nest_lock** lock) { unset_nest(**lock); }
OPENMP_API int nest_lock_test(nest_lock** lock) { return test_nest(**lock); }

OPENMP_API void old_nest_lock_init(old_nest_lock* lock) { init(*lock); }
OPENMP_API void old_nest_lock_destroy(old_nest_lock* lock) { destroy(*lock); }
OPENMP_API void old_nest_lock_set(old_nest_lock* lock) { set_nest(*lock); }
OPENMP_API void old_nest_lock_unset(old_nest_lock* lock) { unset_nest(*lock); }
OPENMP_API int old_nest_lock_test(old_nest_lock* lock) { return test_nest(*lock); }

// The names and versions by which programs call them: of C, and of Fortran with '_' behind.
#define NAMED(ours, name, version)                                                         \
  __asm__(".symver " #ours ", omp_" name "_lock" version "\n .symver " #ours ", omp_" name \
          "_lock_" version)
#define EACH_VERSION(verb)                                \
  NAMED(lock_##verb, #verb, "@OMP_1.0");                  \
  NAMED(lock_##verb, #verb, "@@OMP_3.0");                 \
  NAMED(lock_##verb, #verb, "@VERSION");                  \
  NAMED(old_nest_lock_##verb, #verb "_nest", "@OMP_1.0"); \
  NAMED(nest_lock_##verb, #verb "_nest", "@@OMP_3.0");    \
  NAMED(nest_lock_##verb, #verb "_nest", "@VERSION")
EACH_VERSION(init);
EACH_VERSION(destroy);
EACH_VERSION(set);
EACH_VERSION(unset);
EACH_VERSION(test);

OPENMP_API void omp_init_lock_with_hint(word_lock* lock, unsigned hint) { init(*lock, hint); }
OPENMP_API void omp_init_lock_with_hint_(word_lock* lock, const int* hint) {
  init(*lock, static_cast<unsigned>(*hint));
}
OPENMP_API void omp_init_nest_lock_with_hint(nest_lock** lock, unsigned) { nest_lock_init(lock); }
OPENMP_API void omp_init_nest_lock_with_hint_(nest_lock** lock, const int*) {
  nest_lock_init(lock);
}
