// SPDX-License-Identifier: MIT
// Ordered regions of loops with the clause ordered: one after the other, in the order of iterations. The turn passes
// where the member asks for its next chunk (CURSOR-2 of loop_cursor.hpp).
#include "part.hpp"

using namespace lockstep::openmp;

OPENMP_API void GOMP_ordered_start() { here().loop.take_turn(); }
OPENMP_API void GOMP_ordered_end() {}
