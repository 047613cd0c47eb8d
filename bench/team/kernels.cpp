// SPDX-License-Identifier: MIT
#include "team/kernels.hpp"

#include <algorithm>
#include <bit>
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

namespace {

/// 1 / sqrt(x) but for 0.2 %: a guess from the bits, and one step of Newton's method.
float inverse_root(float x) {
  const float guess = std::bit_cast<float>(0x5F3759DFU - (std::bit_cast<std::uint32_t>(x) >> 1U));
  return guess * (1.5F - 0.5F * x * guess * guess);
}

float sum_of_lanes(const float (&lanes)[8]) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

void attract_in_box(std::size_t first, std::size_t last, std::size_t count, const body* bodies,
                    float* forces) {
  constexpr float gravitation = 6.674e-11F, softening = 1e-9F;
  constexpr std::size_t lanes = 8;
  for (std::size_t i = first; i < last; ++i) {
    const body& here = bodies[i];
    float x_sums[lanes] = {}, y_sums[lanes] = {}, z_sums[lanes] = {};
    const auto attract_to = [&](const body& there, std::size_t lane) {
      const float x = there.position[0] - here.position[0];
      const float y = there.position[1] - here.position[1];
      const float z = there.position[2] - here.position[2];
      const float inverse = inverse_root(x * x + y * y + z * z + softening);
      const float pull = gravitation * here.mass * there.mass * (inverse * inverse * inverse);
      x_sums[lane] += pull * x;
      y_sums[lane] += pull * y;
      z_sums[lane] += pull * z;
    };
    std::size_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) attract_to(bodies[j + lane], lane);
    }
    for (std::size_t lane = 0; j + lane < count; ++lane) attract_to(bodies[j + lane], lane);
    forces[3 * i] = sum_of_lanes(x_sums);
    forces[3 * i + 1] = sum_of_lanes(y_sums);
    forces[3 * i + 2] = sum_of_lanes(z_sums);
  }
}

void move_in_box(std::size_t first, std::size_t last, const float* forces, body* bodies) {
  constexpr float time_step = 0.01F;
  for (std::size_t i = first; i < last; ++i) {
    body& one = bodies[i];
    for (std::size_t k = 0; k < 3; ++k) {
      one.velocity[k] += forces[3 * i + k] / one.mass * time_step;
      const float moved = one.position[k] + one.velocity[k] * time_step;
      one.position[k] = moved - std::floor(moved);
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

std::size_t lower_labels(std::size_t first, std::size_t last, const std::uint64_t* begins,
                         const std::uint32_t* neighbours, const std::uint32_t* from,
                         std::uint32_t* into) {
  std::size_t changes = 0;
  for (std::size_t i = first; i < last; ++i) {
    std::uint32_t least = from[i];
    for (std::uint64_t j = begins[i]; j < begins[i + 1]; ++j) {
      least = std::min(least, from[neighbours[j]]);
    }
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
