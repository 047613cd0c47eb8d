// SPDX-License-Identifier: MIT
// lockstep/detail/team/collapse.hpp -- two or three nested ranges as one, pure functions (layer: team)
//
// A schedule knows one range. Nested ranges are counted through in row-major order, the last one fastest:
// iteration number n of `rows` x `columns` is (n / width, n % width) after their starts. A chunk of numbers is
// run with one division per nesting, at its start; from there on it steps with carry, the innermost range in
// a plain loop that the compiler may vectorise.
//
//   C1  iterations_of() is the product of the lengths, or an error if that does not fit in std::size_t.
//   C2  for_each_in(ranges, 0, iterations_of(ranges), f) calls f once per tuple, in row-major order; and
//       calls for consecutive chunks do together what one call for all of them does.
#ifndef LOCKSTEP_DETAIL_TEAM_COLLAPSE_HPP
#define LOCKSTEP_DETAIL_TEAM_COLLAPSE_HPP

#include <cstddef>
#include <cstdio>
#include <stdexcept>

#include "../../schedule.hpp"
#include "../platform/error.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {}  // namespace detail

/// Two nested ranges, the outer one first.
struct index_range_2 {
  index_range rows;
  index_range columns;
};

/// Three nested ranges, the outermost one first.
struct index_range_3 {
  index_range planes;
  index_range rows;
  index_range columns;
};

namespace detail {

/// Whether a type is one of these two.
template <class Ranges>
struct is_nested : std::false_type {};
template <>
struct is_nested<index_range_2> : std::true_type {
  template <class Function>
  static constexpr bool calls() {
    return is_callable<Function&, std::size_t&, std::size_t&>::value;
  }
};
template <>
struct is_nested<index_range_3> : std::true_type {
  template <class Function>
  static constexpr bool calls() {
    return is_callable<Function&, std::size_t&, std::size_t&, std::size_t&>::value;
  }
};
template <class Ranges, class Result = bool>
using if_nested = typename std::enable_if<is_nested<Ranges>::value, Result>::type;

[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_collapse(std::size_t rows,
                                                                std::size_t columns) {
  char message[160];
  std::snprintf(
      message, sizeof message,
      "lockstep: a loop over %zu x %zu iterations is too long, must be %zu in all at most", rows,
      columns, static_cast<std::size_t>(-1));
  detail::fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_NOINLINE inline std::size_t fail_collapse(std::size_t planes,
                                                                std::size_t rows,
                                                                std::size_t columns) {
  char message[160];
  std::snprintf(
      message, sizeof message,
      "lockstep: a loop over %zu x %zu x %zu iterations is too long, must be %zu in all at most",
      planes, rows, columns, static_cast<std::size_t>(-1));
  detail::fail<std::invalid_argument>(message);
}

/// Whether a product of positive numbers fits in std::size_t.
constexpr bool product_fits(std::size_t a, std::size_t b) noexcept {
  return b <= static_cast<std::size_t>(-1) / a;
}
constexpr bool product_fits(std::size_t a, std::size_t b, std::size_t c) noexcept {
  return product_fits(a, b) && product_fits(a * b, c);
}

/// The number of pairs; 0 if a range is empty or backward. Fails (std::invalid_argument) if it is above
/// what std::size_t holds.
constexpr std::size_t iterations_of(const index_range_2& of) {
  return length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.rows), length_of(of.columns))
             ? length_of(of.rows) * length_of(of.columns)
             : fail_collapse(length_of(of.rows), length_of(of.columns));
}

/// The number of triples; otherwise as for two ranges.
constexpr std::size_t iterations_of(const index_range_3& of) {
  return length_of(of.planes) == 0 || length_of(of.rows) == 0 || length_of(of.columns) == 0 ? 0
         : product_fits(length_of(of.planes), length_of(of.rows), length_of(of.columns))
             ? length_of(of.planes) * length_of(of.rows) * length_of(of.columns)
             : fail_collapse(length_of(of.planes), length_of(of.rows), length_of(of.columns));
}

/// Calls f(i, j) for the iterations number [first, last), in order. Requires last <= iterations_of(ranges).
template <class Function>
void for_each_in(const index_range_2& ranges, std::size_t first, std::size_t last, Function&& f) {
  if (first >= last) return;
  const std::size_t begin = ranges.columns.first, end = ranges.columns.last;
  std::size_t i = ranges.rows.first + first / (end - begin);
  std::size_t j = begin + first % (end - begin);
  for (std::size_t left = last - first; left > 0; ++i, j = begin) {
    const std::size_t stop = left < end - j ? j + left : end;
    left -= stop - j;
    for (; j < stop; ++j) f(i, j);
  }
}

/// Calls f(i, j, k) for the iterations number [first, last), in order.
/// Requires last <= iterations_of(ranges).
template <class Function>
void for_each_in(const index_range_3& ranges, std::size_t first, std::size_t last, Function&& f) {
  if (first >= last) return;
  const std::size_t begin = ranges.columns.first, end = ranges.columns.last;
  const std::size_t line = first / (end - begin), lines = length_of(ranges.rows);
  std::size_t i = ranges.planes.first + line / lines;
  std::size_t j = ranges.rows.first + line % lines;
  std::size_t k = begin + first % (end - begin);
  for (std::size_t left = last - first; left > 0; k = begin) {
    const std::size_t stop = left < end - k ? k + left : end;
    left -= stop - k;
    for (; k < stop; ++k) f(i, j, k);
    if (++j == ranges.rows.last) {
      j = ranges.rows.first;
      ++i;
    }
  }
}

/// for_each_in() of a part of the iterations, for leaf_loop.hpp.
template <class Ranges>
struct nested_part {
  Ranges ranges;
  std::size_t first, last;

  template <class Function>
  void operator()(Function& f) const {
    for_each_in(ranges, first, last, f);
  }
};
template <class Function>
void run_nested(const index_range_2& ranges, std::size_t first, std::size_t last, Function& f) {
  leaf::run<std::size_t, std::size_t>(nested_part<index_range_2>{ranges, first, last}, f);
}
template <class Function>
void run_nested(const index_range_3& ranges, std::size_t first, std::size_t last, Function& f) {
  leaf::run<std::size_t, std::size_t, std::size_t>(nested_part<index_range_3>{ranges, first, last},
                                                   f);
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_COLLAPSE_HPP
