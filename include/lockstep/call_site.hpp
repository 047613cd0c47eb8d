// SPDX-License-Identifier: MIT
// lockstep/call_site.hpp -- where a function of member was called (layer: trace)
#ifndef LOCKSTEP_CALL_SITE_HPP
#define LOCKSTEP_CALL_SITE_HPP

#include "detail/platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Where a construct was called, for messages: the default argument of the functions of member. A function of yours
/// that calls them for others takes one too, with the same default, and passes it on: then messages name its callers.
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
