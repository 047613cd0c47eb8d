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
#include "runtime/part.hpp"

namespace lockstep::openmp {
namespace {

/// omp_nest_lock_t of OMP_3.0. `owner` and `depth` belong to the holder; others read `owner` to see that it is not them.
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
  void set() noexcept {
    task* const self = here().running;
    if (!is_mine(self)) {
      lock.lock();
      owner.store(self, detail::memory_order_relaxed);  // for is_mine()
    }
    ++depth;
  }
  int test() noexcept {
    task* const self = here().running;
    if (!is_mine(self)) {
      if (!lock.try_lock()) return 0;
      owner.store(self, detail::memory_order_relaxed);  // for is_mine()
    }
    return static_cast<int>(++depth);
  }
  void unset() noexcept {
    if (--depth > 0) return;
    owner.store(nullptr, detail::memory_order_relaxed);  // for is_mine()
    lock.unlock();
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
  void set() noexcept {
    const std::uint32_t self = thread_number() * 2;
    if (!lock.is_held_by(self)) lock.lock(self);
    ++depth;
  }
  int test() noexcept {
    const std::uint32_t self = thread_number() * 2;
    if (!lock.is_held_by(self) && !lock.try_lock(self)) return 0;
    return static_cast<int>(++depth);
  }
  void unset() noexcept {
    if (--depth == 0) lock.unlock();
  }
};
static_assert(sizeof(old_nest_lock) == 8, "omp_nest_lock_t before OpenMP 3.0");

}  // namespace
}  // namespace lockstep::openmp

using namespace lockstep::openmp;

// A function of ours that programs call by the name and version behind it.
#define VERSIONED(ours, name, version) __asm__(".symver " #ours "," name version)
#define OLD(ours, name) VERSIONED(ours, name, "@OMP_1.0")
#define NEW(ours, name) VERSIONED(ours, name, "@@OMP_3.0")

// --- plain locks: the same in both versions ---

#define PLAIN(suffix)                                                                    \
  OPENMP_API void init_lock##suffix(word_lock* lock) { lock->reset(); }                  \
  OPENMP_API void destroy_lock##suffix(word_lock*) {}                                    \
  OPENMP_API void set_lock##suffix(word_lock* lock) { lock->lock(); }                    \
  OPENMP_API void unset_lock##suffix(word_lock* lock) { lock->unlock(); }                \
  OPENMP_API int test_lock##suffix(word_lock* lock) { return lock->try_lock() ? 1 : 0; } \
  OPENMP_API void init_lock_f##suffix(word_lock* lock) { lock->reset(); }                \
  OPENMP_API void destroy_lock_f##suffix(word_lock*) {}                                  \
  OPENMP_API void set_lock_f##suffix(word_lock* lock) { lock->lock(); }                  \
  OPENMP_API void unset_lock_f##suffix(word_lock* lock) { lock->unlock(); }              \
  OPENMP_API int test_lock_f##suffix(word_lock* lock) { return lock->try_lock() ? 1 : 0; }
PLAIN(_old)
PLAIN(_new)

// --- nested locks of C ---

OPENMP_API void init_nest_lock_new(nest_lock* lock) { lock->reset(); }
OPENMP_API void destroy_nest_lock_new(nest_lock*) {}
OPENMP_API void set_nest_lock_new(nest_lock* lock) { lock->set(); }
OPENMP_API void unset_nest_lock_new(nest_lock* lock) { lock->unset(); }
OPENMP_API int test_nest_lock_new(nest_lock* lock) { return lock->test(); }

OPENMP_API void init_nest_lock_old(old_nest_lock* lock) { lock->reset(); }
OPENMP_API void destroy_nest_lock_old(old_nest_lock*) {}
OPENMP_API void set_nest_lock_old(old_nest_lock* lock) { lock->set(); }
OPENMP_API void unset_nest_lock_old(old_nest_lock* lock) { lock->unset(); }
OPENMP_API int test_nest_lock_old(old_nest_lock* lock) { return lock->test(); }

// --- nested locks of Fortran ---

OPENMP_API void init_nest_lock_f_new(nest_lock** lock) {
  *lock = static_cast<nest_lock*>(std::malloc(sizeof(nest_lock)));
  if (*lock == nullptr) fail("omp_init_nest_lock: out of memory");
  (*lock)->reset();
}
OPENMP_API void destroy_nest_lock_f_new(nest_lock** lock) {
  std::free(*lock);
  *lock = nullptr;
}
OPENMP_API void set_nest_lock_f_new(nest_lock** lock) { (*lock)->set(); }
OPENMP_API void unset_nest_lock_f_new(nest_lock** lock) { (*lock)->unset(); }
OPENMP_API int test_nest_lock_f_new(nest_lock** lock) { return (*lock)->test(); }

OPENMP_API void init_nest_lock_f_old(old_nest_lock* lock) { lock->reset(); }
OPENMP_API void destroy_nest_lock_f_old(old_nest_lock*) {}
OPENMP_API void set_nest_lock_f_old(old_nest_lock* lock) { lock->set(); }
OPENMP_API void unset_nest_lock_f_old(old_nest_lock* lock) { lock->unset(); }
OPENMP_API int test_nest_lock_f_old(old_nest_lock* lock) { return lock->test(); }

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
