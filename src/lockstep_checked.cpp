// SPDX-License-Identifier: MIT
// src/lockstep_checked.cpp -- the library once more, for units that diagnose misuse
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#include "lockstep.cpp"
