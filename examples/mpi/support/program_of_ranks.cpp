// SPDX-License-Identifier: MIT
#include "mpi/support/program_of_ranks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "mpi/support/ranks.hpp"
#include "support/error.hpp"

namespace examples {
namespace {

exit_status report(std::string_view message) {
  fmt::print(stderr, "error: {}\n", one_line(message));
  return exit_status::bad_input;
}

/// Reports a failure that the other ranks do not know, and ends all of them: they may wait for this rank.
[[noreturn]] void give_up(lockstep::mpi::world& world, std::string_view message) {
  fmt::print(stderr, "error: rank {}: {}\n", world.rank(), one_line(message));
  std::fflush(nullptr);
  MPI_Abort(world.comm(), static_cast<int>(exit_status::bad_input));
  std::abort();
}

exit_status run_checked(lockstep::mpi::world& world, CLI::App& app, int argc, char** argv,
                        const std::function<exit_status()>& body) {
  const bool tells = world.rank() == 0;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (tells) fmt::print("{}", app.help());
    return exit_status::success;
  } catch (const std::exception& failure) {
    // All ranks have these arguments, and fail alike.
    return tells ? report(failure.what()) : exit_status::bad_input;
  }
  try {
    const exit_status status = body();
    first_rank_does(world, [] {
      // A full disk may show only when the last buffer is written.
      if (std::fflush(stdout) != 0) throw input_error("cannot write to standard output");
    });
    return status;
  } catch (const failed_elsewhere&) {
    return exit_status::bad_input;
  } catch (const lockstep::mpi::rank_failed&) {
    return exit_status::bad_input;
  } catch (const input_error& failure) {
    return tells ? report(failure.what()) : exit_status::bad_input;  // all ranks know
  } catch (const std::bad_alloc&) {
    give_up(world, "out of memory");
  } catch (const std::exception& failure) {
    give_up(world, failure.what());
  }
}

}  // namespace

int run_on_ranks(lockstep::mpi::world& world, CLI::App& app, int argc, char** argv,
                 const std::function<exit_status()>& body) {
  return static_cast<int>(run_checked(world, app, argc, argv, body));
}

}  // namespace examples
