// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_pulse.hpp -- what a thread does now and then while it waits (layer: wait)
//
// For languages that handle signals on one thread: lockstep_poll_while_waiting of the C interface. See WAIT-4 of
// src/wait/wait_engine.hpp.
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A call that a thread makes now and then during each long wait. The call may stop the region in which the thread
/// waits.
struct wait_pulse {
  void (*call)(void* context);
  void* context;
  std::uint64_t interval;  ///< in nanoseconds; the first begins with the last rung of the wait

  /// The pulse of the calling thread; null if it has none. Requires: the pulse outlives the thread's waits.
  static const wait_pulse*& of_this_thread() noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP
