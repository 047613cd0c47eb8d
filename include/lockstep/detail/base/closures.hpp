// SPDX-License-Identifier: MIT
// lockstep/detail/base/closures.hpp -- what can be called, and what may be copied for that (layer: base)
//
// A user's function is called by reference: on every member the same object, through the overload that the
// user's own expression would choose. Only a closure (what a lambda makes) may be copied, and only if it has one call
// operator, which is const, and is trivially copied. What a lambda captured by value and changes all the same (an
// object with mutable members) is its own in each copy.
#ifndef LOCKSTEP_DETAIL_BASE_CLOSURES_HPP
#define LOCKSTEP_DETAIL_BASE_CLOSURES_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether f(arguments...) compiles; Function and Arguments with their const and reference.
template <class Function, class... Arguments>
struct is_callable {
  template <class Closure>
  static auto test(int)
      -> decltype(static_cast<void>(std::declval<Closure>()(std::declval<Arguments>()...)),
                  std::true_type());
  template <class Closure>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Function>(0))::value;
};

/// Whether a Class can be made from one to eight values of any types: it has constructors, or is an
/// aggregate. A closure can not.
template <class Class>
struct is_made_from_values {
  template <class Type>
  using if_other = typename std::enable_if<
      !std::is_same<typename std::remove_cv<Type>::type, Class>::value>::type;
  struct variable {
    template <class Type, class = if_other<Type>>
    operator Type&() const;
  };
  struct temporary {
    template <class Type, class = if_other<Type>>
    operator Type&&() const;
  };
  template <class Value, std::size_t>
  using one = Value;

  LOCKSTEP_BEGIN_MISSING_INITIALIZERS
  template <class Callee, std::size_t... Numbers>
  static auto test(int)
      -> decltype(static_cast<void>(Callee{one<variable, Numbers>()...}), std::true_type());
  template <class Callee, std::size_t... Numbers>
  static auto test(long)
      -> decltype(static_cast<void>(Callee{one<temporary, Numbers>()...}), std::true_type());
  LOCKSTEP_END_MISSING_INITIALIZERS
  template <class Callee, std::size_t... Numbers>
  static std::false_type test(...);
  static constexpr bool value =
      decltype(test<Class, 0>(0))::value || decltype(test<Class, 0, 1>(0))::value ||
      decltype(test<Class, 0, 1, 2>(0))::value || decltype(test<Class, 0, 1, 2, 3>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6>(0))::value ||
      decltype(test<Class, 0, 1, 2, 3, 4, 5, 6, 7>(0))::value;
};

/// Whether a Class is a closure, as far as it shows: without captures an empty class with one call operator
/// that is no template; else one that nobody can make. (So is one with private constructors only. To ask
/// whether it can be assigned to would tell more, but with GCC 12 that makes is_trivially_copyable false.)
template <class Class, bool IsEmpty = std::is_empty<Class>::value>
struct is_closure {
  static constexpr bool value =
      !std::is_default_constructible<Class>::value && !is_made_from_values<Class>::value;
};
template <class Class>
struct is_closure<Class, true> {
  template <class Callee>
  static auto test(int) -> decltype(static_cast<void>(&Callee::operator()), std::true_type());
  template <class Callee>
  static std::false_type test(...);
  static constexpr bool value = decltype(test<Class>(0))::value;
};

/// Whether nobody can tell a copy of such an object from itself by calling it.
template <class Function, bool IsClass = std::is_class<Function>::value>
struct may_be_copied : std::false_type {};
template <class Function>
struct may_be_copied<const Function, true> : may_be_copied<Function, true> {};
template <class Function>
struct may_be_copied<Function, true> {
  static constexpr bool value = std::is_trivially_copy_constructible<Function>::value &&
                                std::is_trivially_destructible<Function>::value &&
                                is_closure<Function>::value;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_BASE_CLOSURES_HPP
