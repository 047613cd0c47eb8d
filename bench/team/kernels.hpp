// SPDX-License-Identifier: MIT
// bench/team/kernels.hpp -- the work itself, in one unit that all runners share
//
// Two compilers build the runners: code of each one's own would be compared too. Rows [first, last) of a
// grid lie inside a border that nobody writes: row r of a grid of `side` is row r + 1 of side + 2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace team_bench {

/// A loop that no compiler shortens, its rounds each an addition that waits for the last.
void delay(std::size_t rounds);

/// y += a x
void daxpy(std::size_t first, std::size_t last, double a, const double* x, double* y);

[[nodiscard]] double dot(std::size_t first, std::size_t last, const double* x, const double* y);

/// The mean of four neighbours.
void stencil(std::size_t first, std::size_t last, std::size_t side, const double* in, double* out);

/// A blur of 5x5; `in` has a border of two: side + 4 in each direction; `out` has none.
void filter(std::size_t first, std::size_t last, std::size_t side, const float* in, float* out);

/// y = M x, rows of a square matrix
void multiply(std::size_t first, std::size_t last, std::size_t side, const double* matrix,
              const double* x, double* y);

/// What attracts a body to all others, of the bodies [first, last): positions and accelerations are
/// arrays of x, y, z, mass.
void attract(std::size_t first, std::size_t last, std::size_t bodies, const double* positions,
             double* accelerations);

/// A step in time: velocities, then positions.
void move(std::size_t first, std::size_t last, const double* accelerations, double* velocities,
          double* positions);

/// A sweep of Gauss-Seidel over the points where row + column has the parity `colour`.
void relax(std::size_t first, std::size_t last, std::size_t side, std::size_t colour, double* u,
           const double* right);

/// A sweep of Jacobi.
void jacobi(std::size_t first, std::size_t last, std::size_t side, const double* right,
            const double* in, double* out);

/// q = A p for the 5-point Laplacian; returns these rows' share of p . q
[[nodiscard]] double apply_laplacian(std::size_t first, std::size_t last, std::size_t side,
                                     const double* p, double* q);

/// x += a p, r -= a q; returns these rows' share of r . r
[[nodiscard]] double improve(std::size_t first, std::size_t last, std::size_t side, double a,
                             const double* p, const double* q, double* x, double* r);

/// A body of scheduled_programs.hpp.
struct body {
  float position[3];
  float velocity[3];
  float mass;
};

/// The forces on bodies [first, last), three numbers each. Sums of eight lanes, in one order for any range.
void attract_in_box(std::size_t first, std::size_t last, std::size_t count, const body* bodies,
                    float* forces);

/// A step in time; what leaves the unit box comes in again on the other side.
void move_in_box(std::size_t first, std::size_t last, const float* forces, body* bodies);

/// Each of the vertices takes the smallest label among its own and its neighbours'; returns how many labels differ now.
[[nodiscard]] std::size_t lower_labels(std::size_t first, std::size_t last,
                                       const std::uint64_t* begins, const std::uint32_t* neighbours,
                                       const std::uint32_t* from, std::uint32_t* into);

/// p = r + b p
void turn(std::size_t first, std::size_t last, std::size_t side, double b, const double* r,
          double* p);

/// x = 0, r = p = right; returns these rows' share of r . r
[[nodiscard]] double restart(std::size_t first, std::size_t last, std::size_t side,
                             const double* right, double* x, double* r, double* p);

}  // namespace team_bench
