// SPDX-License-Identifier: MIT
// tests/platform/other_systems/sys/cpuset.h -- what FreeBSD's header of that name has of what we call
#pragma once

#include <sched.h>

#include <cstddef>

using cpuset_t = cpu_set_t;
enum { CPU_LEVEL_WHICH = 3, CPU_WHICH_TID = 1 };
inline int cpuset_getaffinity(int, int, long, std::size_t, cpuset_t*) { return -1; }
inline int cpuset_setaffinity(int, int, long, std::size_t, const cpuset_t*) { return -1; }
