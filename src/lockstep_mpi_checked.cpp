// SPDX-License-Identifier: MIT
// src/lockstep_mpi_checked.cpp -- lockstep inside MPI once more, for units that diagnose misuse
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#include "lockstep_mpi.cpp"
