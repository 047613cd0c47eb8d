// SPDX-License-Identifier: MIT
// bench/support/sampling.hpp -- samples of all rows, in turns, with a bar that shows how far it is
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "support/calibration.hpp"
#include "support/progress.hpp"
#include "support/turns.hpp"

namespace bench {

template <class Row, class Sample>
struct measured {
  Row which;
  std::size_t operations = 0;  // in a sample
  std::vector<Sample> samples;
};

/// Finds out how many operations fill a sample of each row, then takes the samples. `run(row, operations)` takes one,
/// which tells the seconds it took as `sample.time.wall_seconds`.
template <class Sample, class Row, class Run>
std::vector<measured<Row, Sample>> measure(const std::vector<Row>& rows, std::size_t samples,
                                           const sample_length& length, Run run) {
  progress shown(rows.size() * (samples + 1));
  std::vector<measured<Row, Sample>> all;
  for (const Row& which : rows) {
    shown.step(fmt::format("trial of {}", name(which)));
    const auto seconds = [&](std::size_t operations) {
      return run(which, operations).time.wall_seconds;
    };
    all.push_back({which, calibrate(length, seconds), {}});
  }
  take_turns(all.size(), samples, [&](std::size_t index, std::size_t round) {
    measured<Row, Sample>& one = all[index];
    shown.step(fmt::format("sample {} of {}, {}", round + 1, samples, name(one.which)));
    one.samples.push_back(run(one.which, one.operations));
  });
  return all;
}

}  // namespace bench
