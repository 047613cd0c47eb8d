// SPDX-License-Identifier: MIT
// openmp/runtime/neighbours.hpp -- other OpenMP runtimes in the process
#ifndef LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP

namespace lockstep::openmp {

/// Says once on stderr if another runtime, or another copy of this one, has calls of the process that ours does not get.
void tell_of_neighbours() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
