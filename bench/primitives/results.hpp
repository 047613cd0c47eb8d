// SPDX-License-Identifier: MIT
// bench/primitives/results.hpp -- what the samples say (pure)
#pragma once

#include <optional>
#include <vector>

#include "primitives/rows.hpp"
#include "support/rows.hpp"

namespace bench::primitives {

using measured_row = measured<row, sample>;

/// Wall-clock and CPU time of one operation; from medians.
struct cost {
  double wall_us = 0;
  double cpu_us = 0;
};

/// Time of this row by the time of the row of another mechanism, same experiment and threads; empty if
/// that was not measured or a time is not positive.
struct ratios {
  std::optional<double> to_original;
  std::optional<double> to_std;
};

struct result {
  row which;
  std::size_t operations = 0;  // in a sample: full_operations() of the row, or a part that fills it
  std::size_t cut_samples = 0;  // that ended before these were done
  summary full_ms;              // of a run of full size, extrapolated from the part that was run
  cost
      round_trip;  // cyclic: a cycle; parallel, sync: a round of fork and join, as seen by the parent
  ratios round_trip_ratios;
  // cyclic: a hop, notify to wake, which is a cycle by its threads. parallel: a round. sync:
  // syncThreads alone, which is a round with it minus the same mechanism's round without it; empty if
  // that was not measured. A difference may come out negative, by noise or when a mechanism collapses.
  std::optional<cost> operation;
  ratios operation_ratios;
};

[[nodiscard]] std::vector<result> evaluate(const std::vector<measured_row>& measured);

/// The document's columns first, then ours.
[[nodiscard]] report<result> tell(std::vector<result> results);
[[nodiscard]] nlohmann::ordered_json to_json(const result& of);

}  // namespace bench::primitives
