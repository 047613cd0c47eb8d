// SPDX-License-Identifier: MIT
// src/trace/debug_aids.hpp -- LOCKSTEP_WATCHDOG and LOCKSTEP_DELAY (layer: trace)
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  seed.store  relaxed  -      before any thread is delayed
#ifndef LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
#define LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP

#include <cstdio>
#include <cstring>

#include <lockstep/detail/observe/hooks.hpp>
#include "../platform/system_texts.hpp"
#include <lockstep/watchdog.hpp>

#endif  // LOCKSTEP_SRC_TRACE_DEBUG_AIDS_HPP
