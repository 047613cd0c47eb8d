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

/// The result is `none` if there is no such memory.
handle make(std::uintptr_t space, int count, const trait* traits) noexcept;
void destroy(handle which) noexcept;

/// Null if there is no memory. `none` means the task's default allocator.
void* allocate(std::size_t align, std::size_t size, handle from, bool is_zeroed) noexcept;
void release(void* block) noexcept;
/// `none` means the allocator of the block.
void* reallocate(void* block, std::size_t size, handle from) noexcept;

/// omp_default_mem_alloc (1) to omp_thread_mem_alloc all give the same memory.
constexpr handle last_predefined = 8;

/// For OMP_ALLOCATOR. Only predefined allocators have a name; the name of any other handle is "".
const char* name_of(handle which) noexcept;

}  // namespace lockstep::openmp::allocators

#endif  // LOCKSTEP_OPENMP_RUNTIME_ALLOCATORS_HPP
