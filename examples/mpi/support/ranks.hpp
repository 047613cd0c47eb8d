// SPDX-License-Identifier: MIT
// examples/mpi/support/ranks.hpp -- a program of several ranks that fails as one: one message, one exit status
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <lockstep/mpi.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/program.hpp"

namespace examples {

/// What the other ranks throw where rank 0 has failed and tells the user.
class failed_elsewhere : public std::runtime_error {
 public:
  failed_elsewhere() : std::runtime_error("another rank tells what was wrong") {}
};

/// Rank 0 calls f(), the others wait for it. If f throws, all ranks throw: rank 0 an input_error with the message, the
/// others failed_elsewhere. Collective.
void first_rank_does(lockstep::mpi::world& world, const std::function<void()>& f);

/// Parses the arguments, which are the same on all ranks, runs `body` and turns an exception into one line on stderr and
/// the status bad_input on all ranks. An input_error is taken for one that all ranks know, from first_rank_does or
/// from one of equal computations. Any other exception, such as one rank's lack of memory, ends all ranks at once.
[[nodiscard]] int run_on_ranks(lockstep::mpi::world& world, CLI::App& app, int argc, char** argv,
                               const std::function<exit_status()>& body);

/// Throws std::runtime_error with MPI's text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

// Values from rank to rank, in pieces that MPI's counts, which are int, can say. By one thread of each rank.

/// To rank `to`, which calls receive_values with as many.
void send_bytes(lockstep::mpi::world& world, std::size_t to, const void* bytes, std::size_t count);
void receive_bytes(lockstep::mpi::world& world, std::size_t from, void* bytes, std::size_t count);

/// The number of values, and the values.
template <class Value>
void send_values(lockstep::mpi::world& world, std::size_t to, std::span<const Value> values) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const std::size_t count = values.size();
  send_bytes(world, to, &count, sizeof count);
  send_bytes(world, to, values.data(), values.size_bytes());
}
template <class Value>
[[nodiscard]] std::vector<Value> receive_values(lockstep::mpi::world& world, std::size_t from) {
  std::size_t count = 0;
  receive_bytes(world, from, &count, sizeof count);
  std::vector<Value> values(count);
  receive_bytes(world, from, values.data(), count * sizeof(Value));
  return values;
}

}  // namespace examples
