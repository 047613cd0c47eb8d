// SPDX-License-Identifier: MIT
#include "support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {

summary summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t count = samples.size();
  const double mean =
      std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(count);
  const double squares = std::accumulate(
      samples.begin(), samples.end(), 0.0,
      [mean](double sum, double sample) { return sum + (sample - mean) * (sample - mean); });
  summary result;
  result.median = (samples[(count - 1) / 2] + samples[count / 2]) / 2;
  result.min = samples.front();
  result.max = samples.back();
  result.mean = mean;
  result.stddev = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
  return result;
}

}  // namespace bench
