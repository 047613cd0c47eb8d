// SPDX-License-Identifier: MIT
// bench/team/sampling.hpp -- one sample of an operation, warm; and overheads as EPCC's suite has them
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "team/catalogue.hpp"

namespace team_bench {

/// Performs so many operations.
using operations_function = std::function<void(std::size_t)>;

/// Nanoseconds per operation, of as many as fill wanted.seconds, after a quarter of them.
[[nodiscard]] measurement take_sample(const request& wanted, const operations_function& perform);

/// Requires at least one.
[[nodiscard]] double median(std::vector<double> values);

[[nodiscard]] inline double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// How many rounds of the loop of kernels.hpp's delay() take about 0.1 us here.
[[nodiscard]] std::size_t delay_rounds();

/// What a construct costs beyond the work in it. `test` performs the construct, `reference` on one
/// thread what would be done without it, so many times. The two take turns: an idle team and a slow spell
/// of the machine hit both. `prepare` is called before each turn of the construct, which is warmed up then.
/// Nanoseconds per construct, the median of the differences; it may be
/// below zero by the noise.
[[nodiscard]] measurement take_overhead(const request& wanted, const std::function<void()>& prepare,
                                        const operations_function& test,
                                        const operations_function& reference);

}  // namespace team_bench
