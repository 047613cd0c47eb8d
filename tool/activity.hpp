// SPDX-License-Identifier: MIT
// tool/activity.hpp -- when a thread computed, and when it waited
#pragma once

#include <vector>

#include "tool/trace.hpp"

namespace tool {

/// Of a thread.
struct activity {
  std::vector<span> computing;  // in order, apart from each other
  std::vector<span> waiting;
  std::vector<span> serial;  // of a thread that calls regions: outside of them
  span there;                // the time that was recorded; what is in no list, it was in lockstep
};

/// The innermost slice of the kinds part, node, user, wait and region decides, so a thread that helps while it waits
/// computes. In a region its parts compute, and the time between them does not. A region without a part on its thread,
/// such as a loop that ran inline, computes itself. If a member waited at the end of a construct, that end is a wait,
/// even if it was too short for a slice of its own. Time that the thread was not there was not recorded: it had not
/// begun, or had ended, or its records are lost.
[[nodiscard]] activity activity_of(const trace& of, const thread& on);

[[nodiscard]] nanoseconds total(const std::vector<span>& spans);

/// How much of the window the spans cover.
[[nodiscard]] nanoseconds total_within(const std::vector<span>& spans, span window);

/// Appends to `found` the parts of the spans that lie in the window.
void append_within(const std::vector<span>& spans, span window, std::vector<span>& found);

}  // namespace tool
