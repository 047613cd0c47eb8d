// SPDX-License-Identifier: MIT
// src/platform/processor_wait.cpp -- the bodies of processor_wait.hpp (layer: platform)
//
// Memory order (# marks the line)
//   #  access         order    pairs  why it suffices
//   1  found.load     relaxed  -      a word that stands for itself
//   2  found changes  relaxed  -      as 1; the first one stays
#include "processor_wait.hpp"

#include "process.hpp"
#include "system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE const char* line_wait_finding::text() const noexcept {
  static const char* const kinds[] = {
      "none", "UMWAIT", "MWAITX", "WFET", "WFE, in polls of 100 us and more", "WRS.STO"};
  switch (verdict()) {
    case line_wait_verdict::on: return kinds[static_cast<std::uint32_t>(kind())];
    case line_wait_verdict::no_code: return "none: not known for this compiler and system";
    case line_wait_verdict::refused: return "off, by LOCKSTEP_PROCESSOR_WAIT";
    case line_wait_verdict::slow: return "off: it takes longer than asked, as if it were trapped";
    case line_wait_verdict::idle: return "off: it does not wait, as under emulation";
    default: return "none: the processor has no such instruction";
  }
}

LOCKSTEP_INLINE line_wait_finding try_processor_wait() noexcept {
  const char* const asked = obeyed_variable("LOCKSTEP_PROCESSOR_WAIT");
  native_line_machine here;
  return line_wait_trial::of(here, asked == nullptr || !is_switched_off(asked));
}

/// What is used. A function-local static of constant initialisation: no guard, no order of initialisation.
LOCKSTEP_INLINE unseamed_atomic<std::uint32_t>& found_processor_wait() noexcept {
  static unseamed_atomic<std::uint32_t> instance{0};
  return instance;
}
LOCKSTEP_INLINE line_wait_finding known_processor_wait() noexcept {
  return line_wait_finding(found_processor_wait().load(memory_order_relaxed));  // 1
}

LOCKSTEP_INLINE void processor_wait::prepare() noexcept {
  if (known_processor_wait().word() != 0) return;
  std::uint32_t unknown = 0;
  found_processor_wait().compare_exchange_strong(unknown, try_processor_wait().word(),
                                                 memory_order_relaxed,   // 2
                                                 memory_order_relaxed);  // 1
}
LOCKSTEP_INLINE std::uint64_t processor_wait::shortest() noexcept {
  const line_wait_finding known = known_processor_wait();
  return known.is_on() ? line_wait_trial::shortest(known.kind()) : no_deadline;
}
LOCKSTEP_INLINE void processor_wait::arm(const void* word) noexcept {
  line_instructions::arm(known_processor_wait().kind(), word);
}
LOCKSTEP_INLINE void processor_wait::wait(std::uint64_t nanoseconds) noexcept {
  const line_wait_finding known = known_processor_wait();
  line_instructions::wait(known.kind(), known.ticks(nanoseconds));
}
LOCKSTEP_INLINE const char* processor_wait::name() noexcept {
  prepare();
  return known_processor_wait().text();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
