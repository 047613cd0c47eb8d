// SPDX-License-Identifier: MIT
// bench/support/json.hpp -- figures as JSON
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "support/statistics.hpp"

namespace bench {

/// null if there is none.
[[nodiscard]] inline nlohmann::ordered_json to_json(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

[[nodiscard]] inline nlohmann::ordered_json to_json(const summary& of) {
  return {{"median", of.median},
          {"min", of.min},
          {"max", of.max},
          {"mean", of.mean},
          {"stddev", of.stddev}};
}

}  // namespace bench
