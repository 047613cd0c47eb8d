// SPDX-License-Identifier: MIT
// bench/graph/graph_lockstep.cpp -- the runner of all peers but the OpenMP runtimes
#include <fmt/format.h>

#include <lockstep/lockstep.hpp>

#include "graph/graph_entries.hpp"

namespace team_bench {

catalogue all_entries() {
  catalogue all;
  graph_bench::add_lockstep(all);
  graph_bench::add_by_hand(all);
#if defined(LOCKSTEP_BENCH_TBB)
  graph_bench::add_tbb(all);
#endif
#if defined(LOCKSTEP_BENCH_TASKFLOW)
  graph_bench::add_taskflow(all);
#endif
  return all;
}

std::map<std::string, std::string> peer_versions() {
  std::map<std::string, std::string> versions;
  versions["lockstep"] = fmt::format("{}.{}.{}", LOCKSTEP_VERSION_MAJOR, LOCKSTEP_VERSION_MINOR,
                                     LOCKSTEP_VERSION_PATCH);
#if defined(LOCKSTEP_BENCH_TBB)
  versions["tbb"] = graph_bench::tbb_version();
#endif
#if defined(LOCKSTEP_BENCH_TASKFLOW)
  versions["taskflow"] = graph_bench::taskflow_version();
#endif
  return versions;
}

}  // namespace team_bench
