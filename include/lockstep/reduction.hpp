// SPDX-License-Identifier: MIT
// lockstep/reduction.hpp -- operations for reductions: a value with its index, several values at once (layer: reduce)
//
// For reduce_each, reduce_range and member::sync_reduce. Any associative function of two values does as well; these are
// the ones that are tedious to write.
//
//   REDUCER-1  Ties go to the lowest index, whatever the order in which values are combined.
//   REDUCER-2  A value without an index is no value: it loses to every other. So is the value of an empty range.
//   REDUCER-3  Values that cannot be ordered (NaN) tie with all others. The result has the same bits for every team
//              size, but which value it is depends on where NaN stand.
//
// Order  none: the reduction orders.
// Errors none. An index that is the largest of its type: undefined (REDUCER-2).
// Cost   a comparison or an addition for each value. Pairs of 16 bytes travel as a double does; larger values go by the
//        heap (member.hpp).
// Example
//   lockstep::team two(2);
//   const std::vector<double> x(1000, 2.0);
//   const auto best = two.reduce_each(
//       0, x.size(), lockstep::no_index<double>(),
//       [&](std::size_t i) { return lockstep::with_index(x[i], i); },
//       lockstep::min_with_index());  // best.value == x[best.index]
//   const auto both = two.reduce_each(
//       0, x.size(), std::make_tuple(0.0, lockstep::no_index<double>()),
//       [&](std::size_t i) { return std::make_tuple(x[i], lockstep::with_index(x[i], i)); },
//       lockstep::together(lockstep::plus(), lockstep::max_with_index()));
#ifndef LOCKSTEP_REDUCTION_HPP
#define LOCKSTEP_REDUCTION_HPP

#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lockstep/detail/platform/config.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

/// A value, and the index where it was found. Of 16 bytes for a double and a std::size_t: it travels as a double does.
template <class Type, class Index = std::size_t>
struct value_and_index {
  static_assert(std::is_integral<Index>::value,
                "lockstep: the index of a value_and_index is an integer; of iterators take the "
                "distance to the first");

  Type value;
  Index index;

  /// False for no_index().
  constexpr bool has_value() const noexcept { return index != (std::numeric_limits<Index>::max)(); }

  friend constexpr bool operator==(const value_and_index& a, const value_and_index& b) {
    return a.index == b.index && a.value == b.value;
  }
  friend constexpr bool operator!=(const value_and_index& a, const value_and_index& b) {
    return !(a == b);
  }
};

/// Requires: index is not the largest of its type.
template <class Type, class Index>
constexpr value_and_index<typename std::decay<Type>::type, Index> with_index(Type&& value,
                                                                             Index index) {
  return {std::forward<Type>(value), index};
}
/// The init of min_with_index and max_with_index: loses to every other.
template <class Type, class Index = std::size_t>
constexpr value_and_index<Type, Index> no_index() {
  return {Type(), (std::numeric_limits<Index>::max)()};
}

namespace detail {

/// REDUCER-1 and REDUCER-2.
template <class Value>
constexpr bool is_second_taken(const Value& a, const Value& b, bool b_is_first, bool a_is_first) {
  return b.has_value() && (!a.has_value() || b_is_first || (!a_is_first && b.index < a.index));
}

}  // namespace detail

/// The operation a + b, of any type.
struct plus {
  template <class Type>
  constexpr Type operator()(const Type& a, const Type& b) const {
    return static_cast<Type>(a + b);
  }
};
/// The lesser one; of equal ones the first.
struct minimum {
  template <class Type>
  constexpr Type operator()(const Type& a, const Type& b) const {
    return b < a ? b : a;
  }
};
/// The greater one; of equal ones the first.
struct maximum {
  template <class Type>
  constexpr Type operator()(const Type& a, const Type& b) const {
    return a < b ? b : a;
  }
};

/// The lesser value, of two value_and_index; of equal values that with the lower index.
struct min_with_index {
  template <class Type, class Index>
  constexpr value_and_index<Type, Index> operator()(const value_and_index<Type, Index>& a,
                                                    const value_and_index<Type, Index>& b) const {
    return detail::is_second_taken(a, b, b.value < a.value, a.value < b.value) ? b : a;
  }
};
/// The greater value; of equal values that with the lower index.
struct max_with_index {
  template <class Type, class Index>
  constexpr value_and_index<Type, Index> operator()(const value_and_index<Type, Index>& a,
                                                    const value_and_index<Type, Index>& b) const {
    return detail::is_second_taken(a, b, a.value < b.value, b.value < a.value) ? b : a;
  }
};

/// Combines tuples, or pairs: the k-th values by the k-th operation. Made by together().
template <class... Ops>
class together_of {
 public:
  constexpr explicit together_of(Ops... ops) : ops_(std::move(ops)...) {}

  template <class Tuple>
  Tuple operator()(Tuple a, const Tuple& b) const {
    static_assert(std::tuple_size<Tuple>::value == sizeof...(Ops),
                  "lockstep: together() takes one operation for each value of the tuple");
    combine(a, b, std::integral_constant<std::size_t, 0>());
    return a;
  }

 private:
  template <class Tuple>
  void combine(Tuple&, const Tuple&, std::integral_constant<std::size_t, sizeof...(Ops)>) const {}
  template <class Tuple, std::size_t Index>
  void combine(Tuple& a, const Tuple& b, std::integral_constant<std::size_t, Index>) const {
    std::get<Index>(a) = std::get<Index>(ops_)(std::get<Index>(a), std::get<Index>(b));
    combine(a, b, std::integral_constant<std::size_t, Index + 1>());
  }

  std::tuple<Ops...> ops_;
};
template <class... Ops>
constexpr together_of<Ops...> together(Ops... ops) {
  return together_of<Ops...>(std::move(ops)...);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_REDUCTION_HPP
