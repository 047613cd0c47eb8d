// SPDX-License-Identifier: MIT
// bench/counters/results.hpp -- how long counting took, and whether the counts are right (pure)
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "counters/rows.hpp"
#include "support/sampling.hpp"
#include "support/statistics.hpp"

namespace bench::counters {

using measured_row = measured<row, counted>;

struct result {
  row which;
  summary elapsed_us;
  double cpu_us = 0;           // median
  std::uint64_t expected = 0;  // threads x count
  std::uint64_t least = 0;     // result of a sample
  std::uint64_t most = 0;
  std::optional<double> to_serial;  // median by that of one thread that counts for all

  [[nodiscard]] bool is_exact() const { return least == expected && most == expected; }
};

/// Throws std::logic_error if a method got a wrong result which is not meant to.
[[nodiscard]] std::vector<result> evaluate(const std::vector<measured_row>& rows,
                                           const counting& how);

[[nodiscard]] std::string to_table(const std::vector<result>& results);
[[nodiscard]] std::string legend();
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<result>& results);

}  // namespace bench::counters
