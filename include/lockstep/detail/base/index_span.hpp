// SPDX-License-Identifier: MIT
// lockstep/detail/base/index_span.hpp -- the indices of a loop, of any integer or iterator type (layer: base)
//
// Schedules and boards count in std::size_t from 0. Users count in any type, as in a `for` loop.
//
//   SPAN-1  A loop calls its function with the common type of its bounds: int for (0, 10), std::size_t for
//           (0, v.size()), std::int64_t for two of those, the iterator for (v.begin(), v.end()), a pointer for two
//           pointers. A bound that is no number but converts to one counts as the type of +bound: an enumeration as its
//           promoted type, an object of a class as the number that it converts to, or std::size_t if + is ambiguous.
//   SPAN-2  A loop is empty if last <= first, compared as numbers: (0u, -3) is empty.
//   SPAN-3  No index outside [first, last] is computed: loops may go right up to the limits of their type.
//   SPAN-4  If the common type is unsigned, a first below 0 fails (std::invalid_argument): (-1, v.size()).
//   SPAN-5  Copying an iterator may throw. The exception goes to the caller of the loop, or is treated as one of the
//           function.
//   SPAN-6  Where misuse is diagnosed, 2^63 or more numbers of an unsigned type fail (std::invalid_argument).
#ifndef LOCKSTEP_DETAIL_BASE_INDEX_SPAN_HPP
#define LOCKSTEP_DETAIL_BASE_INDEX_SPAN_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/error.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The integers, without bool and characters. std::int8_t and std::uint8_t are integers.
template <class Type>
struct is_index
    : std::integral_constant<
          bool, std::is_same<Type, signed char>::value ||
                    std::is_same<Type, unsigned char>::value || std::is_same<Type, short>::value ||
                    std::is_same<Type, unsigned short>::value || std::is_same<Type, int>::value ||
                    std::is_same<Type, unsigned>::value || std::is_same<Type, long>::value ||
                    std::is_same<Type, unsigned long>::value ||
                    std::is_same<Type, long long>::value ||
                    std::is_same<Type, unsigned long long>::value> {};

/// Pointers to objects, and iterators with random access.
template <class Type>
struct is_position {
  // Tests what can be done with it, and not its category: <iterator> would take a tenth of the time to compile a unit
  // that includes this header. The distance may be a class that stands for an integer, as with
  // std::views::iota(std::size_t, ...), or an integer that std::is_integral does not know.
  template <class Other,
            class Distance = decltype(std::declval<const Other&>() - std::declval<const Other&>()),
            class = decltype(*std::declval<const Other&>()),
            class = decltype(std::declval<Other&>() += std::declval<Distance>()),
            class = decltype(static_cast<Distance>(std::size_t())),
            class = decltype(static_cast<std::size_t>(std::declval<Distance>()))>
  static std::integral_constant<bool, !std::is_floating_point<Distance>::value> test(int);
  template <class Other>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Type>(0))::value;
};
template <class Type>
struct is_position<Type*> : std::is_object<Type> {};

/// The index type of a bound that is an enumeration, or an object that converts to a number.
template <class Bound>
struct number_of {
  template <class Other,
            class Number = typename std::decay<decltype(+std::declval<Other&>())>::type>
  static typename std::conditional<std::is_class<Number>::value || std::is_pointer<Number>::value,
                                   std::size_t, Number>::type
  test(int);
  template <class Other>
  static std::size_t test(...);
  using type = decltype(test<Bound>(0));
};
template <class Type>
struct itself {
  using type = Type;
};
/// The index type of a bound.
template <class Bound>
using index_of_bound =
    typename std::conditional<std::is_arithmetic<Bound>::value || is_position<Bound>::value,
                              itself<Bound>, number_of<Bound>>::type::type;
/// The type of the indices with which a loop between two bounds calls its function.
template <class First, class Last>
using index_between = typename std::common_type<index_of_bound<First>, index_of_bound<Last>>::type;

