// SPDX-License-Identifier: MIT
// src/base/wait_policy.cpp -- the bodies of wait_policy.hpp (layer: base)
#include <lockstep/wait_policy.hpp>

#include "../platform/system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

LOCKSTEP_INLINE std::uint64_t time_in(std::uint64_t nanoseconds) noexcept {
  const std::uint64_t now = monotonic_nanoseconds();
  return nanoseconds < no_deadline - now ? now + nanoseconds : no_deadline;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
