// SPDX-License-Identifier: MIT
#include "message.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lockstep::openmp {
namespace {

bool is_quiet = false;

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

}  // namespace

void quiet(bool yes) noexcept { is_quiet = yes; }

void say(const char* format, ...) noexcept {
  if (is_quiet) return;
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
