// SPDX-License-Identifier: MIT
// src/trace/debug_aids.hpp -- what LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY say (layer: trace)
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdint>

#include <lockstep/watchdog.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// LOCKSTEP_WATCHDOG: SECONDS[,abort][,signal]. False if it is none; `result` is as it was then. In small letters.
bool parse_watchdog(const char* word, watchdog_options& result) noexcept;
/// LOCKSTEP_DELAY: a number.
bool parse_delay(const char* word, std::uint64_t& seed) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
