// SPDX-License-Identifier: MIT
// bench/mpi/peers/lockstep.hpp -- MPI + lockstep: one region of world.run() for many steps
//
// The rows travel by the requests of row_exchange; the keeper waits for them on the ladder of the wait engine.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <lockstep/mpi.hpp>
#include <string>

#include "mpi/row_exchange.hpp"

namespace mpi_bench {

class peer {
 public:
  class exchange : public row_exchange {
   public:
    exchange(peer& by, field& of)
        : row_exchange(by, of), world_(by.world_), policy_(by.world_.policy(by.team_.size())) {}

    template <class Crew>
    void await(Crew&) {
      lockstep::detail::mpi::await_requests(
          world_.thread_level(), "bench", policy_, static_cast<int>(requests_.size()),
          requests_.data(), MPI_STATUSES_IGNORE, lockstep::detail::mpi::never_stops());
    }

   private:
    lockstep::mpi::world& world_;
    lockstep::wait_policy policy_;
  };

  class crew {
   public:
    crew(lockstep::member& me, lockstep::mpi::world& world) : me_(me), world_(world) {}
    [[nodiscard]] std::size_t member() const { return me_.rank(); }
    [[nodiscard]] std::size_t members() const { return me_.size(); }
    void sync() { me_.sync_threads(); }
    double sum(double own) { return me_.sync_sum(world_, own); }

   private:
    lockstep::member& me_;
    lockstep::mpi::world& world_;
  };

  peer(int& argc, char**& argv, std::size_t threads)
      : world_(argc, argv), team_(world_.options().members(threads)) {}

  [[nodiscard]] MPI_Comm comm() const { return world_.comm(); }
  static std::string runtime() {
    return "lockstep " + std::to_string(LOCKSTEP_VERSION_MAJOR) + "." +
           std::to_string(LOCKSTEP_VERSION_MINOR) + "." + std::to_string(LOCKSTEP_VERSION_PATCH);
  }

  template <class Body>
  void region(Body&& body) {
    world_.run(team_, [&](lockstep::member& me) {
      crew own(me, world_);
      body(own);
    });
  }

 private:
  lockstep::mpi::world world_;
  lockstep::team team_;
};

}  // namespace mpi_bench
