// SPDX-License-Identifier: MIT
// tool/summary.cpp -- lockstep summary TRACE.json: the trace in tables, for terminals
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tool/commands.hpp"
#include "tool/files.hpp"
#include "tool/summary_text.hpp"

namespace tool {

void add_summary(CLI::App& program) {
  CLI::App* const command = program.add_subcommand("summary", "print what a trace says in tables");
  const auto input = std::make_shared<std::string>();
  command->add_option("trace", *input, "what LOCKSTEP_TRACE=FILE has written")
      ->type_name("TRACE.json")
      ->required();
  command->callback([input] {
    const trace read = read_trace_file(*input);
    fmt::print("{}", summary_text(read, figures_of(read)));
    if (std::fflush(stdout) != 0) throw system_failure("cannot write to standard output");
  });
}

}  // namespace tool
