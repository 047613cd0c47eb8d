// SPDX-License-Identifier: MIT
// lockstep/detail/loop/misplaced.hpp -- calls of loops with arguments in a wrong order, refused in one sentence (layer: loop)
//
// The loops are templates that take part in a call only if its bounds can be bounds. If a call fits none of them, the
// compiler lists them all. The overloads below take the calls that cannot be meant for one of them, and say how loops
// are called. The usual mistakes:
//   a loop without its first index       for_each(n, f)
//   a container in place of its bounds   for_each(v, f)
//   a chunk without its schedule         for_each(0, n, f, 16)
//   nowait not in front                  for_each(0, n, f, nowait)
//   nowait where there is no such form   team.for_range(nowait, 0, n, f)
#ifndef LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
#define LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/detail/loop/leaf_loop.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

constexpr bool any_of() noexcept { return false; }
template <class... Others>
constexpr bool any_of(bool first, Others... others) noexcept {
  return first || any_of(others...);
}

template <class Type>
struct is_nowait : std::is_same<typename std::decay<Type>::type, nowait_t> {};
template <class... Arguments>
struct has_nowait : std::integral_constant<bool, any_of(is_nowait<Arguments>::value...)> {};

template <class Type, class Plain = typename std::decay<Type>::type>
struct is_bound : std::integral_constant<bool, std::is_convertible<Plain, std::size_t>::value ||
                                                   is_position<Plain>::value> {};
/// Whether the arguments are those of a loop: ranges, or bounds and more. After them no number and no nowait.
template <class... Arguments>
struct is_loop : std::false_type {};
template <class First, class Second, class... Others>
struct is_loop<First, Second, Others...>
    : std::integral_constant<
          bool, (is_nested<First>::value ? !is_bound<Second>::value && !is_nowait<Second>::value
                                         : is_bound<First>::value && is_bound<Second>::value &&
                                               sizeof...(Others) != 0) &&
                    !any_of(is_bound<Others>::value...) && !has_nowait<Others...>::value> {};
/// The same where nowait may be in front.
template <class... Arguments>
struct is_loop_of_member : std::false_type {};
template <class First, class... Others>
struct is_loop_of_member<First, Others...>
    : std::integral_constant<bool, is_nowait<First>::value ? is_loop<Others...>::value
                                                           : is_loop<First, Others...>::value> {};

/// The result of a refused call, which is refused because this type cannot be made. It converts to anything, so that the
/// static_assert is the only error.
struct refused_call {
  template <class Type>
  operator Type() const;
};
template <class... Arguments>
struct refused_loop : refused_call {
  static_assert(sizeof...(Arguments) > 99,
                "lockstep: a loop is called with (first, last, f), where the bounds are numbers, "
                "as in (0, v.size(), f), or iterators; a schedule may follow f, as "
                "lockstep::dynamic_schedule(16). nowait is the first argument, of a member's "
                "for_each, for_range, single and sections only");
};
template <class... Arguments>
struct refused_reduction : refused_call {
  static_assert(sizeof...(Arguments) > 99,
                "lockstep: a reduction is called with (0, n, init, f, op), a scan with (0, n, "
                "init, f, op, store); they take no nowait: they always wait for the result");
};
template <bool IsLoop, class... Arguments>
using if_no_loop = typename std::enable_if<!IsLoop, refused_loop<Arguments...>>::type;
/// For a reduction or scan with too few arguments, or with nowait.
template <std::size_t Least, class... Arguments>
using if_no_reduction =
    typename std::enable_if<has_nowait<Arguments...>::value || (sizeof...(Arguments) < Least),
                            refused_reduction<Arguments...>>::type;

/// The overloads for calls that fit no loop of a team or a member. IsLoop says what fits for_each and for_range.
template <template <class...> class IsLoop>
struct misplaced_calls {
  template <class... Arguments>
  if_no_loop<IsLoop<Arguments...>::value, Arguments...> for_each(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  if_no_loop<IsLoop<Arguments...>::value, Arguments...> for_range(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  if_no_loop<is_loop<Arguments...>::value, Arguments...> for_ordered(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  if_no_reduction<5, Arguments...> reduce_each(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  if_no_reduction<5, Arguments...> reduce_range(Arguments&&...) {
    return {};
  }
  template <class... Arguments>
  if_no_reduction<6, Arguments...> scan_each(Arguments&&...) {
    return {};
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
