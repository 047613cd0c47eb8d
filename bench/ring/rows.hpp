// SPDX-License-Identifier: MIT
// bench/ring/rows.hpp -- what is measured: quantity x threads x placement x mechanism
//
// hop     how long a hop takes
// slack   how many additions that depend on each other fit into a wait for the token
#pragma once

#include <cstddef>
#include <vector>

#include "support/rows.hpp"

namespace bench::ring {

/// In the order of the table, for a machine of so many CPUs. Polling rings of 100 threads are left out, and how much
/// polling waits leave time for in a crowd (but with two threads on one CPU).
[[nodiscard]] std::vector<row> all_rows(std::size_t cpus);

}  // namespace bench::ring
