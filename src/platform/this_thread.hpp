// SPDX-License-Identifier: MIT
// src/platform/this_thread.hpp -- the name and the number of the calling thread (layer: platform)
//
// A name is a wish: where the system has no such call, or refuses, the call returns false and changes nothing.
#ifndef LOCKSTEP_SRC_PLATFORM_THIS_THREAD_HPP
#define LOCKSTEP_SRC_PLATFORM_THIS_THREAD_HPP

#include <cstdint>

#include <lockstep/detail/platform/system.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Gives the calling thread a name that debuggers and `top -H` show. The name is cut to what the system takes.
bool name_this_thread(const char* name) noexcept;

/// The number by which debuggers and `top -H` know the calling thread, for messages.
std::uint64_t shown_thread_number() noexcept;

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_PLATFORM_THIS_THREAD_HPP
