// SPDX-License-Identifier: MIT
// src/platform/futex_linux.cpp -- sleeping in Linux's futex, alone and with other processes (layer: platform)
#include <lockstep/detail/platform/system.hpp>

#include "futex_linux.hpp"

#if defined(__linux__)

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

#if !LOCKSTEP_FORCE_PORTABLE_FUTEX
LOCKSTEP_INLINE const char* native_futex::name() noexcept { return "linux futex"; }
LOCKSTEP_INLINE void native_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  linux_futex::wait(FUTEX_PRIVATE_FLAG, word, expected, deadline);
}
LOCKSTEP_INLINE void native_futex::wake(const wait_word* word, bool all) {
  linux_futex::wake(FUTEX_PRIVATE_FLAG, word, all ? INT_MAX : 1);
}
#endif

#if !defined(LOCKSTEP_SYSTEM_SEAM)
LOCKSTEP_INLINE void shared_futex::wait(const wait_word& word, std::uint32_t expected,
                                        std::uint64_t deadline) {
  linux_futex::wait(0, word, expected, deadline);
}
LOCKSTEP_INLINE void shared_futex::wake_all(const wait_word* word) {
  linux_futex::wake(0, word, INT_MAX);
}
#endif

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif
