// SPDX-License-Identifier: MIT
// lockstep/detail/trace/bodies.hpp -- all that the hooks of detail/observe do (layer: trace)
//
// The compiled library has it, and header-only programs that define LOCKSTEP_OBSERVABLE. observe/hooks.hpp includes it
// at its end: no other header below includes anything of this room. So headers here include observers.hpp and
// wait_kinds.hpp of the port, and not hooks.hpp; but for the three that are included here alone, hook_bodies.hpp,
// ledger_hook_bodies.hpp and debug_aids.hpp: they define what hooks.hpp declares.
#ifndef LOCKSTEP_DETAIL_TRACE_BODIES_HPP
#define LOCKSTEP_DETAIL_TRACE_BODIES_HPP

#include "../observe/hooks.hpp"

#if LOCKSTEP_HAS_OBSERVERS && LOCKSTEP_HAS_BODIES
#include "debug_aids.hpp"
#include "hook_bodies.hpp"
#include "ledger_hook_bodies.hpp"
#include "trace_export.hpp"
#endif

#endif  // LOCKSTEP_DETAIL_TRACE_BODIES_HPP
