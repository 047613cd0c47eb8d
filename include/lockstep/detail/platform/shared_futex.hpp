// SPDX-License-Identifier: MIT
// lockstep/detail/platform/shared_futex.hpp -- sleeping until another process changes a word (layer: platform)
//
// The contract is that of futex.hpp, for a word in memory that several processes have mapped, each at an address of its
// own. On Linux it is futex(2) without its private flag. On other systems a wait is a nap of 50 us, and a wake does
// nothing: FUTEX-1 allows a return for no reason.
//
// Cost   as futex_linux.hpp; the kernel looks up the page as well, 0.1 us.
#ifndef LOCKSTEP_DETAIL_PLATFORM_SHARED_FUTEX_HPP
#define LOCKSTEP_DETAIL_PLATFORM_SHARED_FUTEX_HPP

#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/config.hpp>

#if defined(LOCKSTEP_SYSTEM_SEAM)
#include <lockstep/detail/platform/system.hpp>
#elif defined(__linux__)
#include <lockstep/detail/platform/futex_linux.hpp>
#else
#include <chrono>
#include <thread>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if defined(LOCKSTEP_SYSTEM_SEAM)
/// A test's system is one process.
struct shared_futex {
  static void wait(const wait_word& word, std::uint32_t expected, std::uint64_t deadline) {
    futex_wait(word, expected, deadline);
  }
  static void wake_all(const wait_word* word) { futex_wake_all(word); }
};
#elif defined(__linux__)
using shared_futex = basic_linux_futex<0>;
#else
struct shared_futex {
  static void wait(const wait_word&, std::uint32_t, std::uint64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  static void wake_all(const wait_word*) noexcept {}
};
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_SHARED_FUTEX_HPP
