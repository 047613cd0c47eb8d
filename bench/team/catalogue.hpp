// SPDX-License-Identifier: MIT
// bench/team/catalogue.hpp -- what a runner can measure: works by peers
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace team_bench {

/// What the command line asked for.
struct request {
  std::size_t threads = 2;
  std::size_t size = 0;   ///< bodies, side of a grid, chunk, idle milliseconds: see the work
  double seconds = 0.05;  ///< of a sample, about
};

/// One sample.
struct measurement {
  double value = 0;
  std::string unit = "ns";             ///< of an operation, unless it says otherwise
  double cpus = 0;                     ///< CPU time of the process over wall time
  std::map<std::string, double> more;  ///< by name with its unit, as "skew_ns"
};

struct entry {
  std::string work;
  std::string peer;
  std::function<measurement(const request&)> run;
};

using catalogue = std::vector<entry>;

/// Every entry of this runner, and the versions of its peers. Each runner has its own two.
catalogue all_entries();
std::map<std::string, std::string> peer_versions();

}  // namespace team_bench
