// SPDX-License-Identifier: MIT
// examples/mpi/support/norms.hpp -- what serial and distributed solvers compute alike
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <lockstep/team.hpp>
#include <utility>

#include "support/error.hpp"
#include "support/solution.hpp"

namespace examples {

/// The sum of value(i) over [0, n), along the tree of reduce_range, by the calling thread.
template <class Value>
[[nodiscard]] double serial_sum(std::size_t n, const Value& value) {
  static thread_local lockstep::team alone(1);
  return alone.reduce_each(std::size_t{0}, n, 0.0, value, std::plus<>());
}
template <class Value>
[[nodiscard]] double serial_norm(std::size_t n, const Value& value) {
  return std::sqrt(serial_sum(n, [&](std::size_t i) { return value(i) * value(i); }));
}

/// A norm relative to that of the right side; itself where that is 0.
[[nodiscard]] inline double relative(double norm, double norm_of_right_side) {
  return norm_of_right_side > 0 ? norm / norm_of_right_side : norm;
}

/// An answer whose residual is a number. Throws input_error if it is not.
[[nodiscard]] inline solution checked_solution(solution answer, const stopping_rule& rule) {
  if (!std::isfinite(answer.residual)) {
    throw input_error("the residual is not finite: the numbers of the system are too large");
  }
  answer.has_converged = answer.residual <= rule.tolerance;
  return answer;
}

}  // namespace examples
