// SPDX-License-Identifier: MIT
// bench/primitives/main.cpp -- the three experiments of ThreadSynchronizer's document, for the original
// mechanism, what the system offers, and lockstep
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "primitives/report.hpp"
#include "primitives/results.hpp"
#include "primitives/rows.hpp"
#include "primitives/sampling.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"

namespace bench::primitives {
namespace {

constexpr const char* about =
    "Measures how long threads take to hand on a token (cyclic scheduler), to be woken and joined\n"
    "(parallel scheduler) and to meet in the middle (syncThread). Samples of all rows take "
    "turns.\n";

struct options : common_options {
  std::optional<double> sample_seconds;
  std::vector<std::string> mechanisms;
};

void add_options(CLI::App& app, options& chosen) {
  std::vector<std::string> known;
  for (const std::string_view mechanism : mechanism_names()) known.emplace_back(mechanism);
  add_common_options(app, chosen);
  app.add_option("--sample-seconds", chosen.sample_seconds,
                 "scale down what would take longer (default: what would take over 10 s, to 1 s)");
  app.add_option("--mechanisms", chosen.mechanisms, "only these, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(known));
}

std::vector<row> select_rows(const options& chosen) {
  std::vector<row> rows = all_rows();
  if (const auto& wanted = chosen.mechanisms; !wanted.empty()) {
    std::erase_if(rows, [&](const row& candidate) {
      return std::find(wanted.begin(), wanted.end(), candidate.mechanism) == wanted.end();
    });
  }
  keep_matching(rows, chosen.filter, [](const row& one) { return name(one); });
  return rows;
}

time_limits select_limits(const options& chosen) {
  time_limits limits = chosen.is_quick ? quick_limits : full_limits;
  if (!chosen.sample_seconds) return limits;
  const double seconds = *chosen.sample_seconds;
  check_sample_seconds(seconds);
  limits.longest_full = limits.longest_scaled = limits.longest_few = seconds;
  limits.cut = seconds * 2;
  limits.trial = std::min(limits.trial, seconds);
  limits.warm_up = std::min(limits.warm_up, seconds);
  return limits;
}

void run(const options& chosen) {
  const std::vector<row> rows = select_rows(chosen);
  const time_limits limits = select_limits(chosen);
  if (chosen.is_list) {
    for (const row& one : rows) fmt::print("{}\n", name(one));
    return;
  }
  examples::output_file json(chosen.json);
  const nlohmann::ordered_json machine = describe_machine();
  const std::vector<result> results = evaluate(measure(rows, chosen.samples_or_default(), limits));
  print_results(chosen, machine, to_table(results), legend());
  const nlohmann::ordered_json record{{"program", "primitives"},
                                      {"quick", chosen.is_quick},
                                      {"samples", chosen.samples_or_default()},
                                      {"machine", machine},
                                      {"rows", to_json(results)}};
  publish(json, record);
}

}  // namespace
}  // namespace bench::primitives

int main(int argc, char** argv) {
  using namespace bench;
  primitives::options chosen;
  const auto add_options = [&](CLI::App& app) { primitives::add_options(app, chosen); };
  return run_program(primitives::about, argc, argv, add_options, [&] { primitives::run(chosen); });
}
