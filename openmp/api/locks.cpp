// SPDX-License-Identifier: MIT
// omp_..._lock and omp_..._nest_lock, and the same locks as compilers of LLVM call them.
//
// A plain lock has 4 bytes, with GCC and with Fortran; LLVM gives it 8. It does not matter which thread holds it.
// A nested lock belongs to a task, in OMP_1.0 to a thread. GCC gives it 16 bytes; LLVM, Fortran and OMP_1.0 give it 8.
// There we store a pointer to a lock of our own.
#include <cstdlib>

#include <lockstep/detail/platform/atomic.hpp>

#include "runtime/abi.hpp"
#include "runtime/message.hpp"
#include "runtime/ompt.hpp"
#include "runtime/part.hpp"
#include "runtime/word_lock.hpp"

namespace lockstep::openmp {

/// A nested lock. set(), test() and unset() return how often it is held afterwards. `owner` and `depth` belong to the
/// holder; other threads read `owner` only to see that it is not theirs.
struct nest_lock {
  word_lock lock;
  std::uint32_t depth;
  detail::atomic<const void*> owner;

  void reset() noexcept {
    lock.reset();
    depth = 0;
    owner.store(nullptr, detail::memory_order_relaxed);  // before others know the lock
  }
  bool is_mine(const void* self) const noexcept {
    // Relaxed: only our own address has a meaning, and we wrote it ourselves.
    return owner.load(detail::memory_order_relaxed) == self;
  }
  std::uint32_t set(const void* self) noexcept {
    if (!is_mine(self)) {
      lock.lock();
      owner.store(self, detail::memory_order_relaxed);  // for is_mine()
    }
    return ++depth;
  }
  std::uint32_t test(const void* self) noexcept {
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

/// In the program's memory, where OMP_1.0 has two ints.
using nest_handle [[gnu::aligned(4)]] = nest_lock*;

namespace {

// What programs call. It also tells a tool.

using ompt::mutex_kind;

mutex_kind kind_of(const nest_lock&) noexcept { return mutex_kind::nest_lock; }
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

/// The lock is held `depth` times now; 0: it was not taken.
void tell_taken(mutex_kind kind, const void* lock, std::uint32_t depth) noexcept {
  if (depth > 1) return ompt::tell_nesting(ompt::endpoint::begin, lock);
  ompt::has_locked(kind, lock, depth == 1);
}
[[gnu::always_inline]] inline void set_nest(nest_lock& lock, const void* self) noexcept {
  if (!has_tool()) return static_cast<void>(lock.set(self));
  note_call();
  ompt::begin_to_lock(mutex_kind::nest_lock, &lock);
  tell_taken(mutex_kind::nest_lock, &lock, lock.set(self));
}
[[gnu::always_inline]] inline int test_nest(nest_lock& lock, const void* self) noexcept {
  if (!has_tool()) return static_cast<int>(lock.test(self));
  note_call();
  ompt::begin_to_lock(mutex_kind::test_nest_lock, &lock);
  const std::uint32_t depth = lock.test(self);
  tell_taken(mutex_kind::test_nest_lock, &lock, depth);
  return static_cast<int>(depth);
}

}  // namespace
}  // namespace lockstep::openmp

using namespace lockstep::openmp;

#if defined(__ELF__)
#define NAMED_BELOW OPENMP_API
#else
#define NAMED_BELOW extern "C"
#endif
NAMED_BELOW void lock_init(word_lock* lock) { init(*lock); }
NAMED_BELOW void lock_destroy(word_lock* lock) { destroy(*lock); }
NAMED_BELOW void lock_set(word_lock* lock) { lock_told(mutex_kind::lock, *lock); }
NAMED_BELOW void lock_unset(word_lock* lock) { unlock_told(mutex_kind::lock, *lock); }
NAMED_BELOW int lock_test(word_lock* lock) {
  return try_lock_told(mutex_kind::test_lock, *lock) ? 1 : 0;
}

NAMED_BELOW void nest_lock_init(nest_handle* lock) {
  *lock = static_cast<nest_lock*>(std::malloc(sizeof(nest_lock)));
  if (*lock == nullptr) fail("omp_init_nest_lock: out of memory");
  init(**lock);
}
NAMED_BELOW void nest_lock_destroy(nest_handle* lock) {
  destroy(**lock);
  std::free(*lock);
  *lock = nullptr;
}
NAMED_BELOW void nest_lock_set(nest_handle* lock) { set_nest(**lock, here().running); }
NAMED_BELOW int nest_lock_test(nest_handle* lock) { return test_nest(**lock, here().running); }
NAMED_BELOW void old_nest_lock_set(nest_handle* lock) { set_nest(**lock, &this_record); }
NAMED_BELOW int old_nest_lock_test(nest_handle* lock) { return test_nest(**lock, &this_record); }
NAMED_BELOW void nest_lock_unset(nest_handle* lock) {
  nest_lock& own = **lock;
  const std::uint32_t depth = own.unset();
  if (!has_tool()) return;
  note_call();
  if (depth == 0) return ompt::has_unlocked(mutex_kind::nest_lock, &own);
  ompt::tell_nesting(ompt::endpoint::end, &own);
}

// The names and versions by which programs call the functions: those of C, and those of Fortran with '_' at the end.
#if defined(__ELF__)
#define NAMED(ours, name, version)                                                         \
  __asm__(".symver " #ours ", omp_" name "_lock" version "\n .symver " #ours ", omp_" name \
          "_lock_" version)
#define EACH_VERSION(verb, old_nest)                   \
  NAMED(lock_##verb, #verb, "@OMP_1.0");               \
  NAMED(lock_##verb, #verb, "@@OMP_3.0");              \
  NAMED(lock_##verb, #verb, "@VERSION");               \
  NAMED(old_nest, #verb "_nest", "@OMP_1.0");          \
  NAMED(nest_lock_##verb, #verb "_nest", "@@OMP_3.0"); \
  NAMED(nest_lock_##verb, #verb "_nest", "@VERSION")
EACH_VERSION(init, nest_lock_init);
EACH_VERSION(destroy, nest_lock_destroy);
EACH_VERSION(set, old_nest_lock_set);
EACH_VERSION(unset, nest_lock_unset);
EACH_VERSION(test, old_nest_lock_test);
#else
#define EACH_VERB "init, destroy, set, unset, test"
ALSO_NAMED("omp_", "_lock", "lock_", EACH_VERB);
ALSO_NAMED("omp_", "_lock_", "lock_", EACH_VERB);
ALSO_NAMED("omp_", "_nest_lock", "nest_lock_", EACH_VERB);
ALSO_NAMED("omp_", "_nest_lock_", "nest_lock_", EACH_VERB);
#endif

OPENMP_API void omp_init_lock_with_hint(word_lock* lock, unsigned hint) { init(*lock, hint); }
OPENMP_API void omp_init_lock_with_hint_(word_lock* lock, const int* hint) {
  init(*lock, static_cast<unsigned>(*hint));
}
OPENMP_API void omp_init_nest_lock_with_hint(nest_handle* lock, unsigned) { nest_lock_init(lock); }
OPENMP_API void omp_init_nest_lock_with_hint_(nest_handle* lock, const int*) {
  nest_lock_init(lock);
}

// What compilers of LLVM call: they pass the place (an ident_t) and the thread's number first.
#define FOR_LLVM(result, verb)                                                          \
  OPENMP_API result __kmpc_##verb##_lock(void*, std::int32_t, word_lock* lock) {        \
    return lock_##verb(lock);                                                           \
  }                                                                                     \
  OPENMP_API result __kmpc_##verb##_nest_lock(void*, std::int32_t, nest_handle* lock) { \
    return nest_lock_##verb(lock);                                                      \
  }
FOR_LLVM(void, init)
FOR_LLVM(void, destroy)
FOR_LLVM(void, set)
FOR_LLVM(void, unset)
FOR_LLVM(int, test)
#undef FOR_LLVM
OPENMP_API void __kmpc_init_lock_with_hint(void*, std::int32_t, word_lock* lock, std::uintptr_t) {
  lock_init(lock);
}
OPENMP_API void __kmpc_init_nest_lock_with_hint(void*, std::int32_t, nest_handle* lock,
                                                std::uintptr_t) {
  nest_lock_init(lock);
}
