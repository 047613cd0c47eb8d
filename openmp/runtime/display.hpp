// SPDX-License-Identifier: MIT
// openmp/runtime/display.hpp -- what users are shown: the settings (OMP_DISPLAY_ENV) and where threads run (affinity formats)
#ifndef LOCKSTEP_OPENMP_RUNTIME_DISPLAY_HPP
#define LOCKSTEP_OPENMP_RUNTIME_DISPLAY_HPP

#include <string>

#include "part.hpp"

namespace lockstep::openmp {

namespace display {

/// Prints the settings to stderr, in the form of the specification.
void show_environment(bool is_verbose) noexcept;

/// OMP_AFFINITY_FORMAT. The text is copied.
void set_affinity_format(const char* format) noexcept;
std::string affinity_format() noexcept;
/// The format filled in for the calling thread, which has the part `of`. Null means the format of the process.
std::string filled_in(const char* format, const part& of) noexcept;
/// Prints the same as a line: to stderr, for LLVM's programs to stdout.
void show_affinity(const char* format, const part& of) noexcept;

/// For OMP_DISPLAY_AFFINITY, called by a thread that encounters a region: whether it differs from the thread's last
/// region. Then all members are shown.
struct shown_region {
  unsigned level = 0, size = 0;
  proc_bind bind = proc_bind::no;
  thread_places places;  ///< of the thread

  bool operator==(const shown_region&) const = default;
};
bool is_new_region(const shown_region& of) noexcept;

}  // namespace display
}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_DISPLAY_HPP
