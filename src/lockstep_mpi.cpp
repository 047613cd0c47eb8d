// SPDX-License-Identifier: MIT
// src/lockstep_mpi.cpp -- lockstep inside MPI as one unit: all sources of src/mpi
//
// MPI libraries have different headers, so a program compiles this with those of its own: CMake's target lockstep::mpi, or
// the file on the command line. So does lockstep_mpi_checked.cpp, for units that diagnose misuse.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#endif
#include <lockstep/mpi.hpp>

#include "mpi/decomposition.cpp"
#include "mpi/halo.cpp"
#include "mpi/halo_block.cpp"
#include "mpi/world.cpp"
#include "mpi/world_graph.cpp"
#include "mpi/world_plan.cpp"
