// SPDX-License-Identifier: MIT
// omp_alloc() and its relatives.
#include "runtime/allocators.hpp"

#include <cstddef>
#include <cstdint>

#include "api.hpp"
#include "runtime/part.hpp"

using namespace lockstep::openmp;
using namespace lockstep::openmp::allocators;

OPENMP_API handle omp_init_allocator(std::uintptr_t space, int count, const trait* traits) {
  return make(space, count, traits);
}
OPENMP_API void omp_destroy_allocator(handle which) { destroy(which); }

OPENMP_API void omp_set_default_allocator(handle which) {
  here().running->own_variables().allocator = which == none ? usual : which;
}
OPENMP_API handle omp_get_default_allocator() { return here().variables().allocator; }

namespace {

/// The product, or a number that nobody can allocate.
std::size_t product(std::size_t count, std::size_t size) noexcept {
  std::size_t total = 0;
  return __builtin_mul_overflow(count, size, &total) ? ~std::size_t{0} : total;
}

}  // namespace

OPENMP_API void* omp_alloc(std::size_t size, handle from) { return allocate(1, size, from, false); }
OPENMP_API void* omp_aligned_alloc(std::size_t align, std::size_t size, handle from) {
  return allocate(align, size, from, false);
}
OPENMP_API void* omp_calloc(std::size_t count, std::size_t size, handle from) {
  return allocate(1, product(count, size), from, true);
}
OPENMP_API void* omp_aligned_calloc(std::size_t align, std::size_t count, std::size_t size,
                                    handle from) {
  return allocate(align, product(count, size), from, true);
}
OPENMP_API void omp_free(void* block, handle) { release(block); }
OPENMP_API void* omp_realloc(void* block, std::size_t size, handle from, handle) {
  return reallocate(block, size, from);
}

ALSO_IN_LIBOMP(
    "omp_init_allocator, omp_destroy_allocator, omp_set_default_allocator, "
    "omp_get_default_allocator, omp_alloc, omp_aligned_alloc, omp_calloc, omp_aligned_calloc, "
    "omp_free, omp_realloc");
