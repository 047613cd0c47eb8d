// SPDX-License-Identifier: MIT
// src/lockstep.cpp -- the cold code of the library, for units that do not diagnose misuse
//
// Of lockstep::lockstep, with lockstep_checked.cpp: the code is in another inline namespace there (LOCKSTEP_ABI), so that
// one library serves debug and release units.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#endif
#define LOCKSTEP_COMPILED 1
#define LOCKSTEP_BUILDS_LIBRARY 1
#include <lockstep/lockstep.hpp>
