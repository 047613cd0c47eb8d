// SPDX-License-Identifier: MIT
// openmp/affinity.hpp -- places: which CPUs the members of a region run on (OMP_PLACES, OMP_PROC_BIND, GOMP_CPU_AFFINITY)
#ifndef LOCKSTEP_OPENMP_AFFINITY_HPP
#define LOCKSTEP_OPENMP_AFFINITY_HPP

#include "abi.hpp"
#include "part.hpp"

namespace lockstep::openmp::affinity {

/// Whether threads are bound at all in this process: places are known, and the first level is not bind(false).
bool is_on() noexcept;
/// The places of the member `rank` of a region of `size`, encountered by a thread with `parent`, bound as `how` says.
/// Pure, but for the list of places.
thread_places places_of_member(const thread_places& parent, unsigned rank, unsigned size, proc_bind how) noexcept;
/// Binds the calling thread to a place, unless it is there already; -1 lets it go where the process may.
void bind_this_thread(int place) noexcept;

}  // namespace lockstep::openmp::affinity

#endif  // LOCKSTEP_OPENMP_AFFINITY_HPP
