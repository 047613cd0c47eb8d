// SPDX-License-Identifier: MIT
// openmp/runtime/abi.hpp -- what programs expect of their OpenMP runtime: types of the binary interface
//
// Each exported function is declared with OPENMP_API, and version.map gives it its version. Everything else is hidden.
#ifndef LOCKSTEP_OPENMP_RUNTIME_ABI_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ABI_HPP

#define OPENMP_API extern "C" __attribute__((visibility("default")))

/// How the assembler spells a name of C: with '_' before it where files are Mach-O.
#define IN_ASSEMBLER(name) PREFIX_AS_TEXT(__USER_LABEL_PREFIX__) name
#define PREFIX_AS_TEXT(prefix) TEXT_OF(prefix)
#define TEXT_OF(prefix) #prefix
/// Other names of functions of this source, by what stands before and behind the part that they share.
#define ALSO_NAMED(before, behind, own, names)                                           \
  __asm__(".irp name, " names                                                            \
          "\n .globl " IN_ASSEMBLER(before) "\\name\\()" behind "\n .set " IN_ASSEMBLER( \
              before) "\\name\\()" behind ", " IN_ASSEMBLER(own) "\\name\n .endr")
#define ALSO_IN_FORTRAN(names) ALSO_NAMED("", "_", "", names)
#define ALSO_AS(prefix, own, names) ALSO_NAMED(prefix, "", own, names)
/// Functions of this source that LLVM's programs call as well, in the one version of LLVM's runtime. The aliases are
/// weak: the linker would take a strong alias for the only version of the function. Names of Mach-O have no versions.
#if defined(__ELF__)
#define IN_LIBOMP(names, behind)                                                           \
  __asm__(".irp name, " names "\n .weak libomp_\\name\\()" behind                          \
          "\n .set libomp_\\name\\()" behind ", \\name\n .symver libomp_\\name\\()" behind \
          ", \\name\\()" behind "@VERSION\n .endr")
#else
#define IN_LIBOMP(names, behind) static_assert(true)
#endif
#define ALSO_IN_LIBOMP(names) IN_LIBOMP(names, "")
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
