// SPDX-License-Identifier: MIT
// `#pragma omp error`.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/abi.hpp"
#include "runtime/ompt.hpp"

using namespace lockstep::openmp;

namespace {

/// Prints the text of an error directive in the form of GCC's runtime, which programs and their tests read. A length of
/// all ones: the text ends with a zero byte.
void say_directive(ompt::severity severity, const char* message, std::size_t length) noexcept {
  if (message != nullptr && length == static_cast<std::size_t>(-1)) length = std::strlen(message);
  if (has_tool()) ompt::tell_error(severity, message, length);
  std::fprintf(stderr, "\nlibgomp: %serror directive encountered",
               severity == ompt::severity::fatal ? "fatal error: " : "");
  if (message != nullptr) {
    std::fputs(": ", stderr);
    std::fwrite(message, 1, length, stderr);
  }
  std::fputc('\n', stderr);
}

}  // namespace

OPENMP_API void GOMP_warning(const char* message, std::size_t length) {
  note_call();
  say_directive(ompt::severity::warning, message, length);
}

OPENMP_API void GOMP_error(const char* message, std::size_t length) {
  note_call();
  say_directive(ompt::severity::fatal, message, length);
  std::exit(EXIT_FAILURE);
}
