// SPDX-License-Identifier: MIT
// bench/objects/rows.hpp -- what is measured: mode x number of threads x library
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "support/stopwatch.hpp"

namespace bench::objects {

enum class mode { mutex, condition, barrier };

struct row {
  mode kind = mode::mutex;
  std::size_t threads = 0;
  std::string_view library;

  friend bool operator==(const row&, const row&) = default;
};

/// mutex/2/lockstep-default
[[nodiscard]] std::string name(const row& which);

/// The crowd of the document's third picture, and one beyond it.
inline constexpr std::size_t some_crowd = 4, large_crowd = 32;

/// Little contention (1 thread for the mutex, 2 else), all CPUs, 4 and 32 threads on each; ascending.
[[nodiscard]] std::vector<std::size_t> thread_counts(mode kind, std::size_t cpus);

/// In the order of the table, for a machine of so many CPUs. The libraries of a configuration follow
/// each other.
[[nodiscard]] std::vector<row> all_rows(std::size_t cpus);

/// Runs the program once.
[[nodiscard]] elapsed_time run(const row& which, std::size_t repeats);

}  // namespace bench::objects
