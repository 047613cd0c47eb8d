// SPDX-License-Identifier: MIT
// lockstep/independent.hpp -- a loop's function whose iterations need not be proved independent (layer: team)
//
//   team.parallel_for(0, n, lockstep::independent([=](std::size_t i) { y[i] = a * x[i + k]; }));
//
// Says that no iteration reads or writes what another one writes, so that the compiler may run several at once
// (SIMD) where it cannot prove it: GCC's ivdep, OpenMP's simd. Parallel loops demand nearly that anyway;
// what it adds is that neighbours on one thread do not depend on their order. For the loops that call f(i): parallel_for,
// for_each, with every schedule. Elsewhere it calls the function and no more.
//
//   IN1  Calls the function as the caller would, through a const operator.
//   IN2  Is copied where the function would be (job.hpp).
#ifndef LOCKSTEP_INDEPENDENT_HPP
#define LOCKSTEP_INDEPENDENT_HPP

#include <type_traits>
#include <utility>

#include "detail/team/job.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

// Whether an int may become the unsigned argument of a function is its author's business.
LOCKSTEP_BEGIN_SIGN_CONVERSIONS

template <class Function>
class independent_iterations {
 public:
  explicit independent_iterations(Function of) : f_(std::move(of)) {}

  template <class... Arguments>
  auto operator()(Arguments&&... with) const
      -> decltype(std::declval<const Function&>()(std::forward<Arguments>(with)...)) {
    return f_(std::forward<Arguments>(with)...);
  }

 private:
  Function f_;
};

LOCKSTEP_END_SIGN_CONVERSIONS

/// f with that promise. Its call operator is const.
template <class Function>
independent_iterations<typename std::decay<Function>::type> independent(Function&& f) {
  return independent_iterations<typename std::decay<Function>::type>(std::forward<Function>(f));
}

template <class Function>
struct has_independent_iterations : std::false_type {};
template <class Function>
struct has_independent_iterations<const Function> : has_independent_iterations<Function> {};
template <class Function>
struct has_independent_iterations<independent_iterations<Function>> : std::true_type {};

template <class Function>
struct detail::may_be_copied<independent_iterations<Function>, true>
    : detail::may_be_copied<Function> {};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_INDEPENDENT_HPP
