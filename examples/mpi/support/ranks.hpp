// SPDX-License-Identifier: MIT
// examples/mpi/support/ranks.hpp -- what rank 0 does for all, and values that go from rank to rank
#pragma once

#include <cstddef>
#include <functional>
#include <lockstep/mpi.hpp>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace examples {

/// What the other ranks throw where rank 0 has failed and tells the user.
class failed_elsewhere : public std::runtime_error {
 public:
  failed_elsewhere() : std::runtime_error("another rank tells what was wrong") {}
};

/// Rank 0 calls f(), the others wait for it. If f throws, all ranks throw: rank 0 an input_error with the message, the
/// others failed_elsewhere. Collective.
void first_rank_does(lockstep::mpi::world& world, const std::function<void()>& f);

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
