// SPDX-License-Identifier: MIT
// tool/timeline.cpp -- lockstep timeline TRACE.json [-o OUT.html]: the trace as a page for the browser
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tool/commands.hpp"
#include "tool/files.hpp"
#include "tool/page.hpp"
#include "tool/text.hpp"
#include "tool/trace_reader.hpp"

namespace tool {
namespace {

struct options {
  std::string input;
  std::string output;
};

void run(const options& chosen) {
  const std::filesystem::path input(chosen.input);
  const std::string output = chosen.output.empty()
                                 ? std::filesystem::path(input).replace_extension(".html").string()
                                 : chosen.output;
  std::error_code none;
  if (std::filesystem::equivalent(input, output, none)) {
    throw bad_trace(
        fmt::format("{}: is the trace itself. Give the page another name: -o OUT.html.", output));
  }
  const trace read = read_trace_file(chosen.input);
  const std::string page = make_page(pack(read, figures_of(read)), input.filename().string());
  write_file(output, page);
  fmt::print("{}: {} of {}, {}; {:.1f} MB\n", output, counted(read.slices(), "slice"),
             counted(read.threads.size(), "thread"), time_text(read.end),
             static_cast<double>(page.size()) / 1e6);
}

}  // namespace

void add_timeline(CLI::App& program) {
  CLI::App* const command =
      program.add_subcommand("timeline", "make a page for the browser from a trace");
  const auto chosen = std::make_shared<options>();
  command->add_option("trace", chosen->input, "what LOCKSTEP_TRACE=FILE has written")
      ->type_name("TRACE.json")
      ->required();
  command->add_option("-o,--output", chosen->output, "default: the name of the trace with .html")
      ->type_name("OUT.html");
  command->callback([chosen] { run(*chosen); });
}

}  // namespace tool
