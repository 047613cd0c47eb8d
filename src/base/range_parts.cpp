// SPDX-License-Identifier: MIT
// src/base/range_parts.cpp -- what is said of ranges that are refused (layer: base)
#include <lockstep/detail/base/range_parts.hpp>

#include <cstdio>

#include <lockstep/detail/base/index_span.hpp>
#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_INLINE void fail_first_index(long long first) {
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep: a loop from %lld to an end of an unsigned type; give both bounds a "
                "signed type",
                first);
  fail_argument(message);
}

[[noreturn]] LOCKSTEP_INLINE std::size_t fail_collapse(std::size_t planes, std::size_t rows,
                                                       std::size_t columns) {
  char outermost[32] = "", message[160];
  if (planes != 0) std::snprintf(outermost, sizeof outermost, "%zu x ", planes);
  std::snprintf(
      message, sizeof message,
      "lockstep: a loop over %s%zu x %zu iterations is too long, must be %zu in all at most",
      outermost, rows, columns, static_cast<std::size_t>(-1));
  fail_argument(message);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
