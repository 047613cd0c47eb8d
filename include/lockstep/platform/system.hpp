// SPDX-License-Identifier: MIT
// lockstep/platform/system.hpp -- the seam for what the system does for us (layer: platform)
//
// Sleeping, waking, yielding, the clock, the process-wide fence and the starting of threads: the rest
// of the library asks the system for these only through the names below. A test program may define
// LOCKSTEP_SYSTEM_SEAM to a header of its own, in quotes, which declares the same names in the same
// namespace; with the atomic seam it puts the shipped code under a controlled scheduler. The macro must
// be the same in the whole program.
#pragma once

#include <cstdint>
#include <thread>

#include "atomic.hpp"
#include "clock.hpp"
#include "futex.hpp"
#include "process_fence.hpp"

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include LOCKSTEP_SYSTEM_SEAM
#else

namespace lockstep {
namespace platform {

/// The futex contract F1 to F5 of futex.hpp.
inline void futex_wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
  native_futex::wait(word, expected, deadline);
}
inline void futex_wake_one(const wait_word* word) { native_futex::wake_one(word); }
inline void futex_wake_all(const wait_word* word) { native_futex::wake_all(word); }

/// Lets another runnable thread have this CPU, if there is one.
inline void yield_thread() noexcept { std::this_thread::yield(); }

/// The clock of all deadlines and budgets.
inline std::uint64_t monotonic_nanoseconds() noexcept { return steady_nanoseconds(); }

/// The two sides of the process-wide fence (process_fence.hpp).
inline void fence_light() noexcept { process_fence::light(); }
inline bool fence_heavy() noexcept { return process_fence::heavy(); }

/// What a team starts its workers with.
using thread = std::thread;

}  // namespace platform
}  // namespace lockstep

#endif
