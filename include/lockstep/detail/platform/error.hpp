// SPDX-License-Identifier: MIT
// lockstep/detail/platform/error.hpp -- how the library refuses bad input (layer: platform)
//
// With exceptions: throws std::invalid_argument (a count), std::out_of_range (a rank) or std::logic_error (a use that
// is not allowed). Without them (-fno-exceptions): prints the same message to stderr and aborts. A message about a
// value names the class, the value that was given, and the values that are right.
#ifndef LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP
#define LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP

#include <cstddef>
#include <exception>

#include <lockstep/detail/platform/config.hpp>

#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
#include <cxxabi.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most participants that any object takes. A larger number is a wrong argument.
constexpr std::size_t max_participants = 65536;

/// Prints a line, in one piece, and aborts. Members often make the same mistake together: then the first thread does
/// so, and the others wait for the end, for 2 s at most.
[[noreturn]] void end_program(const char* format, ...) noexcept LOCKSTEP_PRINTS(1);

/// They throw (fail_use std::logic_error, fail_rank std::out_of_range, the others std::invalid_argument), or print and
/// abort. The message is what std::printf would print; `what` of fail_rank is a noun in the singular.
[[noreturn]] void fail_argument(const char* format, ...) LOCKSTEP_PRINTS(1);
[[noreturn]] void fail_use(const char* format, ...) LOCKSTEP_PRINTS(1);
[[noreturn]] void fail_range(const char* object, const char* what, std::size_t value,
                             std::size_t least, std::size_t most);
[[noreturn]] void fail_rank(const char* object, const char* what, std::size_t rank,
                            std::size_t count);
/// The same for other exceptions. Requires: the caller includes the header that defines the exception.
[[noreturn]] void print_and_abort(const char* message) noexcept;
template <class Exception>
[[noreturn]] LOCKSTEP_NOINLINE void fail(const char* message) {
#if LOCKSTEP_HAS_EXCEPTIONS
  throw Exception(message);
#else
  print_and_abort(message);
#endif
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

// Why the stack of the calling thread is being unwound.

/// What a `catch (...)` receives when the thread is cancelled or calls pthread_exit(). It must be thrown again. Only
/// glibc with libstdc++ unwinds the stack then; elsewhere nothing throws this type.
#if LOCKSTEP_HAS_EXCEPTIONS && defined(__GLIBCXX__) && defined(__GLIBC__)
using forced_unwind = abi::__forced_unwind;
#else
class forced_unwind {
  forced_unwind() = delete;
};
#endif

/// How many exceptions the calling thread has thrown and not caught yet. Before C++17 the standard library only tells
/// whether there are any: then 0 or 1.
inline int exceptions_in_flight() noexcept {
#if !LOCKSTEP_HAS_EXCEPTIONS
  return 0;
#elif defined(__cpp_lib_uncaught_exceptions)
  return std::uncaught_exceptions();
#else
  return std::uncaught_exception() ? 1 : 0;
#endif
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_ERROR_HPP
