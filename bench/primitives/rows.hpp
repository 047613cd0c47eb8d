// SPDX-License-Identifier: MIT
// bench/primitives/rows.hpp -- what is measured: experiment x number of threads x mechanism
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/scheduler.hpp"
#include "support/rows.hpp"

namespace bench::primitives {

enum class experiment { cyclic, parallel, sync };

/// Cycles of the ring (counter 100 x 100 iterations) or rounds of fork and join.
inline constexpr std::size_t full_rounds = 10'000;

struct row {
  experiment kind = experiment::cyclic;
  std::size_t threads = 0;
  std::string_view mechanism;

  friend bool operator==(const row&, const row&) = default;
};

/// cyclic/100/lockstep-default
[[nodiscard]] std::string name(const row& which);

/// The document's name of the experiment.
[[nodiscard]] std::string_view title(const row& which);

/// Hops or rounds of a run of full size.
[[nodiscard]] std::size_t full_operations(const row& which);

/// In the order of the table. The mechanisms of a configuration follow each other.
[[nodiscard]] std::vector<row> all_rows();

/// Starts the threads of one row.
[[nodiscard]] std::unique_ptr<scheduler> make_scheduler(const row& which);

/// Starts the threads, warms up, measures, ends the threads. Throws std::logic_error if they did not do exactly the work
/// they were asked to do.
[[nodiscard]] sample run(const row& which, std::size_t operations);

}  // namespace bench::primitives
