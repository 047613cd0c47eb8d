// SPDX-License-Identifier: MIT
// bench/support/program.hpp -- what all benchmark programs do alike on the command line
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/support/files.hpp"
#include "support/argument_error.hpp"
#include "support/calibration.hpp"

namespace CLI {
class App;  // half of what a program costs to compile: only those with options of their own read it
}

namespace bench {

enum exit_status : int { success = 0, failed = 1, bad_arguments = 2 };

struct common_options {
  bool is_quick = false;
  bool is_list = false;
  std::optional<unsigned> samples;
  std::string filter;
  std::string json;

  [[nodiscard]] unsigned samples_or_default() const { return samples.value_or(is_quick ? 3 : 9); }
};

/// --quick, --samples, --filter, --json, --list.
void add_common_options(CLI::App& app, common_options& chosen);

/// Of programs whose samples are to last a given time.
struct timed_options : common_options {
  std::optional<double> sample_seconds;

  /// 0.2 s, 0.02 with --quick, or as long as the option says. Throws argument_error.
  [[nodiscard]] sample_length length() const;
};

/// Whether a name is one that --filter chooses. Throws argument_error if that is no regular expression.
[[nodiscard]] std::function<bool(const std::string&)> parse_filter(const std::string& filter);

/// Throws argument_error if no row remains. `name` tells the name of a row.
template <class Row, class Name>
void keep_matching(std::vector<Row>& rows, const std::string& filter, Name name) {
  const auto is_wanted = parse_filter(filter);
  std::erase_if(rows, [&](const Row& row) { return !is_wanted(name(row)); });
  if (rows.empty()) throw argument_error("no row is left to measure: see --list");
}

/// Machine, samples, table and legend on standard output.
void print_results(const common_options& chosen, const nlohmann::ordered_json& machine,
                   const std::string& table, const std::string& legend);

/// Gives the record its name and makes sure that standard output was written.
void publish(examples::output_file& file, const nlohmann::ordered_json& record);

/// Parses, then calls run(). Failures become one line on standard error and an exit status. `about` is the head of --help,
/// `add_options` says what is understood.
[[nodiscard]] int run_program(const std::string& about, int argc, char** argv,
                              const std::function<void(CLI::App&)>& add_options,
                              const std::function<void()>& run);

/// The same for a program with the common, or the timed options alone.
[[nodiscard]] int run_program(const std::string& about, common_options& chosen, int argc,
                              char** argv, const std::function<void()>& run);
[[nodiscard]] int run_program(const std::string& about, timed_options& chosen, int argc,
                              char** argv, const std::function<void()>& run);

/// The last paragraph of every program's --help.
inline constexpr const char* about_exit_status =
    "Exit status: 0 done; 1 a mechanism or the system failed; 2 bad "
    "arguments.";

}  // namespace bench
