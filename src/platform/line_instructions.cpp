// SPDX-License-Identifier: MIT
// src/platform/line_instructions.cpp -- the bodies of line_instructions.hpp (layer: platform)
#include "line_instructions.hpp"

#if defined(LOCKSTEP_LINE_WAITS_OF_X86)
#include <cpuid.h>
#elif defined(LOCKSTEP_LINE_WAITS_OF_AARCH64)
#include <sys/auxv.h>
#elif defined(LOCKSTEP_LINE_WAITS_OF_RISCV)
#include <unistd.h>

#include "posix.hpp"
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(LOCKSTEP_LINE_WAITS_OF_X86)

LOCKSTEP_INLINE line_wait line_instructions::offered() noexcept {
  constexpr unsigned waitpkg = 1u << 5, monitorx = 1u << 29;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (converted<unsigned>(__get_cpuid_max(0, nullptr)) >= 7) {
    __cpuid_count(7, 0, a, b, c, d);
    if ((c & waitpkg) != 0) return line_wait::umwait;
  }
  if (converted<unsigned>(__get_cpuid_max(0x80000000u, nullptr)) >= 0x80000001u) {
    __cpuid(0x80000001u, a, b, c, d);
    if ((c & monitorx) != 0) return line_wait::mwaitx;
  }
  return line_wait::none;
}

namespace line_bytes {

inline void umwait(std::uint64_t until) noexcept {
  constexpr std::uint32_t lightest_state = 1;
  __asm__ __volatile__(".byte 0xf2, 0x0f, 0xae, 0xf1"  // umwait %ecx
                       :
                       : "a"(static_cast<std::uint32_t>(until)),
                         "d"(static_cast<std::uint32_t>(until >> 32)), "c"(lightest_state)
                       : "cc", "memory");
}
inline void mwaitx(std::uint64_t ticks) noexcept {
  constexpr std::uint32_t lightest_state = 0xf0, with_timer = 2, most = 0xffffffffu;
  const std::uint32_t time = ticks < most ? static_cast<std::uint32_t>(ticks) : most;
  __asm__ __volatile__(".byte 0x0f, 0x01, 0xfb"  // mwaitx
                       :
                       : "a"(lightest_state), "b"(time), "c"(with_timer)
                       : "memory");
}

}  // namespace line_bytes

LOCKSTEP_INLINE void line_instructions::arm(line_wait kind, const void* word) noexcept {
  const std::uint64_t at = reinterpret_cast<std::uintptr_t>(word);
  if (kind == line_wait::umwait) {
    __asm__ __volatile__(".byte 0xf3, 0x0f, 0xae, 0xf0" : : "a"(at) : "memory");  // umonitor %rax
  } else {
    __asm__ __volatile__(".byte 0x0f, 0x01, 0xfa"  // monitorx
                         :
                         : "a"(at), "c"(0), "d"(0)
                         : "memory");
  }
}

LOCKSTEP_INLINE void line_instructions::wait(line_wait kind, std::uint64_t ticks) noexcept {
  if (kind == line_wait::umwait) {
    line_bytes::umwait(tick_clock::now() + ticks);
  } else {
    line_bytes::mwaitx(ticks == 0 ? 1 : ticks);
  }
}

LOCKSTEP_INLINE void line_instructions::pass(line_wait kind) noexcept {
  if (kind == line_wait::umwait) {
    line_bytes::umwait(0);
  } else {
    line_bytes::mwaitx(1);  // not armed
  }
}

#elif defined(LOCKSTEP_LINE_WAITS_OF_AARCH64)

LOCKSTEP_INLINE line_wait line_instructions::offered() noexcept {
  // From asm/hwcap.h, which older distributions lack.
  constexpr unsigned long event_stream = 1ul << 2, timed_wfe = 1ul << 31;
  if ((getauxval(AT_HWCAP2) & timed_wfe) != 0) return line_wait::wfet;
  return (getauxval(AT_HWCAP) & event_stream) != 0 ? line_wait::wfe : line_wait::none;
}

LOCKSTEP_INLINE void line_instructions::arm(line_wait, const void* word) noexcept {
  std::uint32_t ignored;
  __asm__ __volatile__("ldaxr %w0, [%1]" : "=r"(ignored) : "r"(word) : "memory");
}

LOCKSTEP_INLINE void line_instructions::wait(line_wait kind, std::uint64_t ticks) noexcept {
  if (kind == line_wait::wfet) {
    __asm__ __volatile__("mov x0, %0\n\t.inst 0xd5031000"  // wfet x0
                         :
                         : "r"(tick_clock::now() + ticks)
                         : "x0", "memory");
  } else {
    __asm__ __volatile__("wfe" : : : "memory");
  }
}

LOCKSTEP_INLINE void line_instructions::pass(line_wait kind) noexcept {
  __asm__ __volatile__("sevl" : : : "memory");
  wait(kind, 0);
}

#elif defined(LOCKSTEP_LINE_WAITS_OF_RISCV)

LOCKSTEP_INLINE line_wait line_instructions::offered() noexcept {
  // From asm/hwprobe.h and asm/unistd.h, which older distributions lack.
  struct pair {
    std::int64_t key;
    std::uint64_t value;
  };
  constexpr std::int64_t extensions = 4;
  constexpr std::uint64_t zawrs = std::uint64_t{1} << 48;
  constexpr long hwprobe = 258;
  const kept_error kept;
  pair asked = {extensions, 0};
  const bool answered = syscall(hwprobe, &asked, 1ul, 0ul, nullptr, 0u) == 0;
  const bool has = answered && asked.key == extensions && (asked.value & zawrs) != 0;
  return has ? line_wait::wrs_sto : line_wait::none;
}

LOCKSTEP_INLINE void line_instructions::arm(line_wait, const void* word) noexcept {
  std::uint32_t ignored;
  __asm__ __volatile__("lr.w.aq %0, (%1)" : "=r"(ignored) : "r"(word) : "memory");
}

LOCKSTEP_INLINE void line_instructions::wait(line_wait, std::uint64_t) noexcept {
  __asm__ __volatile__(".4byte 0x01d00073" : : : "memory");  // wrs.sto
}

LOCKSTEP_INLINE void line_instructions::pass(line_wait kind) noexcept {
  std::uint32_t own = 0, ignored;
  // A store-conditional gives up whatever was armed.
  __asm__ __volatile__("sc.w %0, zero, (%1)" : "=&r"(ignored) : "r"(&own) : "memory");
  wait(kind, 0);
}

#else

LOCKSTEP_INLINE line_wait line_instructions::offered() noexcept { return line_wait::none; }
LOCKSTEP_INLINE void line_instructions::arm(line_wait, const void*) noexcept {}
LOCKSTEP_INLINE void line_instructions::wait(line_wait, std::uint64_t) noexcept {}
LOCKSTEP_INLINE void line_instructions::pass(line_wait) noexcept {}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
