// SPDX-License-Identifier: MIT
// bench/counters/rows.hpp -- ways to count with several threads
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/stopwatch.hpp"

namespace bench::counters {

struct counting {
  std::size_t threads = 0;
  std::uint64_t count = 0;  // of each thread
};

struct counted {
  elapsed_time time;  // creating and joining the threads included, as in the document
  std::uint64_t result = 0;
};

struct row {
  std::string_view method;
  bool loses_counts = false;  // by design

  friend bool operator==(const row&, const row&) = default;
};

[[nodiscard]] std::string name(const row& which);

/// The document's five, then ours; in the order of the table.
[[nodiscard]] std::vector<row> all_rows();

[[nodiscard]] counted run(const row& which, const counting& how);

}  // namespace bench::counters
