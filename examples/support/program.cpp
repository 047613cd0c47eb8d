// SPDX-License-Identifier: MIT
#include "support/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>

#include "support/error.hpp"
#include "support/number.hpp"

namespace examples {
namespace {

constexpr unsigned most_members = 1024;
constexpr unsigned most_repetitions = 1'000'000;

[[noreturn]] void reject(const std::string& option, std::string_view value, std::string_view why) {
  throw input_error(fmt::format("{}: {} {}", option, in_quotes(value), why));
}

template <class Number>
Number number_argument(const std::string& option, std::string_view text) {
  const parsed_number<Number> number = parse_number<Number>(text);
  if (number.fault != number_fault::none) reject(option, text, explain(number.fault));
  return number.value;
}

lockstep::wait_policy policy_argument(std::string_view text) {
  constexpr std::string_view hybrid = "hybrid:";
  if (text == "default") return {};
  if (text == "spin") return lockstep::wait_policy::spin();
  if (text == "block") return lockstep::wait_policy::block();
  if (text.substr(0, hybrid.size()) == hybrid) {
    const auto spin_time = number_argument<std::uint32_t>("--policy", text.substr(hybrid.size()));
    return lockstep::wait_policy::hybrid(std::chrono::nanoseconds(spin_time));
  }
  reject("--policy", text, "is none of default, spin, block, hybrid:NANOSECONDS");
}

template <class Target>
void add_count_option(CLI::App& app, const std::string& name, Target& target, unsigned lowest,
                      unsigned highest, const std::string& default_text, const std::string& help) {
  const auto read = [=, &target](const std::string& text) {
    const auto count = number_argument<unsigned>(name, text);
    if (count < lowest || count > highest) {
      reject(name, text, fmt::format("is not in the range {} to {}", lowest, highest));
    }
    target = count;
  };
  app.add_option_function<std::string>(name, read, help)
      ->type_name("COUNT")
      ->default_str(default_text);
}

template <class Target>
void add_real_option(CLI::App& app, const std::string& name, Target& target,
                     const std::string& default_text, const std::string& help) {
  const auto read = [=, &target](const std::string& text) {
    target = number_argument<double>(name, text);
  };
  app.add_option_function<std::string>(name, read, help)
      ->type_name("NUMBER")
      ->default_str(default_text);
}

exit_status report(std::string_view message) {
  fmt::print(stderr, "error: {}\n", one_line(message));
  return exit_status::bad_input;
}

/// A full disk may show only when the last buffer is written.
exit_status flushed(exit_status status) {
  return std::fflush(stdout) == 0 ? status : report("cannot write to standard output");
}

exit_status run_checked(CLI::App& app, int argc, char** argv,
                        const std::function<exit_status()>& body) {
  try {
    app.parse(argc, argv);
    return flushed(body());
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return flushed(exit_status::success);
  } catch (const std::bad_alloc&) {
    return report("out of memory");
  } catch (const std::exception& failure) {
    return report(failure.what());
  }
}

}  // namespace

void add_count(CLI::App& app, const std::string& name, unsigned& target, unsigned lowest,
               unsigned highest, const std::string& help) {
  add_count_option(app, name, target, lowest, highest, fmt::format("{}", target), help);
}

void add_count(CLI::App& app, const std::string& name, std::optional<unsigned>& target,
               unsigned lowest, unsigned highest, const std::string& otherwise,
               const std::string& help) {
  add_count_option(app, name, target, lowest, highest, otherwise, help);
}

void add_real(CLI::App& app, const std::string& name, double& target, const std::string& help) {
  add_real_option(app, name, target, fmt::format("{}", target), help);
}

void add_real(CLI::App& app, const std::string& name, std::optional<double>& target,
              const std::string& otherwise, const std::string& help) {
  add_real_option(app, name, target, otherwise, help);
}

void add_flag(CLI::App& app, const std::string& name, bool& target, const std::string& help) {
  app.add_flag(name, target, help);
}

void add_name(CLI::App& app, const std::string& name, std::string& target,
              const std::string& help) {
  app.add_option(name, target, help)->type_name("NAME")->default_str(target);
}

void add_file(CLI::App& app, const std::string& name, std::string& target,
              const std::string& help) {
  app.add_option(name, target, help)->type_name("FILE");
}

void add_needed_file(CLI::App& app, const std::string& name, std::string& target,
                     const std::string& help) {
  app.add_option(name, target, help)->required()->type_name("FILE");
}

void add_common_options(CLI::App& app, common_options& options, const std::string& output_help) {
  options.members = lockstep::usable_cpus();
  add_count(app, "--members", options.members, 1, most_members,
            "members of the team; not given: one per usable CPU");
  add_count(app, "--repeat", options.repeat, 1, most_repetitions,
            "timed rounds, the median is printed");
  const auto read_policy = [&options](const std::string& text) {
    options.policy = policy_argument(text);
    options.policy_name = text;
  };
  app.add_option_function<std::string>("--policy", read_policy,
                                       "how members wait: default, spin, block or "
                                       "hybrid:NANOSECONDS")
      ->type_name("NAME")
      ->default_str(options.policy_name);
  add_file(app, "--output", options.output, output_help);
  add_file(app, "--json", options.json, "write a record of the run");
}

nlohmann::ordered_json begin_record(std::string_view program, const common_options& options) {
  return {{"program", program},
          {"members", options.members},
          {"usable_cpus", lockstep::usable_cpus()},
          {"policy", options.policy_name},
          {"repeat", options.repeat}};
}

exit_status report_check(bool is_checked, nlohmann::ordered_json& record) {
  const std::string_view verdict = is_checked ? "ok" : "FAILED";
  record["check"] = verdict;
  fmt::print("check: {}\n", verdict);
  return is_checked ? exit_status::success : exit_status::check_failed;
}

run_outputs::run_outputs(const common_options& options)
    : result_(options.output), record_(options.json) {
  if (!options.output.empty() && result_.target() == record_.target()) {
    throw input_error(
        fmt::format("--output and --json name the same file {}", in_quotes(options.output)));
  }
}

void run_outputs::publish(exit_status status, std::string_view result,
                          const nlohmann::ordered_json& record) {
  // Paths may hold bytes that are no UTF-8; a record with a replaced character beats none.
  record_.write(record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  if (status == exit_status::check_failed) return commit_all({&record_});
  result_.write(result);
  commit_all({&result_, &record_});
}

int run_program(const std::string& about, int argc, char** argv,
                const std::function<void(CLI::App&)>& add_options,
                const std::function<exit_status()>& body) {
  CLI::App app(about);
  add_options(app);
  return static_cast<int>(run_checked(app, argc, argv, body));
}

}  // namespace examples
