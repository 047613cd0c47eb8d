// SPDX-License-Identifier: MIT
// lockstep/detail/trace/ledger_hooks.hpp -- what the ledger of waits is told (layer: trace)
#ifndef LOCKSTEP_DETAIL_TRACE_LEDGER_HOOKS_HPP
#define LOCKSTEP_DETAIL_TRACE_LEDGER_HOOKS_HPP

#include <cstdint>

#include "thread_log.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Called where observer::accounts is on, on the thread itself. Empty until there is a ledger.
struct ledger_hooks {
  /// A member goes on after a construct in which all have met: kind, site, phase, when it came, arrived, was released.
  static void member_left(thread_log&, const construct_visit&) noexcept {}
  /// A region or loop is over: told on its caller's thread. Ticks. `kind` is "run" or "loop".
  static void region_ended(thread_log&, const char* /*kind*/, const void* /*team*/,
                           std::uint32_t /*region*/, std::uint32_t /*size*/,
                           std::uint64_t /*begin*/, std::uint64_t /*end*/) noexcept {}
  /// A member's part of a region, or a part of a loop, was run by this thread. Ticks.
  static void part_ended(thread_log&, const void* /*team*/, std::uint32_t /*region*/,
                         std::uint32_t /*rank*/, std::uint32_t /*size*/, std::uint64_t /*begin*/,
                         std::uint64_t /*end*/) noexcept {}
  /// A wait is over, of any kind: those in constructs, and those of events, locks and so on. Ticks.
  static void wait_ended(thread_log&, const wait_subject&, wait_stage /*furthest*/,
                         std::uint64_t /*begin*/, std::uint64_t /*end*/) noexcept {}
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TRACE_LEDGER_HOOKS_HPP
