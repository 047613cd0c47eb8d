// SPDX-License-Identifier: MIT
// src/toolbox/toolbox.cpp -- all of the toolbox: a header beside the single one is made of it (layer: toolbox)
#include <lockstep/toolbox.hpp>

#include "eventual.cpp"
#include "fan.cpp"
#include "future_set.cpp"
#include "mailbox.cpp"
#if LOCKSTEP_HAS_STANDARD_THREADS
#include "thread.cpp"
#endif
