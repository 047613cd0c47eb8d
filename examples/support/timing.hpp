// SPDX-License-Identifier: MIT
// examples/support/timing.hpp -- medians of runs that are compared with each other
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace examples {

[[nodiscard]] inline double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

/// Median seconds of each candidate over `repeat` rounds. Requires repeat > 0.
/// The candidates take turns, so that a slow spell of the machine hits all of them; `after_round`
/// is not timed.
template <std::size_t Count>
[[nodiscard]] std::array<double, Count> median_seconds(
    unsigned repeat, const std::array<std::function<void()>, Count>& candidates,
    const std::function<void()>& after_round) {
  std::array<std::vector<double>, Count> samples;
  for (unsigned round = 0; round < repeat; ++round) {
    for (std::size_t i = 0; i < Count; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      candidates[i]();
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      samples[i].push_back(elapsed.count());
    }
    after_round();
  }
  std::array<double, Count> medians{};
  std::transform(samples.begin(), samples.end(), medians.begin(), median);
  return medians;
}

}  // namespace examples
