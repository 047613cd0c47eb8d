// SPDX-License-Identifier: MIT
#include <tbb/version.h>

#include "duty/loops_between.hpp"
#include "team/peers/tbb_arena.hpp"
#include "team/team_entries.hpp"
#include "team/works/overhead_works.hpp"
#include "team/works/scheduled_works.hpp"
#include "team/works/team_works.hpp"

namespace team_bench {

void add_tbb(catalogue& to) {
  add_fork_works<tbb_arena>(to, "tbb");
  add_in_blocks<runners_of<tbb_arena>::one_loop>(to, "tbb");
  add_by_claims<runners_of<tbb_tasks<tbb::auto_partitioner>>::one_loop>(to, "tbb");
  add_by_claims<runners_of<tbb_tasks<tbb::simple_partitioner>>::one_loop>(to, "tbb/simple");
  add_overheads_of_forks<tbb_arena>(to, "tbb");
  add_loops_between<tbb_arena>(to, "tbb");
}

std::string tbb_version() { return TBB_runtime_version(); }

}  // namespace team_bench
