// SPDX-License-Identifier: MIT
// lockstep/region_stopped.hpp -- what a construct throws in a region that was stopped (layer: region)
//
// Order  none.
// Errors none.
// Cost   that of an exception, once for each member of a region that is stopped.
// Example
//   lockstep::team two(2);
//   const bool is_complete = two.run([&](lockstep::member& me) {
//     if (me.rank() == 1) me.request_stop();
//     me.sync_threads();  // throws region_stopped, which run() catches
//   });
#ifndef LOCKSTEP_REGION_STOPPED_HPP
#define LOCKSTEP_REGION_STOPPED_HPP

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// Thrown by the functions of member in a region that was stopped: by request_stop(), or by the exception of
/// another member. Let it pass: run() catches it. It is no std::exception, so that `catch (const
/// std::exception&)` in a member's loop does not swallow the end of the region. A `catch (...)` there has to
/// throw it again.
class region_stopped {
 public:
  const char* what() const noexcept { return "lockstep: the region was stopped"; }
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REGION_STOPPED_HPP
