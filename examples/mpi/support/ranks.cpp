// SPDX-License-Identifier: MIT
#include "mpi/support/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "support/error.hpp"

namespace examples {
namespace {

constexpr std::size_t most_bytes_of_message = std::size_t{1} << 30;
constexpr int tag_of_values = 1;

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
