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

#include <lockstep/trace.hpp>

#include "../observe/hooks.hpp"
#include "delay_hooks.hpp"
#include "ledger_hooks.hpp"
#include "object_names.hpp"
#include "recorder.hpp"
#include "thread_log.hpp"
#include "trace_export.hpp"
#include "wait_texts.hpp"
#include "watch_hooks.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// For the ledger's.
thread_log* show_arrival(member_view& self, std::uint32_t on) noexcept;
void show_release(thread_log& log) noexcept;
void record_region(const region_view& of) noexcept;
open_part* show_part(const observed_member& who, std::uint32_t part, bool is_of_loop) noexcept;

/// For trace.hpp.
void note_name(const char* name) noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_HOOK_BODIES_HPP
