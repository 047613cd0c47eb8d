// SPDX-License-Identifier: MIT
// tool/commands.hpp -- the sub-commands; each adds itself to the program, in a file of its own
#pragma once

#include <stdexcept>

namespace CLI {
class App;  // half of what a program costs to compile: only those that add options read it
}

namespace tool {

enum exit_status : int { success = 0, failed = 1, bad_input = 2 };

/// A call of the system failed; exit status 1.
struct system_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void add_timeline(CLI::App& program);
void add_summary(CLI::App& program);
/// Linux only.
void add_run(CLI::App& program);

}  // namespace tool
