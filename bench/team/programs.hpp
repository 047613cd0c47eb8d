// SPDX-License-Identifier: MIT
// bench/team/programs.hpp -- whole programs as steps: bodies, grids, conjugate gradients, graphs
//
// A program has arrays that all share, scalars that each executor keeps a copy of, and
// step(executor, scalars), which returns the scalars of the next step. See executors.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "team/kernels.hpp"

namespace team_bench {

/// Attraction, then movement. Every body's sum is made by one thread: bitwise the serial result.
class n_body {
 public:
  static constexpr double tolerance = 0;
  struct scalars {};

  explicit n_body(std::size_t bodies)
      : bodies_(bodies), positions_(4 * bodies), velocities_(4 * bodies), pulls_(4 * bodies) {
    for (std::size_t i = 0; i < bodies; ++i) {
      const double angle = 2.4 * static_cast<double>(i);
      const double radius = 1 + 0.05 * static_cast<double>(i);
      positions_[4 * i] = radius * std::cos(angle);
      positions_[4 * i + 1] = radius * std::sin(angle);
      positions_[4 * i + 2] = 0.1 * std::cos(7 * angle);
      positions_[4 * i + 3] = 1.0 / static_cast<double>(bodies);
    }
  }

  template <class Executor>
  scalars step(Executor& on, scalars) {
    on.loop(0, bodies_, [&](std::size_t first, std::size_t last) {
      attract(first, last, bodies_, positions_.data(), pulls_.data());
    });
    on.loop(0, bodies_, [&](std::size_t first, std::size_t last) {
      move(first, last, pulls_.data(), velocities_.data(), positions_.data());
    });
    return {};
  }

  const std::vector<double>& result() const { return positions_; }

 private:
  std::size_t bodies_;
  std::vector<double> positions_, velocities_, pulls_;
};

/// The right side of Poisson's equation on a square with a border of zeros.
inline std::vector<double> poisson_right_side(std::size_t side) {
  const std::size_t width = side + 2;
  std::vector<double> right(width * width);
  for (std::size_t row = 1; row <= side; ++row) {
    for (std::size_t i = 1; i <= side; ++i) {
      right[row * width + i] = std::sin(0.37 * static_cast<double>(row)) + 0.1;
    }
  }
  return right;
}

/// One sweep a step, from one grid into the other.
class jacobi_program {
 public:
  static constexpr double tolerance = 0;
  struct scalars {
    std::size_t from = 0;  // the grid that is read
  };

  explicit jacobi_program(std::size_t side)
      : side_(side), right_(poisson_right_side(side)), grids_{right_, right_} {}

  template <class Executor>
  scalars step(Executor& on, scalars now) {
    on.loop(0, side_, [&](std::size_t first, std::size_t last) {
      jacobi(first, last, side_, right_.data(), grids_[now.from].data(),
             grids_[1 - now.from].data());
    });
    return {1 - now.from};
  }

  const std::vector<double>& result() const { return grids_[0]; }

 private:
  std::size_t side_;
  std::vector<double> right_;
  std::vector<double> grids_[2];
};

/// Red points, then black ones. Each reads the other colour only: bitwise the serial result.
class gauss_seidel_program {
 public:
  static constexpr double tolerance = 0;
  struct scalars {};

  explicit gauss_seidel_program(std::size_t side)
      : side_(side), right_(poisson_right_side(side)), grid_(right_) {}

  template <class Executor>
  scalars step(Executor& on, scalars) {
    for (const std::size_t colour : {std::size_t{0}, std::size_t{1}}) {
      on.loop(0, side_, [&](std::size_t first, std::size_t last) {
        relax(first, last, side_, colour, grid_.data(), right_.data());
      });
    }
    return {};
  }

  const std::vector<double>& result() const { return grid_; }

 private:
  std::size_t side_;
  std::vector<double> right_, grid_;
};

/// Conjugate gradients for the 5-point Laplacian. Loop and reduction are one: three synchronisations a
/// step. The sums of two blocks are rounded otherwise than one sum: equal to the serial result but for that.
class cg_program {
 public:
  static constexpr double tolerance = 1e-9;
  /// Begun anew after so many steps, before there is nothing left to improve.
  static constexpr std::size_t steps_of_a_solution = 100;
  struct scalars {
    std::size_t step = 0;
    double residual = 0;  // squared
  };

  explicit cg_program(std::size_t side)
      : side_(side),
        right_(poisson_right_side(side)),
        x_(right_.size()),
        r_(right_.size()),
        p_(right_.size()),
        q_(right_.size()) {}

  template <class Executor>
  scalars step(Executor& on, scalars now) {
    if (now.step % steps_of_a_solution == 0) now.residual = begin(on);
    const double pq = on.sum(0, side_, [&](std::size_t first, std::size_t last) {
      return apply_laplacian(first, last, side_, p_.data(), q_.data());
    });
    const double a = now.residual / pq;
    const double residual = on.sum(0, side_, [&](std::size_t first, std::size_t last) {
      return improve(first, last, side_, a, p_.data(), q_.data(), x_.data(), r_.data());
    });
    const double b = residual / now.residual;
    on.loop(0, side_, [&](std::size_t first, std::size_t last) {
      turn(first, last, side_, b, r_.data(), p_.data());
    });
    return {now.step + 1, residual};
  }

  const std::vector<double>& result() const { return x_; }

 private:
  template <class Executor>
  double begin(Executor& on) {
    return on.sum(0, side_, [&](std::size_t first, std::size_t last) {
      return restart(first, last, side_, right_.data(), x_.data(), r_.data(), p_.data());
    });
  }

  std::size_t side_;
  std::vector<double> right_, x_, r_, p_, q_;
};

}  // namespace team_bench
