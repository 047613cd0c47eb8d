// SPDX-License-Identifier: MIT
// lockstep/detail/team/reduction_types.hpp -- what reductions ask of their types, said by name (layer: team)
//
//   init, of type T   movable, by construction and by assignment. Copyable where every member gets the result;
//                     the forms that are a region by themselves (parallel_reduce) do with moves.
//   f                 returns what converts to T; a T, or a reference to one, is passed on as it is
//   op                takes two T, each by value or by const&, and returns what converts to T
//
// Floating point is not cut off to a whole number: parallel_reduce(0, n, 0, f, op), where 0.0 was meant,
// does not compile. A narrower floating point type for init is a wish (0.0f: sums are rounded to float), and so
// is a narrower whole number.
#ifndef LOCKSTEP_DETAIL_TEAM_REDUCTION_TYPES_HPP
#define LOCKSTEP_DETAIL_TEAM_REDUCTION_TYPES_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../platform/config.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace reductions {

/// What f(i) gives, or f(first, last).
template <class Function>
using value_of = decltype(std::declval<Function&>()(std::size_t()));
template <class Function>
using value_of_block = decltype(std::declval<Function&>()(std::size_t(), std::size_t()));

/// What op makes of two T; void if it does not take them.
template <class T, class Op>
struct result_of_op {
  template <class F>
  static auto test(int) -> decltype(std::declval<F&>()(std::declval<T>(), std::declval<T>()));
  template <class F>
  static void test(...);
  using type = decltype(test<Op>(0));
};

template <class From, class To>
constexpr bool cuts_off() noexcept {
  return std::is_floating_point<typename std::decay<From>::type>::value &&
         std::is_integral<To>::value;
}

/// Says what a reduction asks of its types, before the compiler says it in its way.
template <class T, class Op>
inline void check_operation() noexcept {
  using result = typename result_of_op<T, Op>::type;
  static_assert(!std::is_const<T>::value && !std::is_reference<T>::value,
                "lockstep: the type of a result must not be const, nor a reference; leave the "
                "template argument away");
  static_assert(std::is_move_constructible<T>::value && std::is_move_assignable<T>::value,
                "lockstep: the type of init must be movable, by construction and by assignment");
  static_assert(!std::is_void<result>::value,
                "lockstep: op must take two values of init's type, each by value or by const& (not "
                "by &), and return their combination");
  static_assert(!cuts_off<result, T>(),
                "lockstep: op returns floating point, but init is a whole number, and every sum "
                "would be cut off; write 0.0 for 0");
  static_assert(std::is_void<result>::value || std::is_convertible<result, T>::value,
                "lockstep: what op returns must convert to the type of init");
}
/// Value: what f returns.
template <class T, class Value, class Op>
inline void check_types() noexcept {
  static_assert(!cuts_off<Value, T>(),
                "lockstep: f returns floating point, but init is a whole number, and every value "
                "would be cut off; write 0.0 for 0, or convert in f");
  static_assert(std::is_convertible<Value, T>::value,
                "lockstep: what f returns must convert to the type of init");
  check_operation<T, Op>();
}
/// Where the result goes to every member.
template <class T>
inline void check_copyable() noexcept {
  static_assert(std::is_copy_constructible<T>::value,
                "lockstep: every member gets a copy of the result, so the type must be copyable; "
                "one that can only be moved is for team::parallel_reduce");
}

}  // namespace reductions
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REDUCTION_TYPES_HPP
