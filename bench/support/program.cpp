// SPDX-License-Identifier: MIT
#include "support/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <regex>
#include <string>
#include <utility>

#include "examples/support/error.hpp"
#include "examples/support/program.hpp"
#include "support/machine.hpp"

namespace bench {

void add_common_options(CLI::App& app, common_options& chosen) {
  constexpr unsigned most_samples = 10'000;
  examples::add_flag(app, "--quick", chosen.is_quick, "3 short samples: for a first look");
  examples::add_count(app, "--samples", chosen.samples, 1, most_samples, "9; with --quick 3",
                      "samples of each row");
  examples::add_name(app, "--filter", chosen.filter,
                     "only rows whose name matches this regular expression");
  examples::add_file(app, "--json", chosen.json, "write machine and rows");
  examples::add_flag(app, "--list", chosen.is_list, "print the names of the rows");
}

sample_length timed_options::length() const {
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  sample_length length =
      is_quick ? sample_length{0.02, 0.005, no_limit} : sample_length{0.2, 0.03, no_limit};
  if (!sample_seconds) return length;
  if (!(*sample_seconds > 0 && *sample_seconds <= 3600)) {
    throw argument_error("--sample-seconds: has to be above 0 and at most 3600");
  }
  length.seconds = *sample_seconds;
  length.trial_seconds = std::min(length.trial_seconds, length.seconds);
  return length;
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

int run_program(const std::string& about, int argc, char** argv,
                const std::function<void(CLI::App&)>& add_options,
                const std::function<void()>& run) {
  // What is thrown is to blame on the arguments, or else on the mechanism or the system.
  const auto measure = [&run] {
    try {
      run();
      return examples::exit_status::success;
    } catch (const argument_error&) {
      throw;
    } catch (const examples::input_error&) {
      throw;
    } catch (const std::exception& failure) {
      fmt::print(stderr, "error: {}\n", examples::one_line(failure.what()));
      return static_cast<examples::exit_status>(failed);
    }
  };
  return examples::run_program(about + about_exit_status, argc, argv, add_options, measure);
}

int run_program(const std::string& about, common_options& chosen, int argc, char** argv,
                const std::function<void()>& run) {
  return run_program(
      about, argc, argv, [&](CLI::App& app) { add_common_options(app, chosen); }, run);
}

int run_program(const std::string& about, timed_options& chosen, int argc, char** argv,
                const std::function<void()>& run) {
  const auto add_options = [&](CLI::App& app) {
    add_common_options(app, chosen);
    examples::add_real(app, "--sample-seconds", chosen.sample_seconds, "0.2; with --quick 0.02",
                       "how long a sample takes, about");
  };
  return run_program(about, argc, argv, add_options, run);
}

}  // namespace bench
