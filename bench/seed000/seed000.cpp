// SPDX-License-Identifier: MIT
// bench/seed000/seed000.cpp -- the three experiments of ThreadSynchronizer's document, for the original
// mechanism, what the system offers, and lockstep with each wait policy
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <regex>
#include <stdexcept>

#include "examples/support/error.hpp"
#include "examples/support/files.hpp"
#include "seed000/report.hpp"
#include "seed000/results.hpp"
#include "seed000/rows.hpp"
#include "seed000/sampling.hpp"
#include "support/machine.hpp"

namespace bench::seed000 {
namespace {

enum exit_status : int { success = 0, failed = 1, bad_arguments = 2 };

constexpr const char* about =
    "Measures how long threads take to hand on a token (cyclic scheduler), to be woken and joined\n"
    "(parallel scheduler) and to meet in the middle (syncThread). Samples of all rows take turns.\n"
    "Exit status: 0 done, whatever the verdict; 1 a mechanism or the system failed; 2 bad "
    "arguments.";

struct options {
  bool is_quick = false;
  bool is_list = false;
  std::optional<unsigned> samples;
  std::optional<double> sample_seconds;
  std::string filter;
  std::vector<std::string> mechanisms;
  std::string json;

  [[nodiscard]] unsigned samples_or_default() const { return samples.value_or(is_quick ? 3 : 9); }
};

void add_options(CLI::App& app, options& chosen) {
  std::vector<std::string> known;
  for (const std::string_view mechanism : mechanism_names()) known.emplace_back(mechanism);
  constexpr unsigned most_samples = 10'000;
  app.add_flag("--quick", chosen.is_quick,
               "3 samples, all scaled down: under a minute, for a first look");
  app.add_option("--samples", chosen.samples, "samples of each row (default 9; with --quick 3)")
      ->check(CLI::Range(1u, most_samples));
  app.add_option("--sample-seconds", chosen.sample_seconds,
                 "scale down what would take longer (default: what would take over 10 s, to 1 s)");
  app.add_option("--filter", chosen.filter, "only rows whose name matches")->type_name("REGEX");
  app.add_option("--mechanisms", chosen.mechanisms, "only these, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember(known));
  app.add_option("--json", chosen.json, "write machine, rows and verdict")->type_name("FILE");
  app.add_flag("--list", chosen.is_list, "print the names of the rows");
}

/// What is wrong with the arguments, beyond what CLI11 checks.
struct argument_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::regex parse_filter(const std::string& filter) {
  try {
    return std::regex(filter);
  } catch (const std::regex_error&) {
    throw argument_error(fmt::format("--filter: '{}' is not a regular expression", filter));
  }
}

std::vector<row> select_rows(const options& chosen) {
  const std::regex filter = parse_filter(chosen.filter);
  std::vector<row> rows = all_rows();
  std::erase_if(rows, [&](const row& candidate) {
    const auto& wanted = chosen.mechanisms;
    const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(),
                                                       candidate.mechanism) != wanted.end();
    return !is_wanted || !std::regex_search(name(candidate), filter);
  });
  if (rows.empty()) throw argument_error("no row is left to measure: see --list");
  return rows;
}

time_limits select_limits(const options& chosen) {
  time_limits limits = chosen.is_quick ? quick_limits : full_limits;
  if (!chosen.sample_seconds) return limits;
  const double seconds = *chosen.sample_seconds;
  if (!(seconds > 0 && seconds <= 3600)) {
    throw argument_error("--sample-seconds: has to be above 0 and at most 3600");
  }
  limits.longest_full = limits.longest_scaled = limits.longest_few = seconds;
  limits.cut = seconds * 2;
  limits.trial = std::min(limits.trial, seconds);
  limits.warm_up = std::min(limits.warm_up, seconds);
  return limits;
}

void print_results(const options& chosen, const nlohmann::ordered_json& machine,
                   const std::vector<result>& results, const std::vector<verdict>& verdicts) {
  fmt::print("{}\n", on_one_line(machine));
  fmt::print("samples: {}{}\n\n", chosen.samples_or_default(),
             chosen.is_quick ? "; QUICK: few and short samples, the figures are rough" : "");
  fmt::print("{}\n{}\n", to_table(results), legend());
  if (verdicts.empty()) return;
  fmt::print("Verdict{}\n{}", chosen.is_quick ? " (quick)" : "", to_text(verdicts));
}

int run(const options& chosen) {
  const std::vector<row> rows = select_rows(chosen);
  const time_limits limits = select_limits(chosen);
  if (chosen.is_list) {
    for (const row& one : rows) fmt::print("{}\n", name(one));
    return success;
  }
  examples::output_file json(chosen.json);
  const nlohmann::ordered_json machine = describe_machine();
  const std::vector<result> results = evaluate(measure(rows, chosen.samples_or_default(), limits));
  const std::vector<verdict> verdicts = judge(results);
  print_results(chosen, machine, results, verdicts);
  const nlohmann::ordered_json record{
      {"program", "seed000"}, {"quick", chosen.is_quick}, {"samples", chosen.samples_or_default()},
      {"machine", machine},   {"rows", to_json(results)}, {"verdict", to_json(verdicts)}};
  json.write(record.dump(2) + "\n");
  examples::commit_all({&json});
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
  return success;
}

int report(exit_status status, const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", examples::one_line(failure.what()));
  return status;
}

int run_program(int argc, char** argv) {
  options chosen;
  CLI::App app(about);
  add_options(app, chosen);
  try {
    app.parse(argc, argv);
    return run(chosen);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return success;
  } catch (const CLI::ParseError& failure) {
    return report(bad_arguments, failure);
  } catch (const argument_error& failure) {
    return report(bad_arguments, failure);
  } catch (const examples::input_error& failure) {
    return report(bad_arguments, failure);
  } catch (const std::exception& failure) {
    return report(failed, failure);
  }
}

}  // namespace
}  // namespace bench::seed000

int main(int argc, char** argv) { return bench::seed000::run_program(argc, argv); }
