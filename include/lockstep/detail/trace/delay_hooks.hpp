// SPDX-License-Identifier: MIT
// lockstep/detail/trace/delay_hooks.hpp -- where threads may be delayed (layer: trace)
#ifndef LOCKSTEP_DETAIL_TRACE_DELAY_HOOKS_HPP
#define LOCKSTEP_DETAIL_TRACE_DELAY_HOOKS_HPP

#include <cstdint>

#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Called where observer::delays is on, on the thread itself: before a wait, before a member arrives, and before and
/// after its part of a region. Empty until there are delays.
struct delay_hooks {
  static void point(thread_log&) noexcept {}
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_DELAY_HOOKS_HPP
