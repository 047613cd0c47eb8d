// SPDX-License-Identifier: MIT
// bench/support/statistics.hpp -- what a set of samples says
#pragma once

#include <vector>

namespace bench {

struct summary {
  double median = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
  double stddev = 0;  // of the sample (divided by n - 1); 0 for a single one
};

/// Requires at least one sample.
[[nodiscard]] summary summarize(std::vector<double> samples);

}  // namespace bench
