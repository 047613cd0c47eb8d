// SPDX-License-Identifier: MIT
// tests/platform/other_systems/sys/umtx.h -- what FreeBSD's header of that name has of what we call; other_systems.hpp
// has what it does
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>

struct _umtx_time {
  timespec _timeout;
  std::uint32_t _flags;
  std::uint32_t _clockid;
};

#define UMTX_OP_WAIT_UINT_PRIVATE 15
#define UMTX_OP_WAKE_PRIVATE 16
#define UMTX_ABSTIME 0x01

extern "C" int _umtx_op(void* object, int operation, unsigned long value, void* first,
                        void* second);
