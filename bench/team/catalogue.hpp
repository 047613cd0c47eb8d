// SPDX-License-Identifier: MIT
// bench/team/catalogue.hpp -- what a runner can measure: works by peers
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace team_bench {

/// A cell of a grid of loops between other things: what its kind and size are, the work says.
struct cell {
  std::string kind;
  std::size_t size = 0;
  double pause_us = 0;
  std::size_t loops = 1;  ///< in a sample
};

/// What the command line asked for.
struct request {
  std::size_t threads = 2;
  std::size_t size = 0;   ///< bodies, side of a grid, chunk, idle milliseconds: see the work
  double seconds = 0.05;  ///< of a sample, about; of a cell's, at most
  std::vector<cell> cells{};
  std::size_t samples = 1;  ///< of each cell
  unsigned seed = 1;        ///< of what is random between its loops
};

/// What was seen of a cell.
struct cell_times {
  std::vector<std::vector<double>> loops_ns;   ///< sample by sample
  std::vector<std::vector<double>> serial_ns;  ///< by the serial loop, a sample for each of these
  double wall_seconds = 0, cpu_seconds = 0;    ///< of the parallel samples
  std::map<std::string, double> more{};
};

/// One sample.
struct measurement {
  double value = 0;
  std::string unit = "ns";             ///< of an operation, unless it says otherwise
  double cpus = 0;                     ///< CPU time of the process over wall time
  std::map<std::string, double> more;  ///< by name with its unit, as "skew_ns"
  std::vector<cell_times> cells{};     ///< where cells were asked for
};

struct entry {
  std::string work;
  std::string peer;
  std::function<measurement(const request&)> run;
  bool takes_cells = false;
};

using catalogue = std::vector<entry>;

/// Every entry of this runner, and the versions of its peers. Each runner has its own two.
catalogue all_entries();
std::map<std::string, std::string> peer_versions();

}  // namespace team_bench
