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
#define LOCKSTEP_LINE_WAITS_OF_X86 1
#elif defined(__GNUC__) && defined(__aarch64__) && defined(__linux__)
#define LOCKSTEP_LINE_WAITS_OF_AARCH64 1
#elif defined(__GNUC__) && defined(__riscv) && defined(__linux__)
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

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_LINE_INSTRUCTIONS_HPP
