// SPDX-License-Identifier: MIT
// src/platform/native_system.hpp -- chooses the system that the program is compiled for (layer: platform)
#ifndef LOCKSTEP_SRC_PLATFORM_NATIVE_SYSTEM_HPP
#define LOCKSTEP_SRC_PLATFORM_NATIVE_SYSTEM_HPP

#include "apple_system.hpp"
#include "freebsd_system.hpp"
#include "linux_system.hpp"
#include "posix_system.hpp"
#include "wasm_system.hpp"
#include "windows_system.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(__linux__)
using native_system = linux_system;
#elif defined(_WIN32)
using native_system = windows_system;
#elif defined(__APPLE__)
using native_system = apple_system;
#elif defined(__FreeBSD__)
using native_system = freebsd_system;
#elif defined(__OpenBSD__) || defined(__NetBSD__)
using native_system = bsd_system;
#elif defined(__EMSCRIPTEN__)
using native_system = wasm_system;
#else
#if !LOCKSTEP_FORCE_PORTABLE_FUTEX
#pragma message( \
    "lockstep does not know this system: threads sleep in condition variables, as with LOCKSTEP_FORCE_PORTABLE_FUTEX=1")
#endif
using native_system = posix_system;
#endif

#if LOCKSTEP_FORCE_PORTABLE_FUTEX && !defined(_WIN32)
using futex_of_system = portable_futex;
#else
using futex_of_system = native_system::futex;
#endif
struct native_futex : futex_of_system {
  static void wake_one(const wait_word* word) { wake(word, false); }
  static void wake_all(const wait_word* word) { wake(word, true); }
};
static_assert(sizeof(wait_word) == 4, "threads sleep on words of 32 bits");

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_NATIVE_SYSTEM_HPP
