// SPDX-License-Identifier: MIT
// openmp/runtime/abi.hpp -- what a program compiled by GCC expects of its OpenMP runtime: types of the binary interface
//
// All that is exported is declared with OPENMP_API; version.map gives it its version. Everything else is hidden.
#ifndef LOCKSTEP_OPENMP_RUNTIME_ABI_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ABI_HPP

#include <cstddef>
#include <cstdint>

#define OPENMP_API extern "C" __attribute__((visibility("default")))

namespace lockstep::openmp {

using ull = unsigned long long;
/// The function that the compiler makes of a region or a task, and what it is called with.
using outlined_function = void (*)(void*);
using copy_function = void (*)(void*, void*);

/// omp_sched_t. In calls that the compiler makes 0 is schedule(runtime).
enum class schedule_kind : int { runtime = 0, fixed = 1, dynamic = 2, guided = 3, automatic = 4 };
/// Set in a schedule's number where iterations must be given out in order.
constexpr unsigned monotonic_bit = 0x80000000u;

/// omp_proc_bind_t.
enum class proc_bind : int { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_ABI_HPP
