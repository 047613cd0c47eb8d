// SPDX-License-Identifier: MIT
// lockstep/mpi.hpp -- lockstep inside MPI: all of include/lockstep/mpi/ (layer: mpi)
//
// Needs an MPI library: in CMake the target lockstep::mpi. Not part of lockstep.hpp, nor of the single header.
#ifndef LOCKSTEP_MPI_HPP
#define LOCKSTEP_MPI_HPP

#include <lockstep/mpi/decomposition.hpp>
#include <lockstep/mpi/halo.hpp>
#include <lockstep/mpi/world.hpp>
#include <lockstep/mpi/world_plan.hpp>

#endif  // LOCKSTEP_MPI_HPP
