// SPDX-License-Identifier: MIT
// lockstep/detail/platform/error.ipp -- the bodies of error.hpp (layer: platform)
#ifndef LOCKSTEP_DETAIL_PLATFORM_ERROR_IPP
#define LOCKSTEP_DETAIL_PLATFORM_ERROR_IPP

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "error.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_COLD void print_and_abort(const char* message) noexcept {
  std::fprintf(stderr, "%s\n", message);
  std::abort();
}

[[noreturn]] LOCKSTEP_COLD void fail_argument(const char* message) {
  fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_COLD void fail_use(const char* message) { fail<std::logic_error>(message); }

[[noreturn]] LOCKSTEP_COLD void fail_range(const char* object, const char* what, std::size_t value,
                                           std::size_t least, std::size_t most) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: %zu %s given, must be %zu to %zu", object, value,
                what, least, most);
  fail_argument(message);
}

[[noreturn]] LOCKSTEP_COLD void fail_rank(const char* object, const char* what, std::size_t rank,
                                          std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: rank %zu of %zu %s is out of range, must be 0 to %zu",
                object, rank, count, what, count - 1);
  fail<std::out_of_range>(message);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_PLATFORM_ERROR_IPP
