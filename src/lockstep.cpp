// SPDX-License-Identifier: MIT
// src/lockstep.cpp -- the library as one unit: all its sources, layer by layer
//
// CMake, the other builds and the programs that replace a seam compile this file; so does lockstep_checked.cpp, for units
// that diagnose misuse. The single header is made from it. Each source compiles by itself, too.
#if !defined(LOCKSTEP_DIAGNOSE_MISUSE)
#define LOCKSTEP_DIAGNOSE_MISUSE 0
#endif
#if !defined(LOCKSTEP_HEADER_ONLY)
#define LOCKSTEP_BUILDS_LIBRARY 1
#endif
// A shared library exports what include/ declares, and a part of src/. Not by an attribute of the namespace, which Clang looks
// for at the definition.
#if defined(LOCKSTEP_SHARED) && (defined(__ELF__) || defined(__APPLE__))
#pragma GCC visibility push(default)
#endif
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

// What lockstep_mpi.cpp calls, which programs compile.
#include "graph/flow.hpp"
#include "graph/flow_plan.hpp"
#include "graph/graph_model.hpp"
#include "platform/cpus.hpp"
#include "reduce/member_nodes.hpp"
#include "region/group.hpp"

// What follows is not for users: a shared library hides it.
#if defined(LOCKSTEP_SHARED) && (defined(__ELF__) || defined(__APPLE__))
#pragma GCC visibility pop
#endif

// platform
#include "platform/build_info.cpp"
#include "platform/cache_line.cpp"
#include "platform/clock.cpp"
#include "platform/cpus.cpp"
#include "platform/error.cpp"
#include "platform/process.cpp"
#include "platform/system.cpp"
#include "platform/this_thread.cpp"
#include "platform/topology.cpp"
#include "platform/topology_linux.cpp"
#include "platform/topology_windows.cpp"
#include "platform/type_name.cpp"

// base
#include "base/range_parts.cpp"
#include "base/rank_groups.cpp"
#include "base/rank_tree.cpp"
#include "base/wait_policy.cpp"

// wait
#include "wait/misuse.cpp"
#include "wait/wait_engine.cpp"

// sync
#include "sync/barrier.cpp"
#if LOCKSTEP_HAS_STANDARD_THREADS
#include "sync/condition_variable.cpp"
#endif
#include "sync/event.cpp"
#include "sync/latch.cpp"
#include "sync/mutex.cpp"
#include "sync/ranked_barrier.cpp"
#include "sync/semaphore.cpp"
#include "sync/shared_mutex.cpp"

// region
#include "region/group.cpp"

// loop
#include "loop/loops.cpp"

// reduce
#include "reduce/member_reductions.cpp"

// team
#include "team/critical_name.cpp"
#include "team/environment.cpp"
#include "team/placement.cpp"
#include "team/sub_team.cpp"
#include "team/team.cpp"
#include "team/team_host.cpp"
#include "team/team_reductions.cpp"

// graph
#include "graph/flow.cpp"
#include "graph/flow_planner.cpp"
#include "graph/graph.cpp"
#include "graph/plan.cpp"
#include "graph/plan_text.cpp"

// trace
#include "trace/debug_aids.cpp"
#include "trace/hooks.cpp"
#include "trace/ledger.cpp"
#include "trace/region_hooks.cpp"
#include "trace/trace_file.cpp"
#include "trace/watchdog.cpp"

#include "toolbox/toolbox.cpp"
