// SPDX-License-Identifier: MIT
// tool/lockstep.cpp -- the command 'lockstep'
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tool/commands.hpp"
#include "tool/trace_reader.hpp"

namespace {

int report(tool::exit_status status, const std::exception& failure) {
  fmt::print(stderr, "lockstep: {}\n", failure.what());
  return status;
}

int run(CLI::App& program, int argc, char** argv) {
  try {
    program.parse(argc, argv);
    return tool::success;
  } catch (const CLI::Success& asked) {
    return program.exit(asked);
  } catch (const CLI::RuntimeError& said) {
    return said.get_exit_code();
  } catch (const CLI::ParseError& failure) {
    const std::vector<std::string> rest = program.remaining();
    fmt::print(stderr, "lockstep: {}{}. See lockstep --help.\n", failure.what(),
               rest.empty() || !program.get_subcommands().empty() ? "" : ", not " + rest.front());
    return tool::bad_input;
  } catch (const tool::bad_trace& failure) {
    return report(tool::bad_input, failure);
  } catch (const std::exception& failure) {
    return report(tool::failed, failure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program(
      "Shows what the threads of a program that uses lockstep did, and runs OpenMP programs on "
      "lockstep.\n"
      "Exit status: 0 done; 1 the system failed; 2 bad arguments, or a file that is no trace.",
      "lockstep");
  program.require_subcommand(1);
  tool::add_timeline(program);
  tool::add_summary(program);
#if LOCKSTEP_TOOL_RUNS_PROGRAMS
  tool::add_run(program);
#endif
  return run(program, argc, argv);
}
