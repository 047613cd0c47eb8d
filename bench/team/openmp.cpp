// SPDX-License-Identifier: MIT
// bench/team/openmp.cpp -- the entries of an OpenMP runtime. The one unit that is compiled with OpenMP, by
// GCC for libgomp and by Clang for libomp; main() and the kernels are the same objects in both runners.
#include <string>

#include "duty/loops_between.hpp"
#include "team/catalogue.hpp"
#include "team/openmp_constructs.hpp"
#include "team/openmp_names.hpp"
#include "team/overheads.hpp"
#include "team/peers/openmp_team.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {
namespace {

constexpr const char* peer = openmp_runtime;

void add_overheads(catalogue& to) {
  const auto add = [&](const char* construct, reference kind, auto perform) {
    to.push_back({std::string("overhead/") + construct, peer, [=](const request& wanted) {
                    settled<openmp_team> pool(wanted);  // the runtime's own, kept by it
                    return measure_overhead(pool, wanted, kind, perform);
                  }});
  };
  add("parallel", reference::one_delay, openmp::parallel);
  add("for", reference::one_delay, openmp::loop);
  add("parallel_for", reference::one_delay, openmp::parallel_loop);
  add("barrier", reference::one_delay, openmp::barrier);
  add("single", reference::one_delay, openmp::single);
  add("critical", reference::one_delay, openmp::critical);
  add("lock_unlock", reference::one_delay, openmp::lock_unlock);
  add("ordered", reference::one_delay, openmp::ordered);
  add("atomic", reference::addition, openmp::atomic);
  add("reduction", reference::delay_and_addition, openmp::reduction);
  add("static", reference::loop, openmp::static_loop);
  add("dynamic", reference::loop, openmp::dynamic_loop);
  add("guided", reference::loop, openmp::guided_loop);
  add("long-static", reference::long_loop, openmp::static_loop);
  add("long-dynamic", reference::long_loop, openmp::dynamic_loop);
  add("long-guided", reference::long_loop, openmp::guided_loop);
}

}  // namespace

catalogue all_entries() {
  catalogue all;
  add_region_works<openmp_team>(all, peer);
  add_scheduled_in_regions<openmp_team>(all, peer);
  add_overheads(all);
  add_loops_between<openmp_team>(all, peer);
  return all;
}

std::map<std::string, std::string> peer_versions() { return openmp_version(); }

}  // namespace team_bench
