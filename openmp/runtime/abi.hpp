// SPDX-License-Identifier: MIT
// openmp/runtime/abi.hpp -- what programs expect of their OpenMP runtime: types of the binary interface
//
// Each exported function is declared with OPENMP_API, and version.map gives it its version. Everything else is hidden.
#ifndef LOCKSTEP_OPENMP_RUNTIME_ABI_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ABI_HPP

#define OPENMP_API extern "C" __attribute__((visibility("default")))

/// Functions of this source that LLVM's programs call as well, in the one version of LLVM's runtime. The aliases are
/// weak: the linker would take a strong alias for the only version of the function.
#define ALSO_IN_LIBOMP(names)                                     \
  __asm__(".irp name, " names                                     \
          "\n .weak libomp_\\name\n .set libomp_\\name, \\name\n" \
          " .symver libomp_\\name, \\name@VERSION\n .endr")
/// Other names of functions of this source: Fortran's with '_' at the end, or names with another prefix.
#define ALSO_IN_FORTRAN(names) \
  __asm__(".irp name, " names "\n .globl \\name\\()_ \n .set \\name\\()_, \\name\n .endr")
#define ALSO_AS(prefix, own, names)                                                      \
  __asm__(".irp name, " names "\n .globl " prefix "\\name\n .set " prefix "\\name, " own \
          "\\name\n .endr")
/// A function that both runtimes have, by its result and its name.
#define OPENMP_IN_BOTH(result, name) \
  ALSO_IN_LIBOMP(#name);             \
  OPENMP_API result name

namespace lockstep::openmp {

using ull = unsigned long long;
/// The function that the compiler makes of a region or a task, and its argument.
using outlined_function = void (*)(void*);
using copy_function = void (*)(void*, void*);

/// omp_sched_t. In calls of the compiler 0 is schedule(runtime).
enum class schedule_kind : int { runtime = 0, fixed = 1, dynamic = 2, guided = 3, automatic = 4 };
/// This bit of a schedule's number means that iterations must be given out in order.
constexpr unsigned monotonic_bit = 0x80000000u;

/// omp_proc_bind_t.
enum class proc_bind : int { no = 0, yes = 1, primary = 2, close = 3, spread = 4 };

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_ABI_HPP
