// SPDX-License-Identifier: MIT
// lockstep/detail/trace/watch_hooks.hpp -- what the watchdog is told (layer: trace)
#ifndef LOCKSTEP_DETAIL_TRACE_WATCH_HOOKS_HPP
#define LOCKSTEP_DETAIL_TRACE_WATCH_HOOKS_HPP

#include <cstdint>

#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Called where observer::watches is on, on the thread itself. The watchdog reads the logs from a thread of its own
/// (thread_log.hpp); this is for what it wants to know at once. Empty until there is a watchdog.
struct watch_hooks {
  /// The first wait of this thread since it has a log, or a later one: before it is shown.
  static void wait_begins(thread_log&, const wait_subject&) noexcept {}
  static void wait_ends(thread_log&, const wait_subject&) noexcept {}
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_WATCH_HOOKS_HPP
