// SPDX-License-Identifier: MIT
// lockstep/detail/wait/wait_pulse.hpp -- what a thread does now and then while it waits (layer: wait)
//
// For languages that look for signals on one thread: the C interface has lockstep_poll_while_waiting. WAIT-4 of
// src/wait/wait_engine.hpp.
#ifndef LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP
#define LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP

#include <cstdint>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the calling thread does now and then while it waits for anything, in a wait that lasts. It may stop the region that
/// it waits in.
struct wait_pulse {
  void (*call)(void* context);
  void* context;
  std::uint64_t interval;  ///< in nanoseconds, from the time at which the wait begins to sleep

  /// Null: none. It outlives the waits of the thread.
  static const wait_pulse*& of_this_thread() noexcept;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_WAIT_PULSE_HPP
