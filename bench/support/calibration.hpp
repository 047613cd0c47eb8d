// SPDX-License-Identifier: MIT
// bench/support/calibration.hpp -- how many operations fill a sample
#pragma once

#include <algorithm>
#include <cstddef>

namespace bench {

struct sample_length {
  double seconds;        // of a sample, about
  double trial_seconds;  // A trial ends when a run has taken this long.
  std::size_t most;      // operations in a sample
};

/// Pure: at least one, at most length.most.
[[nodiscard]] inline std::size_t operations_that_fill(const sample_length& length,
                                                      std::size_t operations, double seconds) {
  if (seconds <= 0) return length.most;
  const double fitting = length.seconds * static_cast<double>(operations) / seconds;
  if (fitting >= static_cast<double>(length.most)) return length.most;
  return std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
}

/// Tries 1, 4, 16, ... operations. `run(operations)` performs them and returns the seconds they took.
template <class Run>
std::size_t calibrate(const sample_length& length, Run run) {
  constexpr std::size_t growth = 4;
  for (std::size_t operations = 1;; operations = std::min(operations * growth, length.most)) {
    double seconds = run(operations);
    // A run may have been long because somebody else had the CPU: the better of two counts.
    if (seconds >= length.trial_seconds) seconds = std::min(seconds, run(operations));
    if (seconds >= length.trial_seconds || operations >= length.most) {
      return operations_that_fill(length, operations, seconds);
    }
  }
}

}  // namespace bench
