// SPDX-License-Identifier: MIT
// src/thread_synchronizer.cpp -- what the header to copy, thread_synchronizer.h, is made of
//
// The classes of include/thread_synchronizer.h, and the sources that they need, over a platform of a few lines. With a
// namespace of its own the header stands beside the library, in one program and in one unit.
#include "platform/alone.hpp"
// After what it stands on.
#include <thread_synchronizer.h>

#include "base/rank_groups.cpp"
#include "base/rank_tree.cpp"
#include "base/wait_policy.cpp"
#include "platform/cache_line.cpp"
#include "platform/error.cpp"
#include "sync/event.cpp"
#include "sync/ranked_barrier.cpp"
#include "toolbox/fan.cpp"
#include "wait/wait_engine.cpp"
