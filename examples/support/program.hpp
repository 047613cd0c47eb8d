// SPDX-License-Identifier: MIT
// examples/support/program.hpp -- what the numerical examples share: options, record, exit status
#pragma once

#include <cstdint>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "support/files.hpp"

namespace CLI {
class App;  // half of what a program costs to compile: only program.cpp reads it
}

namespace examples {

enum class exit_status : int {
  success = 0,
  check_failed = 1,   // the team's result differs from the serial one
  bad_input = 2,      // arguments, files or system; one line on stderr, no output file
  not_converged = 3,  // jacobi only
};

struct common_options {
  unsigned members = 1;
  unsigned repeat = 1;
  std::string output;
  std::string json;
  std::string policy_name = "default";
  lockstep::wait_policy policy;
};

/// A whole number in [lowest, highest].
void add_count(CLI::App& app, const std::string& name, unsigned& target, unsigned lowest,
               unsigned highest, const std::string& help);

/// The same, which may be left out: then it is what the help calls `otherwise`.
void add_count(CLI::App& app, const std::string& name, std::optional<unsigned>& target,
               unsigned lowest, unsigned highest, const std::string& otherwise,
               const std::string& help);

/// A finite real number; read without regard to the locale, unlike CLI11's own conversion.
void add_real(CLI::App& app, const std::string& name, double& target, const std::string& help);

/// The same, which may be left out: then it is what the help calls `otherwise`.
void add_real(CLI::App& app, const std::string& name, std::optional<double>& target,
              const std::string& otherwise, const std::string& help);

void add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& help);

/// One of several names; `target` is the default.
void add_name(CLI::App& app, const std::string& name, std::string& target, const std::string& help);

/// A file that may be left out, and one that may not.
void add_file(CLI::App& app, const std::string& name, std::string& target, const std::string& help);
void add_needed_file(CLI::App& app, const std::string& name, std::string& target,
                     const std::string& help);

/// --members, --repeat, --policy, --output and --json.
void add_common_options(CLI::App& app, common_options& options, const std::string& output_help);

/// What a record says of every program. Add to it in the order in which it is to be read.
[[nodiscard]] nlohmann::ordered_json begin_record(std::string_view program,
                                                  const common_options& options);

/// Prints the "check:" line, the last one of every run, and puts it into the record.
[[nodiscard]] exit_status report_check(bool is_checked, nlohmann::ordered_json& record);

/// The files of --output and --json.
class run_outputs {
 public:
  /// Throws input_error when one of them cannot be written, before any work is done.
  explicit run_outputs(const common_options& options);

  /// Writes both, or the record alone when the result failed its check.
  void publish(exit_status status, std::string_view result, const nlohmann::ordered_json& record);

 private:
  output_file result_;
  output_file record_;
};

/// Parses the arguments, runs `body` and turns every exception into one line on stderr and the
/// status bad_input. `about` is the head of the help, `add_options` says what is understood.
[[nodiscard]] int run_program(const std::string& about, int argc, char** argv,
                              const std::function<void(CLI::App&)>& add_options,
                              const std::function<exit_status()>& body);

}  // namespace examples
