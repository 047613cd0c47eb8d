// SPDX-License-Identifier: MIT
// bench/support/rows.hpp -- a program whose rows are measured in turns: from its arguments to table and record
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/calibration.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"

namespace bench {

struct sample {
  std::size_t operations = 0;  // fewer than asked for if it was cut
  elapsed_time time;
  double counted = 0;  // what the row counts in place of time
};

/// What is measured. Rows of the same group do the same: each is compared with the fastest that is not lockstep's.
struct row {
  std::string group;      // hop/2/free
  std::string contender;  // begins with lockstep if it is ours
  std::size_t most = 0;   // operations in a sample
  std::size_t parts = 1;  // of an operation, if it is the time of a part that is told
  std::function<sample(std::size_t operations)> run;
  std::string unit = "ns";  // else of what the row counts
};

/// hop/2/free/lockstep
[[nodiscard]] std::string name(const row& which);

struct measured_row {
  row which;
  std::size_t operations = 0;  // in a sample
  std::vector<sample> samples;
};

struct result {
  row which;
  std::size_t operations = 0;
  std::size_t cut_samples = 0;    // that ended before the operations were done
  summary value;                  // nanoseconds of a part, or what was counted
  double cpu_ns = 0;              // CPU time of all threads, of a part, median
  std::optional<double> to_best;  // median by that of the fastest other contender; of times only
};

/// Finds out how many operations fill a sample of each row, then takes the samples.
[[nodiscard]] std::vector<measured_row> measure(const std::vector<row>& rows, std::size_t samples,
                                                sample_length length);

/// What the samples say (pure).
[[nodiscard]] std::vector<result> evaluate(const std::vector<measured_row>& rows);

/// The main() of such a program. `operation` is the part of the legend that says what an operation is.
[[nodiscard]] int run_rows(const std::string& program, const std::string& about,
                           const std::string& operation, int argc, char** argv,
                           std::vector<row> rows);

}  // namespace bench
