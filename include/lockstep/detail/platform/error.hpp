// SPDX-License-Identifier: MIT
// lockstep/detail/platform/error.hpp -- how the library refuses bad input (layer: platform)
//
// With exceptions: throws std::invalid_argument (a count) or std::out_of_range (a rank). Without
// (-fno-exceptions): prints the same message to stderr and aborts. Every message names the class, the
// value that was given, and the values that would have been right.
#ifndef LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP
#define LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most participants any object takes; more is taken for a wrong argument, not for a wish.
constexpr std::size_t max_participants = 65536;

template <class Exception>
[[noreturn]] inline void fail(const char* message) {
#if LOCKSTEP_HAS_EXCEPTIONS
  throw Exception(message);
#else
  std::fprintf(stderr, "%s\n", message);
  std::abort();
#endif
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_range(const char* object, const char* what,
                                                      std::size_t value, std::size_t least,
                                                      std::size_t most) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: %zu %s given, must be %zu to %zu", object, value,
                what, least, most);
  fail<std::invalid_argument>(message);
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_rank(const char* object, const char* what,
                                                     std::size_t rank, std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: rank %zu of %zu %s is out of range, must be 0 to %zu",
                object, rank, count, what, count - 1);
  fail<std::out_of_range>(message);
}

/// Returns `value` if it is from `least` to `most`, else fails naming `object`.
inline std::size_t checked_range(const char* object, const char* what, std::size_t value,
                                 std::size_t least, std::size_t most) {
  if (value < least || value > most) fail_range(object, what, value, least, most);
  return value;
}

/// Returns `count` if it is a possible number of participants, else fails naming `object`.
inline std::size_t checked_count(const char* object, const char* what, std::size_t count) {
  return checked_range(object, what, count, 1, max_participants);
}

/// Returns `rank` if it is below `count`, else fails naming `object`.
inline std::size_t checked_rank(const char* object, const char* what, std::size_t rank,
                                std::size_t count) {
  if (rank >= count) fail_rank(object, what, rank, count);
  return rank;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP
