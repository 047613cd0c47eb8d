// SPDX-License-Identifier: MIT
// openmp/runtime/environment.hpp -- how programs change settings that the environment has given
#ifndef LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP

namespace lockstep::openmp {

/// KMP_BLOCKTIME: how long waiting threads poll before they sleep; INT_MAX: for ever. For teams that are made later.
void set_blocktime(int milliseconds) noexcept;
/// Called at the first call of the process. LLVM's runtime reads its variables then, and not when it is loaded. So for
/// its programs, what main() has set before counts.
void read_what_main_has_set() noexcept;
/// Reads the variables again that a program may set before its first region.
void read_environment_again() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP
