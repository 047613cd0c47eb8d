// SPDX-License-Identifier: MIT
// lockstep/build_info.hpp -- how the library was built and what it found here (layer: platform)
//
// Says in bug reports, and to programs that refuse to run without a native futex, what was compiled and what the
// system granted. How a team is set up: LOCKSTEP_DISPLAY_ENV.
//
//   usable_cpus()   on how many CPUs the process may run: affinity, cut by a container's quota, at least 1. As it
//                   was when the process first asked.
// The macros LOCKSTEP_VERSION (a text), LOCKSTEP_VERSION_MAJOR, _MINOR and _PATCH are the version.
//
// Order  none.
// Errors std::bad_alloc of to_string().
// Cost   the first call asks the system for CPUs and fences; each later one is a few loads.
// Example
//   std::puts(to_string(lockstep::build_info()).c_str());
//   if (lockstep::usable_cpus() < 2) std::puts("no CPU for a second thread");
#ifndef LOCKSTEP_BUILD_INFO_HPP
#define LOCKSTEP_BUILD_INFO_HPP

#include <cstddef>
#include <string>

#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include <lockstep/detail/platform/this_thread.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

using detail::usable_cpus;

/// What build_info() returns. The texts live for ever.
struct build_information {
  const char* version;
  const char* futex;          ///< what sleeping threads sleep in
  const char* process_fence;  ///< how notifiers and sleepers are ordered, and which of them pays
  std::size_t cache_line_size;
  const char* default_policy;
  unsigned usable_cpus;  ///< what the function of that name returns
  bool diagnoses_misuse;
  const char* missing;  ///< what this system does not give, separated by commas; "nothing"
};

build_information build_info();

/// One line per item, "name: value\n".
std::string to_string(const build_information& info);

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_BUILD_INFO_HPP
