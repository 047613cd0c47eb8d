// SPDX-License-Identifier: MIT
// bench/objects/rows.hpp -- what is measured: mode x number of threads x library
#pragma once

#include <cstddef>
#include <vector>

#include "support/rows.hpp"

namespace bench::objects {

/// In the order of the table, for a machine of so many CPUs: with little contention (1 thread for the mutex, 2 else), a
/// thread for each CPU, and in crowds.
[[nodiscard]] std::vector<row> all_rows(std::size_t cpus);

}  // namespace bench::objects
