// SPDX-License-Identifier: MIT
// bench/primitives/rows.hpp -- what is measured: experiment x number of threads x mechanism
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "primitives/scheduler.hpp"
#include "support/rows.hpp"

namespace bench::primitives {

/// An experiment with one mechanism.
struct experiment {
  std::string_view name;  // cyclic
  std::size_t threads = 0;
  std::string_view mechanism;
  scheduler_maker maker;
};

/// In the order of the table. The mechanisms of a configuration follow each other.
[[nodiscard]] std::vector<experiment> all_experiments();

/// A sample starts the threads, warms up, measures, and ends the threads. It throws std::logic_error if they did not do
/// exactly the work they were asked to do.
[[nodiscard]] std::vector<row> all_rows();

}  // namespace bench::primitives
