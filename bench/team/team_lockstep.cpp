// SPDX-License-Identifier: MIT
// bench/team/team_lockstep.cpp -- the runner of all peers but the OpenMP runtimes
#include <fmt/format.h>

#include <lockstep/lockstep.hpp>

#include "team/team_entries.hpp"

namespace team_bench {

catalogue all_entries() {
  catalogue all;
  add_lockstep(all);
  add_lockstep_loops(all);
  add_standard(all);
#if defined(LOCKSTEP_BENCH_TBB)
  add_tbb(all);
#endif
#if defined(LOCKSTEP_BENCH_FORK_UNION)
  add_fork_union(all);
#endif
  return all;
}

std::map<std::string, std::string> peer_versions() {
  std::map<std::string, std::string> versions;
  versions["lockstep"] = fmt::format("{}.{}.{}", LOCKSTEP_VERSION_MAJOR, LOCKSTEP_VERSION_MINOR,
                                     LOCKSTEP_VERSION_PATCH);
#if defined(_GLIBCXX_RELEASE)
  versions["std"] = fmt::format("libstdc++ {}", _GLIBCXX_RELEASE);
#endif
#if defined(LOCKSTEP_BENCH_TBB)
  versions["tbb"] = tbb_version();
#endif
#if defined(LOCKSTEP_BENCH_FORK_UNION)
  versions["fork_union"] = fork_union_version();
#endif
  return versions;
}

}  // namespace team_bench
