// SPDX-License-Identifier: MIT
// tests/support/effort.hpp -- how often a test repeats what goes wrong rarely: less in ./do test than in ./do nightly
//
// The presets of ./do test set LOCKSTEP_TEST_BRIEF in the environment. A program that is run by hand does everything.
#pragma once

#include <cstdlib>

namespace lockstep::test {

inline bool is_brief() {
  static const bool is_set = std::getenv("LOCKSTEP_TEST_BRIEF") != nullptr;
  return is_set;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

/// `plenty`, or an eighth of it.
template <class Count>
Count effort(Count plenty) {
  return is_brief() ? static_cast<Count>((plenty + 7) / 8) : plenty;
}

}  // namespace lockstep::test
