// SPDX-License-Identifier: MIT
// bench/primitives/report.hpp -- results for the reader and for programs (pure)
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "primitives/results.hpp"

namespace bench::primitives {

/// The document's columns first, then ours.
[[nodiscard]] std::string to_table(const std::vector<result>& results);

/// What the columns mean.
[[nodiscard]] std::string legend();

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<result>& results);

}  // namespace bench::primitives
