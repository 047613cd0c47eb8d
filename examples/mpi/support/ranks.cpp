// SPDX-License-Identifier: MIT
#include "mpi/support/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "support/error.hpp"

namespace examples {
namespace {

constexpr std::size_t most_bytes_of_message = std::size_t{1} << 30;
constexpr int tag_of_values = 1;

exit_status report(std::string_view message) {
  fmt::print(stderr, "error: {}\n", one_line(message));
  return exit_status::bad_input;
}

/// Of a failure that the other ranks do not know: they may wait for this rank.
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

/// Calls f(first, count) for pieces of `count` bytes.
template <class Function>
void for_pieces(std::size_t count, const Function& f) {
  for (std::size_t first = 0; first < count; first += most_bytes_of_message) {
    f(first, static_cast<int>(std::min(count - first, most_bytes_of_message)));
  }
}

}  // namespace

void first_rank_does(lockstep::mpi::world& world, const std::function<void()>& f) {
  std::exception_ptr failure;
  if (world.rank() == 0) {
    try {
      f();
    } catch (const std::bad_alloc&) {
      failure = std::make_exception_ptr(input_error("out of memory"));
    } catch (const std::exception& thrown) {
      failure = std::make_exception_ptr(input_error(thrown.what()));
    }
  }
  const bool has_failed = world.broadcast(0, failure != nullptr);
  if (failure) std::rethrow_exception(failure);
  if (has_failed) throw failed_elsewhere();
}

int run_on_ranks(lockstep::mpi::world& world, CLI::App& app, int argc, char** argv,
                 const std::function<exit_status()>& body) {
  return static_cast<int>(run_checked(world, app, argc, argv, body));
}

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(fmt::format("{} failed: {}", call, text));
}

void send_bytes(lockstep::mpi::world& world, std::size_t to, const void* bytes, std::size_t count) {
  for_pieces(count, [&](std::size_t first, int size) {
    check_mpi(MPI_Send(static_cast<const char*>(bytes) + first, size, MPI_BYTE,
                       static_cast<int>(to), tag_of_values, world.comm()),
              "MPI_Send");
  });
}

void receive_bytes(lockstep::mpi::world& world, std::size_t from, void* bytes, std::size_t count) {
  for_pieces(count, [&](std::size_t first, int size) {
    check_mpi(MPI_Recv(static_cast<char*>(bytes) + first, size, MPI_BYTE, static_cast<int>(from),
                       tag_of_values, world.comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
  });
}

}  // namespace examples
