// SPDX-License-Identifier: MIT
// lockstep/detail/loop/misplaced.hpp -- calls of loops with arguments in a wrong order, refused in one sentence (layer: loop)
//
// The loops are templates that take part in a call only if its bounds can be bounds. If a call fits none of them, the
// compiler lists them all. For the usual mistakes there is an overload that says what is wrong:
//   a loop without its first index       for_each(n, f)
//   a container in place of its bounds   for_each(v, f)
//   a chunk without its schedule         for_each(0, n, f, 16)
//   nowait anywhere but in front         for_each(0, n, f, nowait)
//   nowait where there is no such form   team.for_range(nowait, 0, n, f)
// They take part only in calls that no other overload takes.
#ifndef LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
#define LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP

#include <cstddef>
#include <type_traits>

#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

template <class... Arguments>
struct has_nowait : std::false_type {};
template <class First, class... Others>
struct has_nowait<First, Others...>
    : std::integral_constant<bool,
                             std::is_same<typename std::decay<First>::type, nowait_t>::value ||
                                 has_nowait<Others...>::value> {};

template <class Type>
struct is_bound : std::integral_constant<bool, std::is_convertible<Type, std::size_t>::value ||
                                                   is_position<Type>::value> {};

/// Whether the arguments are those of a loop without its first index: n, f, and perhaps a schedule.
template <class... Arguments>
struct lacks_first : std::false_type {};
template <class Last, class Function, class... Others>
struct lacks_first<Last, Function, Others...>
    : std::integral_constant<bool, is_bound<typename std::decay<Last>::type>::value &&
                                       !is_bound<typename std::decay<Function>::type>::value> {};

/// Whether they are a container and f, and perhaps a schedule.
template <class Type, class = void>
struct has_begin : std::false_type {};
template <class Type>
struct has_begin<Type, decltype(static_cast<void>(std::declval<Type&>().begin()))>
    : std::true_type {};
template <class... Arguments>
struct lacks_bounds : std::false_type {};
template <class Container, class Function, class... Others>
struct lacks_bounds<Container, Function, Others...>
    : has_begin<typename std::decay<Container>::type> {};

/// Whether they are those of a loop, with a number in the place of the schedule.
template <class... Arguments>
struct has_bare_chunk : std::false_type {};
template <class First, class Last, class Third, class Fourth>
struct has_bare_chunk<First, Last, Third, Fourth>
    : std::integral_constant<bool,
                             is_bound<typename std::decay<First>::type>::value &&
                                 is_bound<typename std::decay<Last>::type>::value &&
                                 std::is_integral<typename std::decay<Third>::type>::value !=
                                     std::is_integral<typename std::decay<Fourth>::type>::value> {};

/// The result of a refused call. It converts to anything, so that the static_assert is the only error.
struct refused {
  template <class Type>
  operator Type() const;
};

/// A call of a loop. TakesNowait: it may have nowait in front.
template <bool TakesNowait, class... Arguments>
struct loop_call {
  static constexpr bool is_misplaced =
      has_nowait<Arguments...>::value || lacks_first<Arguments...>::value ||
      lacks_bounds<Arguments...>::value || has_bare_chunk<Arguments...>::value;

  static refused refuse() {
    static_assert(
        !has_nowait<Arguments...>::value,
        "lockstep: nowait is the first argument of a member's for_each, for_range, single and "
        "sections: me.for_each(lockstep::nowait, 0, n, f); the other loops always wait");
    static_assert(has_nowait<Arguments...>::value || !lacks_first<Arguments...>::value,
                  "lockstep: the first index is missing: a loop has two bounds, as in (0, n, f)");
    static_assert(has_nowait<Arguments...>::value || !lacks_bounds<Arguments...>::value,
                  "lockstep: a loop has two bounds, as in (v.begin(), v.end(), f), where f takes "
                  "an iterator, or (0, v.size(), f)");
    static_assert(has_nowait<Arguments...>::value || !has_bare_chunk<Arguments...>::value,
                  "lockstep: the last argument of a loop is a schedule, not a number: "
                  "lockstep::dynamic_schedule(16)");
    return {};
  }
};
template <class... Others>
struct loop_call<true, const nowait_t&, Others...> : loop_call<false, Others...> {};
template <class... Others>
struct loop_call<true, nowait_t&, Others...> : loop_call<false, Others...> {};
template <class... Others>
struct loop_call<true, nowait_t, Others...> : loop_call<false, Others...> {};

template <bool TakesNowait, class... Arguments>
using if_misplaced =
    typename std::enable_if<loop_call<TakesNowait, Arguments...>::is_misplaced, refused>::type;
/// The same for a reduction or scan, which needs at least `Least` arguments.
template <std::size_t Least, class... Arguments>
using if_too_few =
    typename std::enable_if<has_nowait<Arguments...>::value || (sizeof...(Arguments) < Least),
                            refused>::type;

template <class... Arguments>
refused refuse_reduction() {
  static_assert(!has_nowait<Arguments...>::value,
                "lockstep: a reduction or scan takes no nowait: it always waits for its result");
  static_assert(has_nowait<Arguments...>::value,
                "lockstep: an argument is missing: a reduction is called with (0, n, init, f, op), "
                "a scan with (0, n, init, f, op, store)");
  return {};
}

/// The overloads for calls that fit no loop of a team or a member.
template <bool TakesNowait>
struct misplaced_calls {
  template <class... Arguments>
  if_misplaced<TakesNowait, Arguments...> for_each(Arguments&&...) {
    return loop_call<TakesNowait, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<TakesNowait, Arguments...> for_range(Arguments&&...) {
    return loop_call<TakesNowait, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<false, Arguments...> for_ordered(Arguments&&...) {
    return loop_call<false, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<true, Arguments...> for_each_unless_stopped(Arguments&&...) {
    return loop_call<true, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<true, Arguments...> for_range_unless_stopped(Arguments&&...) {
    return loop_call<true, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_misplaced<false, Arguments...> for_ordered_unless_stopped(Arguments&&...) {
    return loop_call<false, Arguments...>::refuse();
  }
  template <class... Arguments>
  if_too_few<5, Arguments...> reduce_each(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }
  template <class... Arguments>
  if_too_few<5, Arguments...> reduce_range(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }
  template <class... Arguments>
  if_too_few<6, Arguments...> scan_each(Arguments&&...) {
    return refuse_reduction<Arguments...>();
  }
};

template <class Function>
bool refuse_single() {
  static_assert(sizeof(Function) == 0,
                "lockstep: nowait is the first argument: me.single(lockstep::nowait, f)");
  return true;
}

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_MISPLACED_HPP
