// SPDX-License-Identifier: MIT
// tests/support/sanitizer.hpp -- is this program built with a sanitizer that replaces operator new?
#pragma once

namespace lockstep::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool has_own_allocator = true;
#else
inline constexpr bool has_own_allocator = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_own_allocator = true;
#else
inline constexpr bool has_own_allocator = false;
#endif

}  // namespace lockstep::test
