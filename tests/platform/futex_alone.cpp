// SPDX-License-Identifier: MIT
// tests/platform/futex_alone.cpp -- what the portable futex stands on, without the rest of the library
#include "platform/clock.cpp"
#include "platform/cpus.cpp"
#include "platform/error.cpp"
#include "platform/process.cpp"
#include "platform/system.cpp"
#include "platform/this_thread.cpp"
#include "platform/topology.cpp"
#include "platform/topology_linux.cpp"
#include "platform/topology_windows.cpp"
