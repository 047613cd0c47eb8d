// SPDX-License-Identifier: MIT
// src/mpi/world_body.hpp -- what a world owns (layer: mpi)
#ifndef LOCKSTEP_SRC_MPI_WORLD_BODY_HPP
#define LOCKSTEP_SRC_MPI_WORLD_BODY_HPP

#include <cstddef>

#include <lockstep/mpi/world.hpp>

#include "calls.hpp"
#include "world_core.hpp"
#include "world_region.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// MPI's begin and end, where a world sees to them.
class session {
 public:
  /// Of a program that begins and ends MPI by itself.
  session() noexcept = default;
  session(int& argc, char**& argv) : is_ours_(true) {
    int has_begun = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&has_begun);
    if (has_begun != 0) {
      fail_use(
          "lockstep::mpi::world: MPI is initialised already: make the world from a communicator, "
          "such as "
          "MPI_COMM_WORLD");
    }
    checked(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  }
  /// Not while the stack is unwound: the others may be waiting for this rank, which is about to fail.
  ~session() {
    if (is_ours_ && exceptions_in_flight() == 0) MPI_Finalize();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

 private:
  bool is_ours_ = false;
};

struct world_body {
  world_body(MPI_Comm of, const lockstep::mpi::world_options& options)
      : core(of, options.ranks_per_node(), options.library_collectives()), region(core) {}
  world_body(int& argc, char**& argv, const lockstep::mpi::world_options& options)
      : mpi(argc, argv),
        core(MPI_COMM_WORLD, options.ranks_per_node(), options.library_collectives()),
        region(core) {}

  session mpi;  // the first: MPI ends last
  world_core core;
  world_region region;
  std::size_t ended_by = core.size();
};

struct world_access {
  static world_body& body_of(const lockstep::mpi::world& of) noexcept { return *of.body_; }
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_WORLD_BODY_HPP
