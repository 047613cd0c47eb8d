// SPDX-License-Identifier: MIT
// bench/duty/cell_sampling.hpp -- samples of the cells of a grid, several cells in one process
//
// A sample of a cell is as many loops as the cell says, fewer where the machine is so slow that they would take
// longer than request::seconds. Every single time is kept, for medians and tails of all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "support/stopwatch.hpp"
#include "team/catalogue.hpp"
#include "team/sampling.hpp"

namespace team_bench {

/// A sample has so many loops, if so many were asked for, however slow they are.
constexpr std::size_t least_loops = 3;

/// Calls step() for each loop of a sample.
template <class Step>
void repeat_sample(const request& wanted, std::size_t loops, const Step& step) {
  const bench::stopwatch watch;
  for (std::size_t i = 0; i < std::max<std::size_t>(loops, 1); ++i) {
    if (i >= least_loops && watch.wall_seconds() > wanted.seconds) return;
    step();
  }
}

inline void add_time(cell_times& to, const bench::elapsed_time& time) {
  to.wall_seconds += time.wall_seconds;
  to.cpu_seconds += time.cpu_seconds;
}

/// The samples of one cell lie apart, so that a slow spell of the machine hits one sample of many cells.
/// sample(i) takes a sample of the i-th cell.
template <class Sample>
void take_turns(const request& wanted, const Sample& sample) {
  for (std::size_t turn = 0; turn < wanted.samples; ++turn) {
    for (std::size_t i = 0; i < wanted.cells.size(); ++i) sample(i);
  }
}

/// For the table of a single sample: the median of all times of the cells.
inline measurement measurement_of(std::vector<cell_times> cells) {
  measurement result;
  std::vector<double> all;
  bench::elapsed_time time;
  for (const cell_times& each : cells) {
    for (const std::vector<double>& sample : each.loops_ns) {
      all.insert(all.end(), sample.begin(), sample.end());
    }
    time.wall_seconds += each.wall_seconds;
    time.cpu_seconds += each.cpu_seconds;
  }
  result.value = median(all);
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.cells = std::move(cells);
  return result;
}

}  // namespace team_bench
