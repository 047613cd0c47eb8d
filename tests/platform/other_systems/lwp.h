// SPDX-License-Identifier: MIT
// tests/platform/other_systems/lwp.h -- what NetBSD's header of that name has of what we call
#pragma once

#define PTHREAD_MAX_NAMELEN_NP 32
inline int _lwp_self() { return 0; }
