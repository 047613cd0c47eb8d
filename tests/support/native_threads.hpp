// SPDX-License-Identifier: MIT
// tests/support/native_threads.hpp -- what belongs to a thread, as the native system has it
//
// For seams (LOCKSTEP_SYSTEM_SEAM) that replace other parts of src/platform/system.hpp, but not these.
#pragma once

#include <cstdint>

#include "platform/native_system.hpp"
#include "platform/process_fence.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

inline std::uint64_t shorten_timer_slack(std::uint64_t nanoseconds) noexcept {
  const std::uint64_t before = native_system::timer_slack();
  if (before <= nanoseconds) return 0;
  native_system::set_timer_slack(nanoseconds);
  return before;
}
inline void set_timer_slack(std::uint64_t nanoseconds) noexcept {
  native_system::set_timer_slack(nanoseconds);
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
