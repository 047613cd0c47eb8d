// SPDX-License-Identifier: MIT
// threadprivate, if the compiler does not use thread-local storage for it: Fortran's common blocks, -fnoopenmp-use-tls.
//
// Each variable has an index. The compiler has a word for the variable, which keeps the index once it is known. Each
// thread has a table of its copies by index, which ends with the thread. The initial thread's copy is the variable
// itself.
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "ident.hpp"
#include "runtime/message.hpp"
#include "runtime/word_lock.hpp"

namespace lockstep::openmp::llvm {
namespace {

using make_function = void* (*)(void*);
using copy_made_function = void* (*)(void*, void*);
using end_function = void (*)(void*);
using make_all_function = void* (*)(void*, std::size_t);
using copy_all_function = void* (*)(void*, void*, std::size_t);
using end_all_function = void (*)(void*, std::size_t);

struct variable {
  void* original;
  std::size_t size = 0;          ///< 0 until a thread asks for a copy
  std::vector<char> at_first{};  ///< its bytes at that time
  make_function make = nullptr;
  copy_made_function copy = nullptr;
  end_function end = nullptr;
  std::size_t count = 0;  ///< of objects in an array; 0: it is no array
  make_all_function make_all = nullptr;
  copy_all_function copy_all = nullptr;
  end_all_function end_all = nullptr;

  void begin(void* copy_of_thread) const {
    if (make != nullptr) {
      make(copy_of_thread);
    } else if (make_all != nullptr) {
      make_all(copy_of_thread, count);
    } else if (copy != nullptr) {
      copy(copy_of_thread, original);
    } else if (copy_all != nullptr) {
      copy_all(copy_of_thread, original, count);
    } else {
      std::memcpy(copy_of_thread, at_first.data(), size);
    }
  }
  void finish(void* copy_of_thread) const {
    if (end != nullptr) end(copy_of_thread);
    if (end_all != nullptr) end_all(copy_of_thread, count);
  }
};

using copies = std::vector<void*>;  ///< of a thread, by index

/// Never destroyed: threads end later than the library's objects.
struct all_variables {
  word_lock lock;
  std::deque<variable> list;
  pthread_key_t key;

  all_variables() noexcept {
    if (pthread_key_create(&key, end_thread) != 0)
      fail("The system has no key left for threadprivate variables");
  }
  static void end_thread(void* of) noexcept;

  /// Requires the lock.
  std::size_t index_of(void* original) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (list[i].original == original) return i;
    }
    list.push_back({original});
    return list.size() - 1;
  }
};
all_variables& all() noexcept {
  static all_variables* const made = new all_variables;
  return *made;
}

struct holding : std::lock_guard<word_lock> {
  holding() noexcept : std::lock_guard<word_lock>(all().lock) {}
};

void all_variables::end_thread(void* of) noexcept {
  copies* const ending = static_cast<copies*>(of);
  for (std::size_t i = 0; i < ending->size(); ++i) {
    void* const own = (*ending)[i];
    const variable* of_it = nullptr;
    {
      const holding lock;
      of_it = &all().list[i];
    }
    if (own == nullptr || own == of_it->original) continue;
    of_it->finish(own);
    std::free(own);
  }
  delete ending;
}

bool is_initial_thread() noexcept {
#if defined(__APPLE__)
  return pthread_main_np() != 0;
#else
  return getpid() == gettid();
#endif
}

[[gnu::noinline]] void* make_copy(std::size_t index, std::size_t size) {
  copies* own = static_cast<copies*>(pthread_getspecific(all().key));
  if (own == nullptr) {
    own = new copies;
    pthread_setspecific(all().key, own);
  }
  if (own->size() <= index) own->resize(index + 1);
  variable* of = nullptr;
  {
    const holding lock;
    of = &all().list[index];
    if (of->size == 0) {
      of->size = size;
      const char* const bytes = static_cast<const char*>(of->original);
      of->at_first.assign(bytes, bytes + size);
    }
  }
  void* made = of->original;
  if (!is_initial_thread()) {
    made = std::aligned_alloc(64, (of->size + 63) / 64 * 64);
    if (made == nullptr) fail("Out of memory for a threadprivate variable of %zu bytes", of->size);
    of->begin(made);
  }
  return (*own)[index] = made;
}

[[gnu::noinline]] std::size_t find_index(void* original, std::uintptr_t* word) {
  const holding lock;
  const std::size_t index = all().index_of(original);
  if (word != nullptr) __atomic_store_n(word, index + 1, __ATOMIC_RELEASE);
  return index;
}

void* copy_of(void* original, std::size_t size, std::uintptr_t* word) {
  const std::uintptr_t known = word != nullptr ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
  const std::size_t index = known != 0 ? known - 1 : find_index(original, word);
  const copies* const own = static_cast<const copies*>(pthread_getspecific(all().key));
  if (own != nullptr && index < own->size() && (*own)[index] != nullptr) return (*own)[index];
  return make_copy(index, size);
}

}  // namespace

OPENMP_API void* __kmpc_threadprivate(ident*, std::int32_t, void* original, std::size_t size) {
  return copy_of(original, size, nullptr);
}
OPENMP_API void* __kmpc_threadprivate_cached(ident*, std::int32_t, void* original, std::size_t size,
                                             void*** cache) {
  return copy_of(original, size, reinterpret_cast<std::uintptr_t*>(cache));
}
OPENMP_API void __kmpc_threadprivate_register(ident*, void* original, make_function make,
                                              copy_made_function copy, end_function end) {
  const holding lock;
  variable& of = all().list[all().index_of(original)];
  of.make = make;
  of.copy = copy;
  of.end = end;
}
OPENMP_API void __kmpc_threadprivate_register_vec(ident*, void* original, make_all_function make,
                                                  copy_all_function copy, end_all_function end,
                                                  std::size_t count) {
  const holding lock;
  variable& of = all().list[all().index_of(original)];
  of.make_all = make;
  of.copy_all = copy;
  of.end_all = end;
  of.count = count;
}

}  // namespace lockstep::openmp::llvm
