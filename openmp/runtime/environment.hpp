// SPDX-License-Identifier: MIT
// openmp/runtime/environment.hpp -- what programs change of the settings that the environment has given
#ifndef LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP
#define LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP

namespace lockstep::openmp {

/// KMP_BLOCKTIME: how long threads that wait look before they sleep; INT_MAX: for ever. For teams that are made later.
void set_blocktime(int milliseconds) noexcept;
/// At the first call of the process: LLVM's runtime reads its variables then, and not when it is loaded. So of its programs
/// counts what main() has set before.
void read_what_main_has_set() noexcept;
/// Reads the variables once more that a program may set before its first region.
void read_environment_again() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_ENVIRONMENT_HPP
