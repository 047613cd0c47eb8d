// SPDX-License-Identifier: MIT
// bench/support/pause.hpp -- between two looks of a loop that polls
#pragma once

namespace bench {

inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

}  // namespace bench
