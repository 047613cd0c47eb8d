// SPDX-License-Identifier: MIT
// openmp/allocators.hpp -- omp_alloc() and its relatives: memory with traits
#ifndef LOCKSTEP_OPENMP_ALLOCATORS_HPP
#define LOCKSTEP_OPENMP_ALLOCATORS_HPP

#include <cstdint>

namespace lockstep::openmp::allocators {

/// omp_default_mem_alloc (1) to omp_thread_mem_alloc: the same memory for all of them.
constexpr std::uintptr_t last_predefined = 8;

/// For OMP_ALLOCATOR. Other handles than those of predefined allocators have no name: "".
const char* name_of(std::uintptr_t handle) noexcept;

}  // namespace lockstep::openmp::allocators

#endif  // LOCKSTEP_OPENMP_ALLOCATORS_HPP
