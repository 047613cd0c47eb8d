// SPDX-License-Identifier: MIT
// src/trace/hook_bodies.hpp -- the bodies of observe/hooks.hpp, but for the ledger's (layer: trace)
//
// Memory order (# marks the line)
//   #  access        order    pairs  why it suffices
//   1  stage         relaxed  -      a hint for others
//   2  steps         relaxed  -      as 1
#ifndef LOCKSTEP_SRC_TRACE_HOOK_BODIES_HPP
#define LOCKSTEP_SRC_TRACE_HOOK_BODIES_HPP

#include <cstring>

#include <lockstep/detail/observe/hooks.hpp>
#include "delay_hooks.hpp"
#include "ledger_hooks.hpp"
#include "object_names.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"
#include "trace_export.hpp"
#include "wait_texts.hpp"
#include "watch_hooks.hpp"

#endif  // LOCKSTEP_SRC_TRACE_HOOK_BODIES_HPP
