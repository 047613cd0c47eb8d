// SPDX-License-Identifier: MIT
// src/trace/debug_aids.hpp -- LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY (layer: trace)
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.store  relaxed  -      before any thread is delayed
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <lockstep/watchdog.hpp>
#include "../observe/hooks.hpp"
#include "../platform/system_texts.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// LOCKSTEP_WATCHDOG: SECONDS[,abort][,signal]. False if it is none; `result` is as it was then. In small letters.
bool parse_watchdog(const char* word, watchdog_options& result) noexcept;
/// LOCKSTEP_DELAY. False if it is none.
bool parse_delay(const char* word, std::uint64_t& seed) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
