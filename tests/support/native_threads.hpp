// SPDX-License-Identifier: MIT
// tests/support/native_threads.hpp -- what belongs to a thread, as the native system has it
//
// For seams (LOCKSTEP_SYSTEM_SEAM) that replace other parts of detail/platform/system.hpp, but not these.
#pragma once

#include <cstdint>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  return shorten_native_timer_slack(nanoseconds);
}
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  set_native_timer_slack(nanoseconds);
}

inline std::uint64_t number_of_this_thread() noexcept { return system_thread_number(); }

template <class T, class Name>
T& per_thread() noexcept {
  static thread_local T value = T();
  return value;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
