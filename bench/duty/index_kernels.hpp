// SPDX-License-Identifier: MIT
// bench/duty/index_kernels.hpp -- loops by their iteration, as a user writes them
//
// A kernel has f(i); part() is the serial loop over it, a function of its own in each unit. A peer that has
// loop(first, last, f) does parts; one that has each(n, kernel) does it in its own way.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace team_bench {

struct daxpy_kernel {
  const double* x;
  double* y;
  void operator()(std::size_t i) const { y[i] += 1e-9 * x[i]; }
};

struct sqrt_kernel {
  const double* x;
  double* y;
  void operator()(std::size_t i) const {
    double value = x[i];
    for (int k = 0; k < 4; ++k) value = std::sqrt(value + y[i]);
    y[i] = value * 0.5 + 0.25;
  }
};

struct stencil_kernel {
  const double* x;
  double* y;
  std::size_t width;  ///< x has a border of so many elements before and after
  void operator()(std::size_t i) const {
    const double* at = x + width + i;
    y[i] = 0.25 * (at[-1] + at[1] + *(at - width) + at[width]);
  }
};

/// The term of a sum.
struct dot_kernel {
  const double* x;
  const double* y;
  double operator()(std::size_t i) const { return x[i] * y[i]; }
};

template <class Kernel>
[[gnu::noinline]] void part(Kernel kernel, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) kernel(i);
}
template <class Kernel>
[[gnu::noinline]] double part_sum(Kernel kernel, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += kernel(i);
  return sum;
}

template <class Peer, class Kernel>
void run_loop(Peer& peer, std::size_t n, const Kernel& kernel) {
  if constexpr (requires { peer.each(n, kernel); }) {
    peer.each(n, kernel);
  } else {
    peer.loop(0, n, [&](std::size_t first, std::size_t last) { part(kernel, first, last); });
  }
}
template <class Peer, class Kernel>
double run_sum(Peer& peer, std::size_t n, const Kernel& kernel) {
  if constexpr (requires { peer.sum_each(n, kernel); }) {
    return peer.sum_each(n, kernel);
  } else {
    return peer.sum(
        0, n, [&](std::size_t first, std::size_t last) { return part_sum(kernel, first, last); });
  }
}

}  // namespace team_bench
