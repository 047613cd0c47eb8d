// SPDX-License-Identifier: MIT
// examples/support/solution.hpp -- when an iteration ends, and what it has found
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace examples {

struct stopping_rule {
  double tolerance = 1e-10;  // of |b - A x| / |b|, Euclidean norm
  std::size_t most_iterations = 100'000;

  [[nodiscard]] bool is_finished(double residual, std::size_t iterations) const {
    // Not `residual <= tolerance`: a residual that is not a number ends the iteration, too.
    return !(residual > tolerance) || iterations >= most_iterations;
  }
};

struct solution {
  std::vector<double> x;
  std::size_t iterations = 0;
  double residual = 0;  // of x, relative
  bool has_converged = false;
};

// Not std::bit_cast, which some libraries of C++20 lack.
[[nodiscard]] inline bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Whether all members of the two are the same, bit for bit.
[[nodiscard]] inline bool are_identical(const solution& a, const solution& b) {
  return a.iterations == b.iterations && same_bits(a.residual, b.residual) &&
         a.has_converged == b.has_converged &&
         std::equal(a.x.begin(), a.x.end(), b.x.begin(), b.x.end(), same_bits);
}

}  // namespace examples
