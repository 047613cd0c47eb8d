// SPDX-License-Identifier: MIT
// lockstep/detail/platform/cpu_relax.hpp -- the polite pause of a polling loop (layer: platform)
//
// Lets a hyper-thread sibling run and keeps the memory pipeline from guessing ahead. It costs 4 to 140
// cycles depending on the processor (26 ns on the EPYC the project is measured on), so never use a
// count of pauses as a measure of time.
#ifndef LOCKSTEP_DETAIL_PLATFORM_CPU_RELAX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_CPU_RELAX_HPP

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86) || defined(_M_ARM64))
#include <intrin.h>
#endif

#include "config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline void cpu_relax() noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
  _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
  __yield();
#elif defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // ISB waits for about as long as x86's PAUSE; YIELD is a no-op on most cores.
  __asm__ __volatile__("isb" ::: "memory");
#elif defined(__arm__)
  __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
  __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc64__)
  __asm__ __volatile__("or 27,27,27" ::: "memory");
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_CPU_RELAX_HPP
