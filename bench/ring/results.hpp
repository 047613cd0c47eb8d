// SPDX-License-Identifier: MIT
// bench/ring/results.hpp -- latency and slack of the rings, with their spread (pure)
#pragma once

#include <optional>
#include <vector>

#include "ring/rows.hpp"
#include "support/rows.hpp"

namespace bench::ring {

using measured_row = measured<row, ring_sample>;

struct result {
  row which;
  std::size_t laps = 0;         // in a sample
  std::size_t cut_samples = 0;  // that ended before the laps were done
  summary value;                // hop: nanoseconds; slack: additions in a wait
  std::optional<double> p99;    // hop: of all stretches of all samples; empty if they are few
  double cpu_ns = 0;            // CPU time of all threads, of a hop, median
  bool is_crowded = false;
  // hop: median by that of the fastest peer, same threads and placement
  std::optional<double> to_best;
};

[[nodiscard]] std::vector<result> evaluate(const std::vector<measured_row>& rows, std::size_t cpus);

[[nodiscard]] report<result> tell(std::vector<result> results, double addition_ns);
[[nodiscard]] nlohmann::ordered_json to_json(const result& of);

}  // namespace bench::ring
