// SPDX-License-Identifier: MIT
// src/toolbox/toolbox.cpp -- the toolbox, of which a header beside the single one is made (layer: toolbox)
#include <lockstep/toolbox.hpp>

#include "eventual.cpp"
#include "future_set.cpp"
#include "mailbox.cpp"
#include "phase_board.cpp"
#if LOCKSTEP_HAS_STANDARD_THREADS
#include "thread.cpp"
#endif
