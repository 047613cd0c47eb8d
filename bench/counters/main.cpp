// SPDX-License-Identifier: MIT
// bench/counters/main.cpp -- counting to two million with several threads, right and wrong, as in
// the chapter on the fundamentals of concurrent programming
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "counters/results.hpp"
#include "counters/rows.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/sampling.hpp"

namespace bench::counters {
namespace {

constexpr const char* about =
    "Counts with several threads: in turn, racing, on one cache line, on lines of their own, "
    "behind "
    "a\nmutex, with an atomic. Samples of all rows take turns.\n";

constexpr std::uint64_t full_count = 1'000'000, quick_count = 20'000;

struct options : common_options {
  std::size_t threads = 2;
  std::optional<std::uint64_t> count;

  [[nodiscard]] counting how() const {
    return {threads, count.value_or(is_quick ? quick_count : full_count)};
  }
};

void add_options(CLI::App& app, options& chosen) {
  constexpr std::size_t most_threads = 1024;
  constexpr std::uint64_t most_count = 1'000'000'000;
  add_common_options(app, chosen);
  app.add_option("--threads", chosen.threads, "how many threads count (default 2)")
      ->check(CLI::Range(std::size_t{1}, most_threads));
  app.add_option("--count", chosen.count,
                 "how far each thread counts (default 1000000; with --quick 20000)")
      ->check(CLI::Range(std::uint64_t{1}, most_count));
}

std::vector<measured_row> measure_all(const std::vector<row>& rows, unsigned samples,
                                      const counting& how) {
  std::vector<measured_row> measured;
  for (const row& one : rows) measured.push_back({one, how.count, {}});
  progress shown(rows.size() * samples);
  take_samples(measured, samples, shown,
               [&](const row& which, std::size_t) { return run(which, how); });
  return measured;
}

void run_all(const options& chosen) {
  std::vector<row> rows = all_rows();
  keep_matching(rows, chosen.filter, [](const row& one) { return name(one); });
  if (chosen.is_list) {
    for (const row& one : rows) fmt::print("{}\n", name(one));
    return;
  }
  examples::output_file json(chosen.json);
  const counting how = chosen.how();
  const std::vector<result> results =
      evaluate(measure_all(rows, chosen.samples_or_default(), how), how);
  const nlohmann::ordered_json machine = describe_machine();
  fmt::print("threads: {}; count of each: {}\n", how.threads, how.count);
  print_results(chosen, machine, to_table(results), legend());
  publish(json, {{"program", "counters"},
                 {"quick", chosen.is_quick},
                 {"samples", chosen.samples_or_default()},
                 {"threads", how.threads},
                 {"count", how.count},
                 {"machine", machine},
                 {"rows", to_json(results)}});
}

}  // namespace
}  // namespace bench::counters

int main(int argc, char** argv) {
  using namespace bench;
  counters::options chosen;
  const auto add_options = [&](CLI::App& app) { counters::add_options(app, chosen); };
  return run_program(counters::about, argc, argv, add_options, [&] { counters::run_all(chosen); });
}
