// SPDX-License-Identifier: MIT
#include "team/sampling.hpp"

#include <algorithm>
#include <functional>

#include "support/calibration.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "team/kernels.hpp"

namespace team_bench {
namespace {

constexpr std::size_t most_operations = 100'000'000;

std::size_t operations_for(double seconds, const operations_function& perform) {
  const bench::sample_length length{seconds, seconds / 16, most_operations};
  return bench::calibrate(length, [&](std::size_t operations) {
    const bench::stopwatch watch;
    perform(operations);
    return watch.wall_seconds();
  });
}

double time_ns(const operations_function& perform, std::size_t operations) {
  const bench::stopwatch watch;
  perform(operations);
  return watch.wall_seconds() * 1e9 / static_cast<double>(operations);
}

}  // namespace

measurement take_sample(const request& wanted, const operations_function& perform) {
  const std::size_t operations = operations_for(wanted.seconds, perform);
  perform(operations / 4 + 1);
  const bench::stopwatch watch;
  perform(operations);
  const bench::elapsed_time time = watch.elapsed();
  measurement result;
  result.value = time.wall_seconds * 1e9 / static_cast<double>(operations);
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.more["operations"] = static_cast<double>(operations);
  return result;
}

double median(std::vector<double> values) { return bench::summarize(std::move(values)).median; }

std::size_t delay_rounds() {
  constexpr double wanted_ns = 100;
  constexpr std::size_t rounds = 20'000;
  std::vector<double> each;
  for (int i = 0; i < 15; ++i) each.push_back(time_ns([](std::size_t n) { delay(n); }, rounds));
  // The least: whatever else happened made it longer.
  return static_cast<std::size_t>(wanted_ns / *std::min_element(each.begin(), each.end())) + 1;
}

measurement take_overhead(const request& wanted, const std::function<void()>& prepare,
                          const operations_function& test, const operations_function& reference) {
  constexpr std::size_t rounds = 7;
  const std::size_t operations =
      operations_for(wanted.seconds / static_cast<double>(3 * rounds), test);
  std::vector<double> overheads, references;
  const bench::stopwatch watch;
  for (std::size_t i = 0; i < rounds; ++i) {
    references.push_back(time_ns(reference, operations));
    prepare();
    test(operations);
    overheads.push_back(time_ns(test, operations) - references.back());
  }
  const bench::elapsed_time time = watch.elapsed();
  measurement result;
  result.value = median(overheads);
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.more["reference_ns"] = median(references);
  return result;
}

}  // namespace team_bench
