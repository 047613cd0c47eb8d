// SPDX-License-Identifier: MIT
// openmp/runtime/neighbours.hpp -- other OpenMP runtimes in the process
#ifndef LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
#define LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP

namespace lockstep::openmp {

/// Whether the first that asks for an OpenMP runtime (the program, else a library of its) asks for LLVM's.
bool is_asked_for_by_llvm() noexcept;
/// Says once on stderr if another runtime, or another copy of this one, has calls of the process that ours does not get.
void tell_of_neighbours() noexcept;

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_NEIGHBOURS_HPP
