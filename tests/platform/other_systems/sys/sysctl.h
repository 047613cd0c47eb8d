// SPDX-License-Identifier: MIT
// tests/platform/other_systems/sys/sysctl.h -- what macOS' header of that name has of what we call
#pragma once

#include <cstddef>

inline int sysctlbyname(const char*, void*, std::size_t*, void*, std::size_t) { return -1; }
