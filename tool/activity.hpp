// SPDX-License-Identifier: MIT
// tool/activity.hpp -- when a thread computed, and when it waited
#pragma once

#include <vector>

#include "tool/trace.hpp"

namespace tool {

struct activity {
  std::vector<span> computing;  // in order, apart from each other
  std::vector<span> waiting;
  std::vector<span> serial;   // of a thread that calls regions: outside of them
  std::vector<span> between;  // in lockstep, and neither computing nor seen to wait
};

/// The innermost slice of the kinds part, node, user, wait and region decides: a thread that helps while it waits
/// computes. In a region its parts compute, not the time between them; a region that has no part on its thread, such as
/// a loop that ran inline, computes itself. The end of a construct in which its member waited is a wait, even if it was
/// too short for a slice of its own. Time that is none of the four was not recorded: the thread had not begun, or had
/// ended, or its records are lost.
[[nodiscard]] activity activity_of(const trace& of, const thread& on);

[[nodiscard]] nanoseconds total(const std::vector<span>& spans);

/// How long the spans lie in `window`.
[[nodiscard]] nanoseconds total_within(const std::vector<span>& spans, span window);

/// Those parts of the spans that lie in `window`, put at the end of `found`.
void append_within(const std::vector<span>& spans, span window, std::vector<span>& found);

}  // namespace tool
