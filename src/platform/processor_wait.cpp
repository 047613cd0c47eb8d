// SPDX-License-Identifier: MIT
// src/platform/processor_wait.cpp -- the bodies of processor_wait.hpp (layer: platform)
#include "processor_wait.hpp"

#include "once.hpp"
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

/// What is used.
LOCKSTEP_INLINE found_once<std::uint32_t>& found_processor_wait() noexcept {
  static found_once<std::uint32_t> instance;
  return instance;
}
LOCKSTEP_INLINE line_wait_finding known_processor_wait() noexcept {
  return line_wait_finding(found_processor_wait().known());
}

LOCKSTEP_INLINE void processor_wait::prepare() noexcept {
  found_processor_wait().get([] { return try_processor_wait().word(); });
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
