// SPDX-License-Identifier: MIT
// src/base/range_parts.cpp -- the messages for ranges that are refused (layer: base)
#include <lockstep/detail/base/range_parts.hpp>

#include <cstdio>

#include <lockstep/detail/base/index_span.hpp>
#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

[[noreturn]] LOCKSTEP_INLINE void fail_first_index(long long first) {
  fail_argument(
      "lockstep: a loop from %lld to an end of an unsigned type; give both bounds a signed type",
      first);
}

[[noreturn]] LOCKSTEP_INLINE void fail_wrapped(unsigned long long first, unsigned long long last) {
  fail_argument(
      "lockstep: a loop from %llu to %llu: an unsigned bound has passed zero; write i + 1 < n for "
      "i < n - 1, or give the bounds a signed type",
      first, last);
}

[[noreturn]] LOCKSTEP_INLINE std::size_t fail_collapse(std::size_t planes, std::size_t rows,
                                                       std::size_t columns) {
  char outermost[32] = "";
  if (planes != 0) std::snprintf(outermost, sizeof outermost, "%zu x ", planes);
  fail_argument(
      "lockstep: a loop over %s%zu x %zu iterations is too long, must be %zu in all at most",
      outermost, rows, columns, static_cast<std::size_t>(-1));
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
