// SPDX-License-Identifier: MIT
#include "support/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <regex>
#include <string>
#include <utility>

#include "examples/support/error.hpp"
#include "support/machine.hpp"

namespace bench {
namespace {

int report(exit_status status, const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", examples::one_line(failure.what()));
  return status;
}

}  // namespace

void add_common_options(CLI::App& app, common_options& chosen) {
  constexpr unsigned most_samples = 10'000;
  app.add_flag("--quick", chosen.is_quick, "3 short samples: for a first look");
  app.add_option("--samples", chosen.samples, "samples of each row (default 9; with --quick 3)")
      ->check(CLI::Range(1u, most_samples));
  app.add_option("--filter", chosen.filter, "only rows whose name matches")->type_name("REGEX");
  app.add_option("--json", chosen.json, "write machine and rows")->type_name("FILE");
  app.add_flag("--list", chosen.is_list, "print the names of the rows");
}

void check_sample_seconds(double seconds) {
  if (seconds > 0 && seconds <= 3600) return;
  throw argument_error("--sample-seconds: has to be above 0 and at most 3600");
}

sample_length timed_options::length(sample_length full, sample_length quick) const {
  sample_length length = is_quick ? quick : full;
  if (!sample_seconds) return length;
  check_sample_seconds(*sample_seconds);
  length.seconds = *sample_seconds;
  length.trial_seconds = std::min(length.trial_seconds, length.seconds);
  return length;
}

void add_timed_options(CLI::App& app, timed_options& chosen) {
  add_common_options(app, chosen);
  app.add_option("--sample-seconds", chosen.sample_seconds,
                 "how long a sample takes, about (default 0.2; with --quick 0.02)");
}

std::function<bool(const std::string&)> parse_filter(const std::string& filter) {
  try {
    return [wanted = std::regex(filter)](const std::string& name) {
      return std::regex_search(name, wanted);
    };
  } catch (const std::regex_error&) {
    throw argument_error(fmt::format("--filter: '{}' is not a regular expression", filter));
  }
}

void print_results(const common_options& chosen, const nlohmann::ordered_json& machine,
                   const std::string& table, const std::string& legend) {
  fmt::print("{}\n", on_one_line(machine));
  fmt::print("samples: {}{}\n\n", chosen.samples_or_default(),
             chosen.is_quick ? "; QUICK: few and short samples, the figures are rough" : "");
  fmt::print("{}\n{}\n", table, legend);
}

void publish(examples::output_file& file, const nlohmann::ordered_json& record) {
  // As result_text() of bench/team/run.py: a row a line.
  std::string text;
  for (const auto& [name, value] : record.items()) {
    text += (text.empty() ? "{\n \"" : ",\n \"") + name + "\": ";
    if (!value.is_array() || value.empty()) {
      text += value.dump();
      continue;
    }
    const char* before = "[\n";
    for (const auto& one : value) text += std::exchange(before, ",\n") + one.dump();
    text += "]";
  }
  file.write(text + "}\n");
  examples::commit_all({&file});
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
}

int run_program(CLI::App& app, int argc, char** argv, const std::function<void()>& run) {
  try {
    app.parse(argc, argv);
    run();
    return success;
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

int run_program(const std::string& about, common_options& chosen, int argc, char** argv,
                const std::function<void()>& run) {
  CLI::App app(about + about_exit_status);
  add_common_options(app, chosen);
  return run_program(app, argc, argv, run);
}

int run_program(const std::string& about, timed_options& chosen, int argc, char** argv,
                const std::function<void()>& run) {
  CLI::App app(about + about_exit_status);
  add_timed_options(app, chosen);
  return run_program(app, argc, argv, run);
}

}  // namespace bench
