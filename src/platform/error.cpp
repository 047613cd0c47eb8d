// SPDX-License-Identifier: MIT
// src/platform/error.cpp -- the bodies of error.hpp (layer: platform)
#include <lockstep/detail/platform/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_INLINE void print_and_abort(const char* message) noexcept {
  end_program("%s", message);
}

[[noreturn]] LOCKSTEP_INLINE void fail_argument(const char* message) {
  fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_INLINE void fail_use(const char* message) { fail<std::logic_error>(message); }

[[noreturn]] LOCKSTEP_INLINE void fail_range(const char* object, const char* what,
                                             std::size_t value, std::size_t least,
                                             std::size_t most) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: %zu %s given, must be %zu to %zu", object, value,
                what, least, most);
  fail_argument(message);
}

[[noreturn]] LOCKSTEP_INLINE void fail_rank(const char* object, const char* what, std::size_t rank,
                                            std::size_t count) {
  char message[160];
  std::snprintf(message, sizeof message, "%s: rank %zu of %zu %s is out of range, must be 0 to %zu",
                object, rank, count, what, count - 1);
  fail<std::out_of_range>(message);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
