// SPDX-License-Identifier: MIT
// omp_alloc() and its relatives.
#include "runtime/allocators.hpp"

#include <cstddef>
#include <cstdint>

#include "api.hpp"
#include "runtime/part.hpp"

using namespace lockstep::openmp;
using namespace lockstep::openmp::allocators;

OPENMP_IN_BOTH(handle, omp_init_allocator)(std::uintptr_t space, int count, const trait* traits) {
  return make(space, count, traits);
}
OPENMP_IN_BOTH(void, omp_destroy_allocator)(handle which) { destroy(which); }

OPENMP_IN_BOTH(void, omp_set_default_allocator)(handle which) {
  here().running->own_variables().allocator = which == none ? usual : which;
}
OPENMP_IN_BOTH(handle, omp_get_default_allocator)() { return here().variables().allocator; }

namespace {

/// The product, or a number that nobody can allocate.
std::size_t product(std::size_t count, std::size_t size) noexcept {
  std::size_t total = 0;
  return __builtin_mul_overflow(count, size, &total) ? ~std::size_t{0} : total;
}

}  // namespace

OPENMP_IN_BOTH(void*, omp_alloc)(std::size_t size, handle from) {
  return allocate(1, size, from, false);
}
OPENMP_IN_BOTH(void*, omp_aligned_alloc)(std::size_t align, std::size_t size, handle from) {
  return allocate(align, size, from, false);
}
OPENMP_IN_BOTH(void*, omp_calloc)(std::size_t count, std::size_t size, handle from) {
  return allocate(1, product(count, size), from, true);
}
OPENMP_IN_BOTH(void*, omp_aligned_calloc)(std::size_t align, std::size_t count, std::size_t size,
                                          handle from) {
  return allocate(align, product(count, size), from, true);
}
OPENMP_IN_BOTH(void, omp_free)(void* block, handle) { release(block); }
OPENMP_IN_BOTH(void*, omp_realloc)(void* block, std::size_t size, handle from, handle) {
  return reallocate(block, size, from);
}
