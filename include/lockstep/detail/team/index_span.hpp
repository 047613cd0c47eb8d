// SPDX-License-Identifier: MIT
// lockstep/detail/team/index_span.hpp -- the indices of a loop, of any integer type, as offsets from 0 (layer: team)
//
// Schedules and boards count in std::size_t from 0; users count in what they like, as in a `for` loop.
//
//   I1  A loop calls its function with the common type of its bounds: int for (0, 10), std::size_t for
//       (0, v.size()), std::int64_t for two of those. What is no number but converts to one: std::size_t.
//   I2  It is empty where last <= first, compared as numbers: (0u, -3) is empty.
//   I3  No index outside [first, last] is computed: loops may go right up to the limits of their type.
//   I4  A first below 0 with a common type that has no such number fails (std::invalid_argument): (-1, v.size()).
#ifndef LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP
#define LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "../platform/error.hpp"
#include "leaf_loop.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The integers, without bool and characters. std::int8_t and std::uint8_t are integers.
template <class T>
struct is_index
    : std::integral_constant<
          bool, std::is_same<T, signed char>::value || std::is_same<T, unsigned char>::value ||
                    std::is_same<T, short>::value || std::is_same<T, unsigned short>::value ||
                    std::is_same<T, int>::value || std::is_same<T, unsigned>::value ||
                    std::is_same<T, long>::value || std::is_same<T, unsigned long>::value ||
                    std::is_same<T, long long>::value ||
                    std::is_same<T, unsigned long long>::value> {};

/// What a bound counts in.
template <class Bound>
using index_of_bound =
    typename std::conditional<std::is_arithmetic<Bound>::value, Bound, std::size_t>::type;
/// What a loop between two bounds calls its function with.
template <class First, class Last>
using index_between = typename std::common_type<index_of_bound<First>, index_of_bound<Last>>::type;

/// `Result` if both can be bounds of a loop; else the overload that asks is none.
template <class First, class Last, class Result = bool>
using if_bounds = typename std::enable_if<std::is_convertible<First, std::size_t>::value &&
                                              std::is_convertible<Last, std::size_t>::value,
                                          Result>::type;

/// The indices first, first + 1, ... of a loop; `length` of them.
template <class Index>
struct index_span {
  Index first;
  std::size_t length;

  /// Requires offset <= length.
  Index operator[](std::size_t offset) const noexcept {
    using word = typename std::make_unsigned<Index>::type;  // in which sums wrap
    return static_cast<Index>(static_cast<word>(first) + static_cast<word>(offset));
  }
};

template <class T>
constexpr bool is_below_zero(T value, std::true_type /*signed*/) noexcept {
  return value < 0;
}
template <class T>
constexpr bool is_below_zero(T, std::false_type /*unsigned*/) noexcept {
  return false;
}
template <class T>
constexpr bool is_below_zero(T value) noexcept {
  return is_below_zero(value, std::is_signed<T>());
}

[[noreturn]] LOCKSTEP_NOINLINE inline void fail_first_index(long long first) {
  char message[160];
  std::snprintf(message, sizeof message,
                "lockstep: a loop from %lld to an end of an unsigned type; give both bounds a "
                "signed type",
                first);
  detail::fail<std::invalid_argument>(message);
}
[[noreturn]] LOCKSTEP_NOINLINE inline void fail_length() {
  detail::fail<std::invalid_argument>(
      "lockstep: a loop has more iterations than std::size_t has numbers");
}

/// I1, I2 and I4.
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last) {
  using from = index_of_bound<First>;
  using to = index_of_bound<Last>;
  static_assert(is_index<from>::value && is_index<to>::value,
                "lockstep: the bounds of a loop are integers (int, std::size_t, std::int8_t, ...), "
                "not bool, characters or floating point");
  using index = index_between<First, Last>;
  using word = typename std::make_unsigned<index>::type;
  const from a = static_cast<from>(first);
  const to b = static_cast<to>(last);
  if (is_below_zero(a) != is_below_zero(b)) {
    if (is_below_zero(b)) return {index(), 0};
    if (!std::is_signed<index>::value) fail_first_index(static_cast<long long>(a));
  } else if (static_cast<index>(b) <= static_cast<index>(a)) {
    return {index(), 0};
  }
  const word length = static_cast<word>(static_cast<word>(static_cast<index>(b)) -
                                        static_cast<word>(static_cast<index>(a)));
  if (sizeof(word) > sizeof(std::size_t) && length > static_cast<std::size_t>(-1)) fail_length();
  return {static_cast<index>(a), static_cast<std::size_t>(length)};
}

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

/// f(i) for a part of the loop.
template <class Index, class Function>
struct each_of {
  static_assert(
      is_callable<Function&, Index&>::value,
      "lockstep: the function of this loop cannot be called as f(i) with its index, of the "
      "common type of its bounds");
  index_span<Index> span;
  Function& f;

  void operator()(std::size_t begin, std::size_t end) const {
    leaf::loop(span[begin], span[end], f);
  }
};

/// f(i, more) for one index.
template <class Index, class More, class Function>
void call_with(Index i, More& more, Function& f) {
  static_assert(is_callable<Function&, Index&, More&>::value,
                "lockstep: the function of this loop cannot be called as f(i, turn)");
  f(i, more);
}

/// f(first, last) for it.
template <class Index, class Function>
struct block_of {
  static_assert(is_callable<Function&, Index, Index>::value,
                "lockstep: the function of this loop cannot be called as f(first, last) with two "
                "indices, of the common type of its bounds");
  index_span<Index> span;
  Function& f;

  auto operator()(std::size_t begin, std::size_t end) const
      -> decltype(std::declval<Function&>()(std::declval<Index>(), std::declval<Index>())) {
    return f(span[begin], span[end]);
  }
};

/// f(i) by its offset.
template <class Index, class Function>
struct index_at {
  static_assert(
      is_callable<Function&, Index>::value,
      "lockstep: the function of this reduction cannot be called as f(i) with an index, of "
      "the common type of its bounds");
  index_span<Index> span;
  Function& f;

  auto operator()(std::size_t offset) const
      -> decltype(std::declval<Function&>()(std::declval<Index>())) {
    return f(span[offset]);
  }
};

/// store(i, value) by its offset.
template <class Index, class Store>
struct store_at {
  index_span<Index> span;
  Store& store;

  template <class T>
  void operator()(std::size_t offset, T& value) const {
    store(span[offset], value);
  }
};

LOCKSTEP_END_SIGN_CONVERSIONS

template <class Function, class Index>
each_of<Index, Function> each_index(const index_span<Index>& span, Function& f) {
  return {span, f};
}
template <class Function, class Index>
block_of<Index, Function> by_block(const index_span<Index>& span, Function& f) {
  return {span, f};
}
template <class Function, class Index>
index_at<Index, Function> by_offset(const index_span<Index>& span, Function& f) {
  return {span, f};
}
template <class Store, class Index>
store_at<Index, Store> store_by_offset(const index_span<Index>& span, Store& store) {
  return {span, store};
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_INDEX_SPAN_HPP
