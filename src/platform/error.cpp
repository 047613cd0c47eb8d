// SPDX-License-Identifier: MIT
// src/platform/error.cpp -- the bodies of error.hpp (layer: platform)
#include <lockstep/detail/platform/error.hpp>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "process.hpp"
#if defined(_WIN32)
#include "windows.hpp"
#else
#include <unistd.h>
#endif

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_INLINE void end_program(const char* format, ...) noexcept {
  if (!is_first_to_print(message::last_words)) {
    // Sleeps a limited time: this may be the first thread itself, in its handler of SIGABRT.
#if defined(_WIN32)
    ::Sleep(2000);
#else
    ::sleep(2);
#endif
    std::abort();
  }
  char text[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  std::size_t size = length < 0 ? 0 : static_cast<std::size_t>(length);
  if (size > sizeof text - 2) size = sizeof text - 2;
  text[size] = '\n';
  std::fwrite(text, 1, size + 1, stderr);
  std::fflush(stderr);
  std::abort();
}

[[noreturn]] LOCKSTEP_INLINE void print_and_abort(const char* message) noexcept {
  end_program("%s", message);
}

/// Fails with what the format prints. It may have any length, because it may contain names that users have chosen.
template <class Exception>
[[noreturn]] void fail_with(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::vector<char> message(static_cast<std::size_t>(length < 0 ? 0 : length) + 1);
  std::vsnprintf(message.data(), message.size(), format, arguments);
  va_end(arguments);
  fail<Exception>(message.data());
}

[[noreturn]] LOCKSTEP_INLINE void fail_argument(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  fail_with<std::invalid_argument>(format, arguments);
}
[[noreturn]] LOCKSTEP_INLINE void fail_use(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  fail_with<std::logic_error>(format, arguments);
}

[[noreturn]] LOCKSTEP_INLINE void fail_range(const char* object, const char* what,
                                             std::size_t value, std::size_t least,
                                             std::size_t most) {
  fail_argument("%s: %zu %s given, must be %zu to %zu", object, value, what, least, most);
}

[[noreturn]] LOCKSTEP_INLINE void fail_rank(const char* object, const char* what, std::size_t rank,
                                            std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message,
                "%s: rank %zu of %zu %s%s is out of range, must be 0 to %zu", object, rank, count,
                what, count == 1 ? "" : "s", count - 1);
  fail<std::out_of_range>(message);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
