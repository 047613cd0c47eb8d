// SPDX-License-Identifier: MIT
// lockstep/detail/loop/misplaced.hpp -- calls of loops with arguments in a wrong order, refused in one sentence (layer: loop)
//
// The loops are templates that take part in a call only if its bounds can be bounds. If a call fits none of them, the
// compiler lists them all. The overloads below take the calls that cannot be meant for one of them, and say how loops
// are called. The usual mistakes:
//   a loop without its first index       for_each(n, f)
//   a container in place of its bounds   for_each(v, f)
//   a chunk without its schedule         for_each(0, n, f, 16)
//   nowait anywhere but in front         for_each(0, n, f, nowait)
//   nowait where there is no such form   team.for_range(nowait, 0, n, f)
#ifndef LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
#define LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Whether one of the types, decayed, is what Is says.
template <template <class> class Is, class... Types>
struct any_is : std::false_type {};
template <template <class> class Is, class First, class... Others>
struct any_is<Is, First, Others...>
    : std::integral_constant<bool, Is<typename std::decay<First>::type>::value ||
                                       any_is<Is, Others...>::value> {};

template <class Type>
struct is_nowait : std::is_same<Type, nowait_t> {};
template <class... Arguments>
using has_nowait = any_is<is_nowait, Arguments...>;

template <class Type>
struct is_bound : std::integral_constant<bool, std::is_convertible<Type, std::size_t>::value ||
                                                   is_position<Type>::value> {};
template <class Type>
struct is_nested : std::integral_constant<bool, std::is_same<Type, index_range_2>::value ||
                                                    std::is_same<Type, index_range_3>::value> {};
template <class Type>
struct is_bound_or_nowait
    : std::integral_constant<bool, is_bound<Type>::value || is_nowait<Type>::value> {};

/// Whether the arguments are those of a loop: bounds or ranges, and behind them no number and no nowait.
template <class... Arguments>
struct is_loop : std::false_type {};
template <class First, class Second, class... Others>
struct is_loop<First, Second, Others...>
    : std::integral_constant<
          bool, any_is<is_nested, First>::value
                    ? !any_is<is_bound_or_nowait, Second, Others...>::value
                    : any_is<is_bound, First>::value && any_is<is_bound, Second>::value &&
                          sizeof...(Others) != 0 && !any_is<is_bound_or_nowait, Others...>::value> {
};

/// The result of a refused call. It converts to anything, so that the static_assert is the only error.
struct refused {
  template <class Type>
  operator Type() const;
};

/// A call of a loop. TakesNowait: it may have nowait in front.
template <bool TakesNowait, class... Arguments>
struct loop_call {
  static constexpr bool is_misplaced = !is_loop<Arguments...>::value;

  static refused refuse() {
    static_assert(sizeof...(Arguments) > 99,
                  "lockstep: a loop is called with (first, last, f), where the bounds are numbers, "
                  "as in (0, v.size(), f), or iterators; behind f may be a schedule, as "
                  "lockstep::dynamic_schedule(16). nowait is the first argument, of a member's "
                  "for_each, for_range, single and sections only");
    return {};
  }
};
template <class... Others>
struct loop_call<true, const nowait_t&, Others...> : loop_call<false, Others...> {};
template <class... Others>
struct loop_call<true, nowait_t&, Others...> : loop_call<false, Others...> {};
template <class... Others>
struct loop_call<true, nowait_t, Others...> : loop_call<false, Others...> {};

/// A call of a reduction or scan with too few arguments, or with nowait.
template <std::size_t Least, class... Arguments>
struct reduction_call {
  static constexpr bool is_misplaced =
      has_nowait<Arguments...>::value || sizeof...(Arguments) < Least;

  static refused refuse() {
    static_assert(sizeof...(Arguments) > 99,
                  "lockstep: a reduction is called with (0, n, init, f, op), a scan with (0, n, "
                  "init, f, op, store); they take no nowait: they always wait for the result");
    return {};
  }
};

template <class Call>
using if_misplaced = typename std::enable_if<Call::is_misplaced, refused>::type;

/// The overloads for calls that fit no loop of a team or a member.
template <bool TakesNowait>
struct misplaced_calls {
  template <class... Arguments>
  if_misplaced<loop_call<TakesNowait, Arguments...>> for_each(Arguments&&...) {
    return loop_call<TakesNowait, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<loop_call<TakesNowait, Arguments...>> for_range(Arguments&&...) {
    return loop_call<TakesNowait, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<loop_call<false, Arguments...>> for_ordered(Arguments&&...) {
    return loop_call<false, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<reduction_call<5, Arguments...>> reduce_each(Arguments&&...) {
    return reduction_call<5, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<reduction_call<5, Arguments...>> reduce_range(Arguments&&...) {
    return reduction_call<5, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<reduction_call<6, Arguments...>> scan_each(Arguments&&...) {
    return reduction_call<6, Arguments...>::refuse();
  }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
