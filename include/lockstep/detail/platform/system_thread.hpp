// SPDX-License-Identifier: MIT
// lockstep/detail/platform/system_thread.hpp -- a std::thread, or what the seam has in its place (layer: platform)
//
// Part of the system seam (system.hpp); by itself, because <thread> costs more to compile than all else there.
#ifndef LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP

#include <thread>

#include <lockstep/detail/platform/system.hpp>

#if !defined(LOCKSTEP_SYSTEM_SEAM)
namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

using system_thread = std::thread;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
#endif

#endif  // LOCKSTEP_DETAIL_PLATFORM_SYSTEM_THREAD_HPP
