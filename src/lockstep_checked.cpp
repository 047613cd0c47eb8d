// SPDX-License-Identifier: MIT
// src/lockstep_checked.cpp -- the cold code of the library, for units that diagnose misuse
#define LOCKSTEP_DIAGNOSE_MISUSE 1
#include "lockstep.cpp"
