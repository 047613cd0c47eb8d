// SPDX-License-Identifier: MIT
// tests/platform/other_systems/pthread_np.h -- what FreeBSD's header of that name has of what we call
#pragma once

#include <pthread.h>

#include <cstddef>

inline void pthread_set_name_np(pthread_t, const char*) {}
inline void pthread_get_name_np(pthread_t, char*, std::size_t) {}
inline int pthread_getthreadid_np() { return 0; }