template <class First, class Last>
struct are_numbers
    : std::integral_constant<bool, std::is_convertible<First, std::size_t>::value &&
                                       std::is_convertible<Last, std::size_t>::value> {};
template <class First, class Last>
struct are_positions
    : std::integral_constant<bool, is_position<First>::value && is_position<Last>::value> {};

/// `Result` if both can be bounds of a loop; else the overload that uses it is left out.
template <class First, class Last, class Result = bool>
using if_bounds =
    typename std::enable_if<are_numbers<First, Last>::value || are_positions<First, Last>::value,
                            Result>::type;

/// The indices first, first + 1, ... of a loop; `length` of them.
template <class Index>
struct index_span {
  Index first;
  std::size_t length;
};

/// A number that differs, nearly always, for two ranges: from their length, and their first index if that is a number.
template <class Index>
std::size_t extent_of(const index_span<Index>& span, std::true_type /*number*/) noexcept {
  return span.length + static_cast<std::size_t>(span.first) * 0x10001;
}
template <class Index>
std::size_t extent_of(const index_span<Index>& span, std::false_type /*position*/) noexcept {
  return span.length;
}
template <class Index>
std::size_t extent_of(const index_span<Index>& span) noexcept {
  return extent_of(span, std::is_integral<Index>());
}

/// first + offset. Requires: that is an index of the span, or its end.
template <class Index>
Index index_at(const Index& first, std::size_t offset, std::true_type /*number*/) noexcept {
  using word = typename std::make_unsigned<Index>::type;  // in which sums wrap
  return static_cast<Index>(static_cast<word>(first) + static_cast<word>(offset));
}
template <class Index>
Index index_at(const Index& first, std::size_t offset, std::false_type /*position*/) {
  return first + static_cast<decltype(first - first)>(offset);
}
template <class Index>
Index index_at(const Index& first, std::size_t offset) {
  return index_at(first, offset, std::is_integral<Index>());
}

template <class Type>
constexpr bool is_below_zero(Type value, std::true_type /*signed*/) noexcept {
  return value < 0;
}
template <class Type>
constexpr bool is_below_zero(Type, std::false_type /*unsigned*/) noexcept {
  return false;
}
template <class Type>
constexpr bool is_below_zero(Type value) noexcept {
  return is_below_zero(value, std::is_signed<Type>());
}

[[noreturn]] void fail_first_index(long long first);
[[noreturn]] void fail_wrapped(unsigned long long first, unsigned long long last);
[[noreturn]] LOCKSTEP_NOINLINE inline void fail_length() {
  fail_argument("lockstep: a loop has more iterations than std::size_t has numbers");
}

/// SPAN-1, SPAN-2 and SPAN-4.
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last, std::false_type) {
  using from = index_of_bound<First>;
  using to = index_of_bound<Last>;
  static_assert(is_index<from>::value && is_index<to>::value,
                "lockstep: the bounds of a loop are integers (int, std::size_t, std::int8_t, ...), "
                "pointers or iterators with random access, not bool, characters, floating point "
                "or __int128");
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
  // A loop of this length would never end: an unsigned bound has passed zero, as v.size() - 1 does if v is empty.
  if (diagnoses_misuse && !std::is_signed<index>::value && sizeof(word) >= 8 &&
      length > static_cast<word>(-1) / 2) {
    fail_wrapped(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
  }
  if (sizeof(word) > sizeof(std::size_t) && length > static_cast<std::size_t>(-1)) fail_length();
  return {static_cast<index>(a), static_cast<std::size_t>(length)};
}
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last, std::true_type) {
  using index = index_between<First, Last>;
  const index a = first;
  const index b = last;
  const auto length = b - a;
  return {a, length <= 0 ? std::size_t{0} : static_cast<std::size_t>(length)};
}
template <class First, class Last>
index_span<index_between<First, Last>> span_of(First first, Last last) {
  return span_of(first, last, std::integral_constant<bool, are_positions<First, Last>::value>());
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_INDEX_SPAN_HPP
