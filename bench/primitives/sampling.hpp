// SPDX-License-Identifier: MIT
// bench/primitives/sampling.hpp -- how long to measure each row, and the measuring itself
#pragma once

#include <cstddef>
#include <vector>

#include "primitives/rows.hpp"
#include "support/stopwatch.hpp"

namespace bench::primitives {

/// Seconds that parts of the measurement may take.
struct time_limits {
  double longest_full;    // A sample of full size that would take longer is scaled down
  double longest_scaled;  // to at most this,
  double longest_few;     // or this, if those were but a few operations.
  double cut;             // A sample that takes longer than the trial promised ends here.
  double trial;           // A trial ends when its last run has taken this long.
  double warm_up;         // Before every sample: new threads stay on one CPU for a while.
};
inline constexpr time_limits full_limits{10, 1, 2, 20, 0.15, 0.05};
inline constexpr time_limits quick_limits{0.05, 0.05, 0.2, 0.4, 0.03, 0.01};

/// How a row is measured.
struct sampling_plan {
  std::size_t divisor = 1;  // of the full size; a power of two
  std::size_t operations = 0;
  std::size_t piece = 0;  // so many operations between looks at the clock
  bool warms_up = false;

  friend bool operator==(const sampling_plan&, const sampling_plan&) = default;
};

/// Pure. `operation_seconds` is what a trial found.
[[nodiscard]] sampling_plan make_plan(std::size_t full_operations, double operation_seconds,
                                      const time_limits& limits);

/// Seconds for one operation: runs 1, 4, 16, ... operations until a run takes limits.trial.
[[nodiscard]] double try_out(const row& which, const time_limits& limits);

struct sample {
  std::size_t operations = 0;  // fewer than planned if it was cut
  elapsed_time time;
};

/// Starts the threads, warms up, measures, ends the threads. Throws std::logic_error if the threads
/// did not do exactly the work they were asked to do.
[[nodiscard]] sample take_sample(const row& which, const sampling_plan& plan,
                                 const time_limits& limits);

struct measured_row {
  row which;
  sampling_plan plan;
  std::vector<sample> samples;
};

/// Tries out every row, then takes the samples in rounds over all rows, so that a slow spell of the
/// machine hits all mechanisms alike. Shows its progress.
[[nodiscard]] std::vector<measured_row> measure(const std::vector<row>& rows, std::size_t samples,
                                                const time_limits& limits);

}  // namespace bench::primitives
