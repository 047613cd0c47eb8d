// SPDX-License-Identifier: MIT
// lockstep/detail/team/leaf_loop.hpp -- the innermost loop of a part of a range, compiled by itself (layer: team)
//
// A user's iteration is to run as fast as in a serial loop. In the middle of the code that hands out parts the
// compiler must assume that each store of the iteration may change what the closure holds, and GCC
// keeps neither constants nor addresses in registers: with g++ -O2 daxpy took 1.5 to 2 times as long. So the
// loop is a function of its own, as OpenMP outlines bodies, and has the closure as a copy that nothing
// else can change.
//
//   LL1  f is called with first, first + 1, ... before last, in order; no index beyond last is computed.
//   LL2  A closure is copied where nobody can tell (job.hpp) and it is small. Any other function is called
//        where it is. What a closure holds by reference is read anew after each store that could change
//        it, as the language demands: capture numbers and pointers by value.
//
// Cost   a call, 1 to 2 ns a part.
#ifndef LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP
#define LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../../independent.hpp"
#include "../platform/config.hpp"
#include "job.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace leaf {

/// Whether a leaf has a copy of the Function: 64 bytes are copied faster than a line is fetched.
template <bool MayBeCopied, class Function, class... Indices>
struct has_copy : std::false_type {};
template <class Function, class... Indices>
struct has_copy<true, Function, Indices...>
    : std::integral_constant<bool, sizeof(Function) <= 64 &&
                                       is_callable<const Function&, Indices&...>::value> {};

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS
LOCKSTEP_BEGIN_ATTEMPTS

// Each loop is an object of its own bounds, called with the function.

/// f(i) for every i of [first, last).
template <class Index>
struct each {
  Index first, last;

  template <class Function>
  void operator()(Function& f) const {
    for (Index i = first; i < last; ++i) f(i);
  }
};
/// The same for functions with independent iterations.
template <class Index>
struct each_independent {
  Index first, last;

  template <class Function>
  void operator()(Function& f) const {
    LOCKSTEP_INDEPENDENT_ITERATIONS
    for (Index i = first; i < last; ++i) f(i);
  }
};

template <class Loop, class Closure>
LOCKSTEP_NOINLINE void run_with_copy(const Loop loop, const Closure f) {
  loop(f);
}
template <class Loop, class Function>
LOCKSTEP_NOINLINE void run_with_reference(const Loop loop, Function& f) {
  loop(f);
}
template <class Loop, class Function>
void choose(const Loop& loop, Function& f, std::true_type /*copy*/) {
  run_with_copy<Loop, typename std::remove_const<Function>::type>(loop, f);
}
template <class Loop, class Function>
void choose(const Loop& loop, Function& f, std::false_type /*reference*/) {
  run_with_reference<Loop, Function>(loop, f);
}

/// Calls loop(f). Indices: what loop calls f with. Requires a small Loop without references to what f could change.
template <class... Indices, class Loop, class Function>
void run(const Loop& loop, Function& f) {
  choose(loop, f,
         std::integral_constant<
             bool, has_copy<may_be_copied<Function>::value, Function, Indices...>::value>());
}

/// Calls f(i) for every i of [first, last).
template <class Function, class Index>
void loop(Index first, Index last, Function& f) {
  using kind = typename std::conditional<has_independent_iterations<Function>::value,
                                         each_independent<Index>, each<Index>>::type;
  run<Index>(kind{first, last}, f);
}

LOCKSTEP_END_ATTEMPTS
LOCKSTEP_END_SIGN_CONVERSIONS

}  // namespace leaf
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LEAF_LOOP_HPP
