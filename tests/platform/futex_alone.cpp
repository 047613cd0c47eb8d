// SPDX-License-Identifier: MIT
// tests/platform/futex_alone.cpp -- what the portable futex stands on, without the rest of the library
#include "platform/clock.cpp"
#include "platform/error.cpp"
#include "platform/fork_tables.cpp"
#include "platform/futex_portable.cpp"
#include "platform/process.cpp"
