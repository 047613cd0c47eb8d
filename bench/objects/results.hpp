// SPDX-License-Identifier: MIT
// bench/objects/results.hpp -- what the samples say (pure)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "objects/rows.hpp"
#include "support/rows.hpp"

namespace bench::objects {

using measured_row = measured<row, sample>;

struct result {
  row which;
  std::size_t repeats = 0;
  summary unit_us;                 // the document's: time of a run by repeats of a thread
  double cpu_us = 0;               // CPU time of all threads in that time, median
  std::optional<double> to_posix;  // median by that of pthread in the same configuration
};

[[nodiscard]] std::vector<result> evaluate(const std::vector<measured_row>& rows);

/// "Unit execution time: 0.012345 [us]", as the document's program prints it.
[[nodiscard]] std::string document_line(const result& of);

[[nodiscard]] report<result> tell(std::vector<result> results);
[[nodiscard]] nlohmann::ordered_json to_json(const result& of);

}  // namespace bench::objects
