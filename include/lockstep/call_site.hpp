// SPDX-License-Identifier: MIT
// lockstep/call_site.hpp -- where a function that may wait was called (layer: base)
//
// The default argument of the functions of member, and of those in which a thread waits for an object. What watches a
// wait names it (watchdog.hpp, trace.hpp); nobody watches: it is not looked at. Locks have none: std::lock_guard and its
// like would name themselves.
#ifndef LOCKSTEP_CALL_SITE_HPP
#define LOCKSTEP_CALL_SITE_HPP

#include "detail/platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// For messages: leave it out. A function of yours that calls such functions for others takes one too, with the same
/// default, and passes it on: then messages name its callers. No file: nothing is said.
struct call_site {
  const char* file;
  unsigned line;

  static constexpr call_site here(const char* in_file = LOCKSTEP_CALLER_FILE,
                                  unsigned at_line = LOCKSTEP_CALLER_LINE) noexcept {
    return {in_file, at_line};
  }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_CALL_SITE_HPP
