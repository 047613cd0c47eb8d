// SPDX-License-Identifier: MIT
// src/trace/stuck_text.hpp -- the sentences of a stuck_report (layer: trace)
#ifndef LOCKSTEP_SRC_TRACE_STUCK_TEXT_HPP
#define LOCKSTEP_SRC_TRACE_STUCK_TEXT_HPP

#include <string>

#include "stuck_report.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the snapshot says, as a text of several lines. `why` is the first one, without its end.
std::string stuck_report(const stuck_snapshot& all, const char* why);

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_TRACE_STUCK_TEXT_HPP
