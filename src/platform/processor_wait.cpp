// SPDX-License-Identifier: MIT
// src/platform/processor_wait.cpp -- the bodies of processor_wait.hpp (layer: platform)
#include <lockstep/detail/platform/processor_wait.hpp>

#include <lockstep/detail/platform/process.hpp>
#include <lockstep/detail/platform/system_texts.hpp>

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

LOCKSTEP_INLINE line_wait_finding processor_wait::try_anew() noexcept {
  const char* const asked = obeyed_variable("LOCKSTEP_PROCESSOR_WAIT");
  native_line_machine here;
  return line_wait_trial::of(here, asked == nullptr || !is_switched_off(asked));
}

LOCKSTEP_INLINE void processor_wait::prepare() noexcept {
  if (finding().word() != 0) return;
  std::uint32_t unknown = 0;
  found().compare_exchange_strong(unknown, try_anew().word(), memory_order_relaxed,  // 2
                                  memory_order_relaxed);                             // 1
}

LOCKSTEP_INLINE const char* processor_wait::name() noexcept {
  prepare();
  return finding().text();
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
