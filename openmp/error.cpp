// SPDX-License-Identifier: MIT
// Messages of the runtime, and `#pragma omp error`.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi.hpp"
#include "message.hpp"

namespace lockstep::openmp {
namespace {

constexpr char prefix[] = "libgomp (lockstep): ";

void say_all(const char* format, std::va_list arguments) noexcept {
  char text[1024];
  const std::size_t start = sizeof prefix - 1;
  std::memcpy(text, prefix, start);
  const int length = std::vsnprintf(text + start, sizeof text - start - 1, format, arguments);
  std::size_t end = start + (length > 0 ? static_cast<std::size_t>(length) : 0);
  if (end > sizeof text - 2) end = sizeof text - 2;
  text[end] = '\n';
  std::fwrite(text, 1, end + 1, stderr);
}

/// What an error directive says, in the form that GCC's runtime gives it: programs and their tests read it. A length of
/// all ones: the text ends with a zero byte.
void say_directive(const char* severity, const char* message, std::size_t length) noexcept {
  if (message != nullptr && length == static_cast<std::size_t>(-1)) length = std::strlen(message);
  std::fprintf(stderr, "\nlibgomp: %serror directive encountered", severity);
  if (message != nullptr) {
    std::fputs(": ", stderr);
    std::fwrite(message, 1, length, stderr);
  }
  std::fputc('\n', stderr);
}

}  // namespace

void say(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  say_all(format, arguments);
  va_end(arguments);
}

void fail(const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  say_all(format, arguments);
  va_end(arguments);
  std::exit(EXIT_FAILURE);
}

}  // namespace lockstep::openmp

using namespace lockstep::openmp;

OPENMP_API void GOMP_warning(const char* message, std::size_t length) {
  say_directive("", message, length);
}

OPENMP_API void GOMP_error(const char* message, std::size_t length) {
  say_directive("fatal error: ", message, length);
  std::exit(EXIT_FAILURE);
}
