// SPDX-License-Identifier: MIT
// tests/platform/other_systems/sys/futex.h -- what OpenBSD's header of that name has of what we call; other_systems.hpp
// has what it does
#pragma once

#include <time.h>

#include <cstdint>

// Linux has other numbers of the same names.
#undef FUTEX_WAIT
#undef FUTEX_WAKE
#undef FUTEX_PRIVATE_FLAG
#undef FUTEX_WAIT_PRIVATE
#undef FUTEX_WAKE_PRIVATE
#define FUTEX_WAIT 1
#define FUTEX_WAKE 2
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_WAIT_PRIVATE (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define FUTEX_WAKE_PRIVATE (FUTEX_WAKE | FUTEX_PRIVATE_FLAG)

extern "C" int futex(volatile std::uint32_t* word, int operation, int value, const timespec* time,
                     volatile std::uint32_t* other);
