// SPDX-License-Identifier: MIT
// tests/model/explorer/plain_hooks.cpp -- what the compiler's race instrumentation calls, in our hands
//
// Scenarios are compiled with -fsanitize=thread and linked without: the functions that the instrumented
// code calls are these, and tell the explorer of every plain access. Accesses that the instrumentation
// takes for atomic belong to the standard library (reference counts, guards of statics): they are done
// as they are, and order nothing; so what makes a static does not count. This file itself is not instrumented.
#include <dlfcn.h>
#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "explorer.hpp"

using lockstep::model::explorer;

namespace {

void access(const void* at, std::size_t size, bool writes) {
  explorer::plain_access(reinterpret_cast<std::uintptr_t>(at), size, writes);
}

/// What came of an access that is atomic for the standard library.
template <class Value>
Value told(Value value) {
  explorer::unseen(value);
  return value;
}

/// The C++ runtime's function of this name, which ours calls. Its place is no static with a guard.
template <class Function>
Function* original(Function*& known, const char* name) {
  if (known == nullptr) known = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return known;
}

using allocate = void*(std::size_t);
using acquire = int(void*);
using release = void(void*);
allocate* known_allocate = nullptr;
acquire* known_acquire = nullptr;
release *known_release = nullptr, *known_abort = nullptr;

}  // namespace

// Names and signatures are the compiler's.
#define LOCKSTEP_PLAIN(size)                                              \
  void __tsan_read##size(void* at) { access(at, size, false); }           \
  void __tsan_write##size(void* at) { access(at, size, true); }           \
  void __tsan_unaligned_read##size(void* at) { access(at, size, false); } \
  void __tsan_unaligned_write##size(void* at) { access(at, size, true); } \
  void __tsan_read_write##size(void* at) { access(at, size, true); }      \
  void __tsan_unaligned_read_write##size(void* at) { access(at, size, true); }

#define LOCKSTEP_ATOMIC(bits, type)                                                               \
  type __tsan_atomic##bits##_load(const volatile type* at, int) {                                 \
    return told(__atomic_load_n(at, __ATOMIC_SEQ_CST));                                           \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int) {                          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                \
    told(value);                                                                                  \
  }                                                                                               \
  type __tsan_atomic##bits##_exchange(volatile type* at, type value, int) {                       \
    return told(__atomic_exchange_n(at, value, __ATOMIC_SEQ_CST));                                \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_add(volatile type* at, type value, int) {                      \
    return told(__atomic_fetch_add(at, value, __ATOMIC_SEQ_CST));                                 \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_sub(volatile type* at, type value, int) {                      \
    return told(__atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST));                                 \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_or(volatile type* at, type value, int) {                       \
    return told(__atomic_fetch_or(at, value, __ATOMIC_SEQ_CST));                                  \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_and(volatile type* at, type value, int) {                      \
    return told(__atomic_fetch_and(at, value, __ATOMIC_SEQ_CST));                                 \
  }                                                                                               \
  bool __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected,           \
                                                     type value, int, int) {                      \
    return told(__atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,         \
                                            __ATOMIC_SEQ_CST));                                   \
  }                                                                                               \
  bool __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type value, \
                                                   int, int) {                                    \
    return told(__atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST,         \
                                            __ATOMIC_SEQ_CST));                                   \
  }                                                                                               \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type* at, type expected, type value,   \
                                                  int, int) {                                     \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return told(expected);                                                                        \
  }

extern "C" {
LOCKSTEP_PLAIN(1)
LOCKSTEP_PLAIN(2)
LOCKSTEP_PLAIN(4)
LOCKSTEP_PLAIN(8)
LOCKSTEP_PLAIN(16)
LOCKSTEP_ATOMIC(8, std::uint8_t)
LOCKSTEP_ATOMIC(16, std::uint16_t)
LOCKSTEP_ATOMIC(32, std::uint32_t)
LOCKSTEP_ATOMIC(64, std::uint64_t)
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// A destructor writes the pointer that is there already: no change that another thread could notice.
void __tsan_vptr_update(void** at, void* value) {
  if (*at != value) access(at, sizeof *at, true);
}
void __tsan_vptr_read(void** at) { access(at, sizeof *at, false); }
void __tsan_read_range(void* at, std::size_t size) { access(at, size, false); }
void __tsan_write_range(void* at, std::size_t size) { access(at, size, true); }
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  access(from, size, false);
  access(to, size, true);
  return __builtin_memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  access(from, size, false);
  access(to, size, true);
  return __builtin_memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, std::size_t size) {
  access(to, size, true);
  return __builtin_memset(to, value, size);
}
}

#undef LOCKSTEP_PLAIN
#undef LOCKSTEP_ATOMIC

// Memory that was given back may come to another thread: the allocator orders that. An exception's is not given
// back by operator delete, hence the look at new memory too.
void* operator new(std::size_t size) {
  void* const made = std::malloc(size > 0 ? size : 1);
  if (made == nullptr) throw std::bad_alloc();
  explorer::forget_plain(reinterpret_cast<std::uintptr_t>(made), malloc_usable_size(made));
  return made;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  explorer::forget_plain(reinterpret_cast<std::uintptr_t>(memory), malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

extern "C" {
void* __cxa_allocate_exception(std::size_t size) noexcept {
  void* const made = original(known_allocate, "__cxa_allocate_exception")(size);
  explorer::forget_plain(reinterpret_cast<std::uintptr_t>(made), size);
  return made;
}
// A static of a function is made by one thread; its guard orders that before all uses. Compilers declare these functions
// themselves, each with another type: hence names of our own.
int acquire_guard(void* guard) __asm__("__cxa_guard_acquire");
void release_guard(void* guard) __asm__("__cxa_guard_release");
void abort_guard(void* guard) __asm__("__cxa_guard_abort");
int acquire_guard(void* guard) {
  const int is_ours = original(known_acquire, "__cxa_guard_acquire")(guard);
  if (is_ours != 0) explorer::begin_static(guard);
  return is_ours;
}
void release_guard(void* guard) {
  original(known_release, "__cxa_guard_release")(guard);
  explorer::end_static(guard);
}
void abort_guard(void* guard) {
  original(known_abort, "__cxa_guard_abort")(guard);
  explorer::end_static(guard);
}
}
