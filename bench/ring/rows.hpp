// SPDX-License-Identifier: MIT
// bench/ring/rows.hpp -- what is measured: quantity x threads x placement x mechanism
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ring/ring.hpp"
#include "support/placement.hpp"

namespace bench::ring {

/// How long a hop takes; how many dependent additions fit into a wait for the token.
enum class quantity { hop, slack };

struct row {
  quantity kind = quantity::hop;
  std::size_t threads = 0;
  placement where = placement::dealt;
  std::string_view mechanism;
  bool polls = false;  // without ever giving the CPU up

  friend bool operator==(const row&, const row&) = default;
};

/// hop/2/free/lockstep
[[nodiscard]] std::string name(const row& which);

/// True if the threads outnumber the CPUs they may use.
[[nodiscard]] bool is_crowded(const row& which, std::size_t cpus);

/// In the order of the table, for a machine of so many CPUs. Polling rings of 100 threads are left out,
/// and how much polling waits leave time for in a crowd (but with two threads on one CPU).
[[nodiscard]] std::vector<row> all_rows(std::size_t cpus);

/// Sends the token round so many times.
[[nodiscard]] ring_sample run(const row& which, std::size_t laps);

/// How long an addition takes that depends on the one before.
[[nodiscard]] double addition_ns();

}  // namespace bench::ring
