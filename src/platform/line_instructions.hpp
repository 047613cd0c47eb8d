// SPDX-License-Identifier: MIT
// src/platform/line_instructions.hpp -- the processor's instructions that wait for a line (layer: platform)
//
// Each kind arms the processor for the line of a word, and then waits until another processor writes to it.
// processor_wait.hpp says what callers may rely on, and decides which kind is used.
//
//   kind     processor           arms by    waits by   ends without a write
//   umwait   x86-64 WAITPKG      UMONITOR   UMWAIT     at a time of the counter, or the system's limit (40 us on Linux)
//   mwaitx   x86-64 of AMD       MONITORX   MWAITX     after a number of ticks
//   wfet     AArch64 FEAT_WFxT   LDAXR      WFET       at a time of the counter
//   wfe      AArch64             LDAXR      WFE        at the next tick of the system's event stream, each 100 us on Linux
//   wrs_sto  RISC-V Zawrs        LR         WRS.STO    after a short time that the processor chooses
//
// Also without a cause. x86 waits in the lightest of its states (C0.1; MWAITX in C0), whose end takes the least time.
// Instructions are bytes where assemblers of the oldest compilers do not know them: no flag of the compiler is needed.
// Of WAITPKG's three, TPAUSE is not used: it waits for a time only.
//
// Known are they by CPUID on every system, by the auxiliary vector (AArch64) and hwprobe (RISC-V) on Linux. Elsewhere,
// and with compilers that have no inline assembly in GNU's form, there are none.
#ifndef LOCKSTEP_SRC_PLATFORM_LINE_INSTRUCTIONS_HPP
#define LOCKSTEP_SRC_PLATFORM_LINE_INSTRUCTIONS_HPP

#include <cstdint>

#include <lockstep/detail/platform/clock.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#define LOCKSTEP_LINE_WAITS_OF_X86 1
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#define LOCKSTEP_LINE_WAITS_OF_AARCH64 1
#elif defined(__GNUC__) && defined(__riscv) && defined(__linux__)
#include <unistd.h>

#include "posix.hpp"
#define LOCKSTEP_LINE_WAITS_OF_RISCV 1
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

enum class line_wait : std::uint32_t { none, umwait, mwaitx, wfet, wfe, wrs_sto };

/// The instructions of the processor that runs. To execute a kind that it has not is fatal (SIGILL).
struct line_instructions {
#if defined(LOCKSTEP_LINE_WAITS_OF_X86) || defined(LOCKSTEP_LINE_WAITS_OF_AARCH64) || \
    defined(LOCKSTEP_LINE_WAITS_OF_RISCV)
  static constexpr bool exist = true;
#else
  static constexpr bool exist = false;
#endif

  /// The best kind that processor and system say they have.
  static line_wait offered() noexcept;

  /// Whether wait() of that kind takes a time.
  static bool is_timed(line_wait kind) noexcept {
    return kind == line_wait::umwait || kind == line_wait::mwaitx || kind == line_wait::wfet;
  }

  static void arm(line_wait kind, const void* word) noexcept;
  /// Of kinds that are not timed the number of ticks is ignored.
  static void wait(line_wait kind, std::uint64_t ticks) noexcept;
  /// A wait that has nothing to wait for: what remains is what the instruction itself costs.
  static void pass(line_wait kind) noexcept;
};

#if defined(LOCKSTEP_LINE_WAITS_OF_X86)

inline line_wait line_instructions::offered() noexcept {
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

inline void line_instructions::arm(line_wait kind, const void* word) noexcept {
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

inline void line_instructions::wait(line_wait kind, std::uint64_t ticks) noexcept {
  if (kind == line_wait::umwait) {
    line_bytes::umwait(tick_clock::now() + ticks);
  } else {
    line_bytes::mwaitx(ticks == 0 ? 1 : ticks);
  }
}

inline void line_instructions::pass(line_wait kind) noexcept {
  if (kind == line_wait::umwait) {
    line_bytes::umwait(0);
  } else {
    line_bytes::mwaitx(1);  // not armed
  }
}

#elif defined(LOCKSTEP_LINE_WAITS_OF_AARCH64)

inline line_wait line_instructions::offered() noexcept {
  // From asm/hwcap.h, which older distributions lack.
  constexpr unsigned long event_stream = 1ul << 2, timed_wfe = 1ul << 31;
  if ((getauxval(AT_HWCAP2) & timed_wfe) != 0) return line_wait::wfet;
  return (getauxval(AT_HWCAP) & event_stream) != 0 ? line_wait::wfe : line_wait::none;
}

inline void line_instructions::arm(line_wait, const void* word) noexcept {
  std::uint32_t ignored;
  __asm__ __volatile__("ldaxr %w0, [%1]" : "=r"(ignored) : "r"(word) : "memory");
}

inline void line_instructions::wait(line_wait kind, std::uint64_t ticks) noexcept {
  if (kind == line_wait::wfet) {
    __asm__ __volatile__("mov x0, %0\n\t.inst 0xd5031000"  // wfet x0
                         :
                         : "r"(tick_clock::now() + ticks)
                         : "x0", "memory");
  } else {
    __asm__ __volatile__("wfe" : : : "memory");
  }
}

inline void line_instructions::pass(line_wait kind) noexcept {
  __asm__ __volatile__("sevl" : : : "memory");
  wait(kind, 0);
}

#elif defined(LOCKSTEP_LINE_WAITS_OF_RISCV)

inline line_wait line_instructions::offered() noexcept {
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

inline void line_instructions::arm(line_wait, const void* word) noexcept {
  std::uint32_t ignored;
  __asm__ __volatile__("lr.w.aq %0, (%1)" : "=r"(ignored) : "r"(word) : "memory");
}

inline void line_instructions::wait(line_wait, std::uint64_t) noexcept {
  __asm__ __volatile__(".4byte 0x01d00073" : : : "memory");  // wrs.sto
}

inline void line_instructions::pass(line_wait kind) noexcept {
  std::uint32_t own = 0, ignored;
  // A store-conditional gives up whatever was armed.
  __asm__ __volatile__("sc.w %0, zero, (%1)" : "=&r"(ignored) : "r"(&own) : "memory");
  wait(kind, 0);
}

#else

inline line_wait line_instructions::offered() noexcept { return line_wait::none; }
inline void line_instructions::arm(line_wait, const void*) noexcept {}
inline void line_instructions::wait(line_wait, std::uint64_t) noexcept {}
inline void line_instructions::pass(line_wait) noexcept {}

#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_LINE_INSTRUCTIONS_HPP
