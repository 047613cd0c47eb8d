// SPDX-License-Identifier: MIT
// src/wait/cpu_separation.cpp -- the bodies of cpu_separation.hpp (layer: wait)
#include <lockstep/detail/wait/cpu_separation.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE bool cpu_separation::may_move_anybody() noexcept {
  const char* const value = obeyed_variable("LOCKSTEP_CPU_SEPARATION");
  return value == nullptr || !is_switched_off(value);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
