// SPDX-License-Identifier: MIT
#include "team/kernels.hpp"

#include <algorithm>
#include <cmath>

namespace team_bench {

void delay(std::size_t rounds) {
  for (std::size_t i = 0; i < rounds; ++i) asm volatile("" : "+r"(i));
}

void daxpy(std::size_t first, std::size_t last, double a, const double* x, double* y) {
  for (std::size_t i = first; i < last; ++i) y[i] += a * x[i];
}

double dot(std::size_t first, std::size_t last, const double* x, const double* y) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += x[i] * y[i];
  return sum;
}

void stencil(std::size_t first, std::size_t last, std::size_t side, const double* in, double* out) {
  const std::size_t width = side + 2;
  for (std::size_t row = first; row < last; ++row) {
    const double* from = in + (row + 1) * width;
    double* to = out + (row + 1) * width;
    for (std::size_t i = 1; i <= side; ++i) {
      to[i] = 0.25 * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
    }
  }
}

void filter(std::size_t first, std::size_t last, std::size_t side, const float* in, float* out) {
  static const float weights[5] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};
  const std::size_t width = side + 4;
  for (std::size_t row = first; row < last; ++row) {
    for (std::size_t column = 0; column < side; ++column) {
      float sum = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        const float* from = in + (row + i) * width + column;
        for (std::size_t j = 0; j < 5; ++j) sum += weights[i] * weights[j] * from[j];
      }
      out[row * side + column] = sum;
    }
  }
}

void multiply(std::size_t first, std::size_t last, std::size_t side, const double* matrix,
              const double* x, double* y) {
  for (std::size_t row = first; row < last; ++row) y[row] = dot(0, side, matrix + row * side, x);
}

void attract(std::size_t first, std::size_t last, std::size_t bodies, const double* positions,
             double* accelerations) {
  constexpr double softening = 1e-3;  // squared; it makes the body's own share vanish too
  for (std::size_t i = first; i < last; ++i) {
    const double* here = positions + 4 * i;
    double sum[3] = {0, 0, 0};
    for (std::size_t j = 0; j < bodies; ++j) {
      const double* there = positions + 4 * j;
      const double x = there[0] - here[0], y = there[1] - here[1], z = there[2] - here[2];
      const double square = x * x + y * y + z * z + softening;
      const double pull = there[3] / (square * std::sqrt(square));
      sum[0] += pull * x;
      sum[1] += pull * y;
      sum[2] += pull * z;
    }
    for (std::size_t k = 0; k < 3; ++k) accelerations[4 * i + k] = sum[k];
  }
}

void move(std::size_t first, std::size_t last, const double* accelerations, double* velocities,
          double* positions) {
  constexpr double time_step = 1e-4;
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t k = 4 * i; k < 4 * i + 3; ++k) {
      velocities[k] += time_step * accelerations[k];
      positions[k] += time_step * velocities[k];
    }
  }
}

void relax(std::size_t first, std::size_t last, std::size_t side, std::size_t colour, double* u,
           const double* right) {
  const std::size_t width = side + 2;
  for (std::size_t row = first; row < last; ++row) {
    double* here = u + (row + 1) * width;
    const double* force = right + (row + 1) * width;
    for (std::size_t i = 1 + (row + colour) % 2; i <= side; i += 2) {
      here[i] = 0.25 * (here[i - 1] + here[i + 1] + here[i - width] + here[i + width] + force[i]);
    }
  }
}

void jacobi(std::size_t first, std::size_t last, std::size_t side, const double* right,
            const double* in, double* out) {
  const std::size_t width = side + 2;
  for (std::size_t row = first; row < last; ++row) {
    const double* from = in + (row + 1) * width;
    const double* force = right + (row + 1) * width;
    double* to = out + (row + 1) * width;
    for (std::size_t i = 1; i <= side; ++i) {
      to[i] = 0.25 * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] + force[i]);
    }
  }
}

double apply_laplacian(std::size_t first, std::size_t last, std::size_t side, const double* p,
                       double* q) {
  const std::size_t width = side + 2;
  double sum = 0;
  for (std::size_t row = first; row < last; ++row) {
    const double* from = p + (row + 1) * width;
    double* to = q + (row + 1) * width;
    for (std::size_t i = 1; i <= side; ++i) {
      to[i] = 4 * from[i] - from[i - 1] - from[i + 1] - from[i - width] - from[i + width];
      sum += from[i] * to[i];
    }
  }
  return sum;
}

double improve(std::size_t first, std::size_t last, std::size_t side, double a, const double* p,
               const double* q, double* x, double* r) {
  const std::size_t width = side + 2;
  double sum = 0;
  for (std::size_t row = first; row < last; ++row) {
    for (std::size_t i = (row + 1) * width + 1; i <= (row + 1) * width + side; ++i) {
      x[i] += a * p[i];
      r[i] -= a * q[i];
      sum += r[i] * r[i];
    }
  }
  return sum;
}

double propagate(std::size_t first, std::size_t last, std::size_t vertices, std::size_t group,
                 const double* from, double* into) {
  double changes = 0;
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t own = i / group * group;
    double least = from[i];
    for (std::size_t other = own; other < own + group; ++other) {
      least = std::min(least, from[other]);
    }
    if (i == own) least = std::min(least, from[(own + vertices - 1) % vertices]);
    if (i == own + group - 1) least = std::min(least, from[(i + 1) % vertices]);
    changes += least != from[i];
    into[i] = least;
  }
  return changes;
}

void turn(std::size_t first, std::size_t last, std::size_t side, double b, const double* r,
          double* p) {
  const std::size_t width = side + 2;
  for (std::size_t row = first; row < last; ++row) {
    for (std::size_t i = (row + 1) * width + 1; i <= (row + 1) * width + side; ++i) {
      p[i] = r[i] + b * p[i];
    }
  }
}

double restart(std::size_t first, std::size_t last, std::size_t side, const double* right,
               double* x, double* r, double* p) {
  const std::size_t width = side + 2;
  double sum = 0;
  for (std::size_t row = first; row < last; ++row) {
    for (std::size_t i = (row + 1) * width + 1; i <= (row + 1) * width + side; ++i) {
      x[i] = 0;
      r[i] = p[i] = right[i];
      sum += r[i] * r[i];
    }
  }
  return sum;
}

}  // namespace team_bench
