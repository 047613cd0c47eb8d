// SPDX-License-Identifier: MIT
// 21_trace [members] -- a timeline of a program that sweeps over a row of cells
//
// One sweep has three parts: an even one, one in which the last member has twice the work, and a sum. The table at the
// end shows it: the members wait in the second part. stop_trace("trace.json") also writes the timeline, which opens in
// Perfetto (ui.perfetto.dev).
#include <cmath>
#include <cstdio>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "numbered.hpp"

int main(int argc, char** argv) {
  numbered::arguments given(argc, argv);
  const std::size_t members = given.number("members", 1, 1000, lockstep::usable_cpus());
  given.end();

  constexpr std::size_t cells = 20000, sweeps = 10;
  std::vector<double> row(cells, 1.0);
  lockstep::team team(members);

  // [trace]
  lockstep::start_trace();
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    LOCKSTEP_TRACE_SCOPE("sweep");
    team.run([&](lockstep::member& me) {
      {
        LOCKSTEP_TRACE_SCOPE("even");
        me.for_each(0, cells, [&](std::size_t i) { row[i] = std::sqrt(row[i] + 1); });
      }
      {
        LOCKSTEP_TRACE_SCOPE("uneven");
        const std::size_t times = me.rank() + 1 == me.size() ? 2 : 1;
        me.for_range(lockstep::nowait, 0, cells, [&](std::size_t first, std::size_t last) {
          for (std::size_t k = 0; k < times; ++k) {
            for (std::size_t i = first; i < last; ++i) row[i] = std::sqrt(row[i] + 1);
          }
        });
        me.sync_threads();
      }
      const double sum = me.sync_sum(row[0]);
      if (me.rank() == 0) lockstep::trace_counter("sum", sum);
    });
  }
  lockstep::stop_trace();
  // [/trace]

  const std::string table = lockstep::trace_summary();
  for (const char* const name : {"sweep", "even", "uneven"}) {
    const bool is_there = table.find(name) != std::string::npos;
    numbered::print_line(std::string(name) + (is_there ? " is on the timeline" : " is missing"));
  }
  std::fputs(table.c_str(), stderr);
}
