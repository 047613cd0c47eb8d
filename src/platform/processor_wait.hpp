// SPDX-License-Identifier: MIT
// src/platform/processor_wait.hpp -- a thread waits in the processor until a line changes (layer: platform)
//
// Between polling and asking the system: the processor itself waits until another one writes to a cache line. That
// leaves a shared core to the other thread on it, and saves current. It gives the CPU to nobody: the system sees a
// thread that runs. line_instructions.hpp has the instructions; here is what may be relied on, and whether they are used.
//
//   LINE-1  No change is lost: who waits arms, looks, and waits only if the look failed. A write of another processor
//           after arm() ends the wait, or keeps it from beginning. A write before it is seen by the look.
//   LINE-2  A wait is bounded. It ends by itself after `time`; kinds that take no time end after one of their own,
//           2 * usual() + 2 us at most when they were tried.
//   LINE-3  It may end at any time for no reason: an interrupt, a write to another word of the line, a change of the
//           thread's CPU. The caller learns nothing from its end, and looks again.
//   LINE-4  It orders nothing. It stands where pauses stood, between two looks whose orders are the caller's.
//   LINE-5  Nothing is offered before prepare() has tried it. Where LOCKSTEP_PROCESSOR_WAIT is 0 nothing is; nor where a
//           wait with nothing to wait for, or a short one, takes much longer than it should: there a hypervisor traps
//           the instruction. Nor where waits do not last: an emulator that passes over them.
//
// LINE-1 asks that the look is not made before the line is watched. x86 makes loads in their order, and MONITORX and
// UMONITOR count as loads; LDAXR and LR.aq come before all that follows them in the program. The compiler moves nothing
// across either. The look may have more words than the one that is watched, as a stop: a change of another one is seen
// after the wait's time. So callers keep it short (wait_engine.hpp).
//
//   bits of found   name     meaning
//   0..3            verdict  line_wait_verdict; 0: not tried yet
//   4..7            kind     line_wait
//   8..31           ticks    of the processor's counter in 1024 ns, for kinds that take a time
//
// Cost   prepare(): once a module, CPUID or the like; where a kind is offered, 30 us to try it, 400 us for WFE.
// Source [INTEL-UMWAIT], [AMD-MWAITX], [ARM-WFET], [RISCV-ZAWRS]
#ifndef LOCKSTEP_SRC_PLATFORM_PROCESSOR_WAIT_HPP
#define LOCKSTEP_SRC_PLATFORM_PROCESSOR_WAIT_HPP

#include <cstdint>

#include <lockstep/detail/platform/system.hpp>

#include "line_instructions.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What became of a kind. Only `on` is used.
enum class line_wait_verdict : std::uint32_t { unknown, no_code, absent, refused, slow, idle, on };

/// What was found out, as one word.
class line_wait_finding {
 public:
  constexpr explicit line_wait_finding(std::uint32_t word) noexcept : word_(word) {}
  constexpr line_wait_finding(line_wait_verdict verdict, line_wait kind,
                              std::uint32_t ticks) noexcept
      : word_(static_cast<std::uint32_t>(verdict) | static_cast<std::uint32_t>(kind) << 4 |
              ticks << 8) {}

  constexpr std::uint32_t word() const noexcept { return word_; }
  constexpr line_wait_verdict verdict() const noexcept {
    return static_cast<line_wait_verdict>(word_ & 15);
  }
  constexpr line_wait kind() const noexcept { return static_cast<line_wait>(word_ >> 4 & 15); }
  constexpr bool is_on() const noexcept { return verdict() == line_wait_verdict::on; }
  constexpr std::uint64_t ticks(std::uint64_t nanoseconds) const noexcept {
    return nanoseconds * (word_ >> 8) / 1024;
  }
  /// For build_info().
  const char* text() const noexcept;

 private:
  std::uint32_t word_;
};

