// SPDX-License-Identifier: MIT
// openmp/runtime/allocators.hpp -- omp_alloc() and its relatives: memory with traits
#ifndef LOCKSTEP_OPENMP_RUNTIME_ALLOCATORS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ALLOCATORS_HPP

#include <cstddef>
#include <cstdint>

namespace lockstep::openmp::allocators {

/// omp_allocator_handle_t.
using handle = std::uintptr_t;
constexpr handle none = 0, usual = 1;

/// omp_alloctrait_t.
struct trait {
  int key;
  std::uintptr_t value;
};

/// `none`, where there is no such memory.
handle make(std::uintptr_t space, int count, const trait* traits) noexcept;
void destroy(handle which) noexcept;

/// Null where there is no memory. `none`: from the task's default allocator.
void* allocate(std::size_t align, std::size_t size, handle from, bool is_zeroed) noexcept;
void release(void* block) noexcept;
/// `none`: from the allocator that the block is of.
void* reallocate(void* block, std::size_t size, handle from) noexcept;

/// omp_default_mem_alloc (1) to omp_thread_mem_alloc: the same memory for all of them.
constexpr handle last_predefined = 8;

/// For OMP_ALLOCATOR. Other handles than those of predefined allocators have no name: "".
const char* name_of(handle which) noexcept;

}  // namespace lockstep::openmp::allocators

#endif  // LOCKSTEP_OPENMP_RUNTIME_ALLOCATORS_HPP
