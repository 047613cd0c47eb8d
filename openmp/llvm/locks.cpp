// SPDX-License-Identifier: MIT
// Locks as compilers of LLVM call them; omp_..._lock of omp.h are the same locks.
#include "api/locks.hpp"
#include "ident.hpp"
#include "runtime/ompt.hpp"

namespace lockstep::openmp::llvm {

// The compiler passes the place and the thread's number before the arguments.
OPENMP_API void __kmpc_init_lock(ident*, std::int32_t, word_lock* lock) { lock_init(lock); }
OPENMP_API void __kmpc_init_lock_with_hint(ident*, std::int32_t, word_lock* lock, std::uintptr_t) {
  lock_init(lock);
}
OPENMP_API void __kmpc_destroy_lock(ident*, std::int32_t, word_lock* lock) { lock_destroy(lock); }
OPENMP_API void __kmpc_set_lock(ident*, std::int32_t, word_lock* lock) { lock_set(lock); }
OPENMP_API void __kmpc_unset_lock(ident*, std::int32_t, word_lock* lock) { lock_unset(lock); }
OPENMP_API int __kmpc_test_lock(ident*, std::int32_t, word_lock* lock) { return lock_test(lock); }

OPENMP_API void __kmpc_init_nest_lock(ident*, std::int32_t, nest_handle* lock) {
  nest_lock_init(lock);
}
OPENMP_API void __kmpc_init_nest_lock_with_hint(ident*, std::int32_t, nest_handle* lock,
                                                std::uintptr_t) {
  nest_lock_init(lock);
}
OPENMP_API void __kmpc_destroy_nest_lock(ident*, std::int32_t, nest_handle* lock) {
  nest_lock_destroy(lock);
}
OPENMP_API void __kmpc_set_nest_lock(ident*, std::int32_t, nest_handle* lock) {
  nest_lock_set(lock);
}
OPENMP_API void __kmpc_unset_nest_lock(ident*, std::int32_t, nest_handle* lock) {
  nest_lock_unset(lock);
}
OPENMP_API int __kmpc_test_nest_lock(ident*, std::int32_t, nest_handle* lock) {
  return nest_lock_test(lock);
}

}  // namespace lockstep::openmp::llvm