/// Tries the kind that a machine offers. A Machine has, as native_line_machine below:
///     exist, offered(), arm(kind, word), wait(kind, ticks), pass(kind)    as line_instructions
///     now()      nanoseconds
///     ticks()    of the counter by which timed kinds wait
class line_wait_trial {
 public:
  /// For how long a kind waits, if it does not take a time. Short enough for a wait that is otherwise a poll.
  static constexpr std::uint64_t usual(line_wait kind) noexcept {
    return kind == line_wait::wfe ? 100000 : kind == line_wait::wrs_sto ? 10000 : 2000;
  }
  /// shortest() of that kind. WFE may take 100 us if nothing happens, which is more than most polls.
  static constexpr std::uint64_t shortest(line_wait kind) noexcept {
    return kind == line_wait::wfe ? 100000 : kind == line_wait::wrs_sto ? 2000 : 1000;
  }

  template <class Machine>
  static line_wait_finding of(Machine& machine, bool is_allowed) noexcept {
    if (!machine.exist) return {line_wait_verdict::no_code, line_wait::none, 0};
    if (!is_allowed) return {line_wait_verdict::refused, line_wait::none, 0};
    const line_wait kind = machine.offered();
    if (kind == line_wait::none) return {line_wait_verdict::absent, kind, 0};
    const std::uint32_t ticks = line_instructions::is_timed(kind) ? rate(machine) : 0;
    return {times(machine, line_wait_finding(line_wait_verdict::unknown, kind, ticks)).judge(kind),
            kind, ticks};
  }

 private:
  // Of a few rounds the shortest times say whether something always comes between: an exit to a hypervisor takes 1 us
  // and more. One round may be disturbed by an interrupt, and another end early by one, so two that last are enough.
  static constexpr int rounds = 4, enough = 2;
  static constexpr std::uint64_t longest_pass = 400, tolerance = 2000;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct times {
    std::uint64_t clock = never, pass = never, least = never;
    int lasting = 0;

    template <class Machine>
    times(Machine& machine, line_wait_finding tried) noexcept {
      const std::uint32_t nothing = 0;
      const line_wait kind = tried.kind();
      for (int i = 0; i < rounds; ++i) {
        const std::uint64_t start = machine.now();
        const std::uint64_t begin = machine.now();
        machine.pass(kind);
        const std::uint64_t middle = machine.now();
        machine.arm(kind, &nothing);
        machine.wait(kind, tried.ticks(usual(kind)));
        const std::uint64_t waited = machine.now() - middle;
        clock = smaller(clock, begin - start);
        pass = smaller(pass, middle - begin);
        least = smaller(least, waited);
        if (waited >= least_wait(kind)) ++lasting;
      }
    }
    line_wait_verdict judge(line_wait kind) const noexcept {
      const bool is_slow =
          pass > clock + longest_pass || least > 2 * usual(kind) + tolerance + clock;
      return is_slow            ? line_wait_verdict::slow
             : lasting < enough ? line_wait_verdict::idle
                                : line_wait_verdict::on;
    }
  };

  /// Of WRS.STO only its maker knows how long it waits.
  static constexpr std::uint64_t least_wait(line_wait kind) noexcept {
    return kind == line_wait::wrs_sto ? 100 : usual(kind) / 4;
  }
  static std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept { return a < b ? a : b; }

  /// Ticks in 1024 ns. That it is off by a few parts in a hundred does not matter.
  template <class Machine>
  static std::uint32_t rate(Machine& machine) noexcept {
    constexpr std::uint64_t window = 20000, most = (1u << 24) - 1;
    const std::uint64_t start = machine.now(), first = machine.ticks();
    std::uint64_t end = machine.now();
    while (end - start < window) end = machine.now();
    const std::uint64_t found = (machine.ticks() - first) * 1024 / (end - start);
    return static_cast<std::uint32_t>(found == 0 ? 1 : smaller(found, most));
  }
};

/// This machine.
struct native_line_machine : line_instructions {
  static std::uint64_t now() noexcept { return steady_nanoseconds(); }
  static std::uint64_t ticks() noexcept { return tick_clock::now(); }
};

/// As processor_wait::prepare(), without keeping what it finds.
line_wait_finding try_processor_wait() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_PROCESSOR_WAIT_HPP
