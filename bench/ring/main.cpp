// SPDX-License-Identifier: MIT
// bench/ring/main.cpp -- the token ring of the article on the latency between threads: how
// long a hop takes, and what a wait for the token leaves time for
#include <fmt/format.h>

#include <algorithm>
#include <lockstep/lockstep.hpp>
#include <string>
#include <vector>

#include "ring/results.hpp"
#include "ring/rows.hpp"
#include "support/machine.hpp"
#include "support/program.hpp"
#include "support/sampling.hpp"
#include "support/text_table.hpp"

namespace bench::ring {
namespace {

constexpr const char* about =
    "Sends a token round a ring of threads, with condition variables, atomic flags, semaphores,\n"
    "bare futexes and lockstep's events; on one CPU, on two, and where the system puts the "
    "threads. Samples of all "
    "rows\ntake turns.\n";

constexpr sample_length full_length{0.2, 0.03, 5'000'000}, quick_length{0.02, 0.005, 5'000'000};

std::string to_tables(const std::vector<result>& results, double addition) {
  std::string text;
  for (const quantity kind : {quantity::hop, quantity::slack}) {
    const bool is_measured = std::any_of(results.begin(), results.end(), [kind](const result& one) {
      return one.which.kind == kind;
    });
    if (!is_measured) continue;
    text += (text.empty() ? "" : "\n") + to_table(results, kind, addition);
  }
  return text;
}

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
  const std::vector<result> results =
      evaluate(measure<ring_sample>(rows, chosen.samples_or_default(), length, run), cpus);
  const nlohmann::ordered_json machine = describe_machine();
  const double addition = addition_ns();
  print_results(chosen, machine, to_tables(results, addition),
                legend() + fmt::format("           One takes {} ns.\n", four_digits(addition)));
  publish(json, {{"program", "ring"},
                 {"quick", chosen.is_quick},
                 {"samples", chosen.samples_or_default()},
                 {"machine", machine},
                 {"addition_ns", addition},
                 {"rows", to_json(results)}});
}

}  // namespace
}  // namespace bench::ring

int main(int argc, char** argv) {
  using namespace bench;
  timed_options chosen;
  return run_program(ring::about, chosen, argc, argv, [&] { ring::run_all(chosen); });
}
