// SPDX-License-Identifier: MIT
// examples/mpi/heat/heat.cpp -- mpirun -n R mpi_heat --rows 512 --columns 512 --steps 1000: heat flows through a plate
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "mpi/heat/heat_on_ranks.hpp"
#include "mpi/support/program_of_ranks.hpp"
#include "support/error.hpp"
#include "support/program.hpp"

namespace examples {
namespace {

constexpr const char* about =
    "Solves the heat equation on a plate of cells, divided among the ranks of mpirun with a team "
    "each. The result is\n"
    "the same, bit for bit, for every number of ranks and members.\n"
    "Exit status: 0 done, 1 the check failed, 2 bad arguments or input.";

struct heat_options {
  unsigned rows = 256, columns = 256, steps = 1000, members = 0;
  double diffusion = 0.2;
  bool is_ring = false, checks = false;
  std::string output;
};

void check_options(const heat_options& options) {
  if (!(options.diffusion > 0) || options.diffusion > 0.25) {
    throw input_error("--diffusion: has to be above 0, and at most 0.25, or the result oscillates");
  }
}

exit_status run(lockstep::mpi::world& world, const heat_options& options) {
  check_options(options);
  lockstep::team team(options.members == 0 ? world.options()
                                           : world.options().members(options.members));
  std::optional<heat_on_ranks> made;
  try {
    const heat_problem problem{options.rows, options.columns, options.diffusion, options.is_ring};
    made.emplace(world, team, problem);
  } catch (const std::invalid_argument& failure) {  // on all ranks: more of them than cells
    throw input_error(failure.what());
  }
  heat_on_ranks& heat = *made;
  const bool tells = world.rank() == 0;
  if (tells) {
    fmt::print("plate: {} x {} cells on {} ranks of {} members\n", options.rows, options.columns,
               world.size(), team.size());
  }
  heat.run_to(options.steps);
  bool is_right = true;
  if (options.checks) {
    is_right = world.sync_min(heat.is_as_serial() ? 1 : 0) == 1;
    if (tells) fmt::print("check: {}\n", is_right ? "ok" : "FAILED");
  }
  if (!options.output.empty() && is_right) heat.write_result(options.output);
  if (tells) fmt::print("done: step {}\n", heat.step());
  return is_right ? exit_status::success : exit_status::check_failed;
}

int run_heat(int argc, char** argv) {
  lockstep::mpi::world world(argc, argv);
  constexpr unsigned most = 1u << 20, most_steps = std::numeric_limits<unsigned>::max();
  heat_options options;
  CLI::App app(about);
  add_count(app, "--rows", options.rows, 1, most, "cells from top to bottom");
  add_count(app, "--columns", options.columns, 1, most, "cells from left to right");
  add_count(app, "--steps", options.steps, 0, most_steps, "stop after this step");
  add_real(app, "--diffusion", options.diffusion, "share of a difference that flows in a step");
  app.add_flag("--ring", options.is_ring, "the last column is beside the first: a tube");
  add_count(app, "--members", options.members, 0, 1024,
            "members of each rank's team; 0: ranks share the CPUs of their node");
  app.add_flag("--check", options.checks, "compare with a run of one thread, bit for bit");
  app.add_option("--output", options.output, "write the cells: doubles of this machine, by rows")
      ->type_name("FILE");
  return run_on_ranks(world, app, argc, argv, [&] { return run(world, options); });
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) { return examples::run_heat(argc, argv); }
