// SPDX-License-Identifier: MIT
// bench/objects/main.cpp -- the benchmark of Argobots' pull request #306: mutex, condition
// variable and barrier, with little contention, on all CPUs and oversubscribed
#include <fmt/format.h>

#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "objects/results.hpp"
#include "objects/rows.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/sampling.hpp"

namespace bench::objects {
namespace {

constexpr const char* about =
    "Measures locking, a chain of condition broadcasts, and barriers, for pthread, std, lockstep "
    "and\nthe libraries found at build time. Samples of all rows take turns.\n";

constexpr sample_length full_length{0.2, 0.03, 10'000'000}, quick_length{0.02, 0.005, 10'000'000};

void run_all(const timed_options& chosen) {
  const std::size_t cpus = lockstep::usable_cpus();
  std::vector<row> rows = all_rows(cpus);
  keep_matching(rows, chosen.filter, [](const row& one) { return name(one); });
  const sample_length length = chosen.length(full_length, quick_length);
  if (chosen.is_list) {
    for (const row& one : rows) fmt::print("{}\n", name(one));
    return;
  }
  examples::output_file json(chosen.json);
  const auto take = [](const row& which, std::size_t repeats) {
    return sample{run(which, repeats)};
  };
  const std::vector<result> results =
      evaluate(measure<sample>(rows, chosen.samples_or_default(), length, take));
  const nlohmann::ordered_json machine = describe_machine();
  print_results(chosen, machine, to_table(results), legend());
  publish(json, {{"program", "objects"},
                 {"quick", chosen.is_quick},
                 {"samples", chosen.samples_or_default()},
                 {"machine", machine},
                 {"rows", to_json(results)}});
}

}  // namespace
}  // namespace bench::objects

int main(int argc, char** argv) {
  using namespace bench;
  timed_options chosen;
  return run_program(objects::about, chosen, argc, argv, [&] { objects::run_all(chosen); });
}
