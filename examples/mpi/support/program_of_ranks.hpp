// SPDX-License-Identifier: MIT
// examples/mpi/support/program_of_ranks.hpp -- a program of several ranks that fails as one: one message, one exit status
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <lockstep/mpi.hpp>

#include "support/program.hpp"

namespace examples {

/// Parses the arguments, which are the same on all ranks, runs `body` and turns an exception into one line on stderr and
/// the status bad_input on all ranks. An input_error is taken for one that all ranks know, from first_rank_does or
/// from one of equal computations. Any other exception, such as one rank's lack of memory, ends all ranks at once.
[[nodiscard]] int run_on_ranks(lockstep::mpi::world& world, CLI::App& app, int argc, char** argv,
                               const std::function<exit_status()>& body);

}  // namespace examples
