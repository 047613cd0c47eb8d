// SPDX-License-Identifier: MIT
// bench/mpi/peers/lockstep.hpp -- MPI + lockstep: one region of world.run() for many steps
//
// The rows travel by lockstep::mpi::halo: all members publish, the keeper once its rows are written, and wait for the ghosts, the
// others when their own work is done.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <lockstep/lockstep.hpp>
#include <lockstep/mpi.hpp>
#include <string>
#include <vector>

#include "mpi/field.hpp"

namespace mpi_bench {

class peer {
 public:
  static constexpr bool has_fixed_sum = true;

  class exchange {
   public:
    exchange(peer& by, field& of) : ghosts_(by.world_, by.team_, neighbours_of(by.world_, of)) {}

    template <class Crew>
    void start(Crew& crew) {
      ghosts_.publish(crew.me());
    }
    template <class Crew>
    void join(Crew& crew) {
      ghosts_.publish(crew.me());
    }
    template <class Crew>
    void await(Crew& crew) {
      ghosts_.await_ghosts(crew.me());
    }
    template <class Crew>
    void leave(Crew& crew) {
      ghosts_.await_ghosts(crew.me());
    }

   private:
    static std::vector<lockstep::mpi::halo_neighbour> neighbours_of(
        const lockstep::mpi::world& world, field& of) {
      std::vector<lockstep::mpi::halo_neighbour> found;
      const auto add = [&](std::size_t rank, std::size_t own_row, std::size_t ghost_row) {
        const int columns = static_cast<int>(of.columns());
        found.push_back({rank,
                         {of.row(own_row), columns, MPI_DOUBLE},
                         {of.row(ghost_row), columns, MPI_DOUBLE}});
      };
      if (world.rank() > 0) add(world.rank() - 1, 1, 0);
      if (world.rank() + 1 < world.size()) add(world.rank() + 1, of.rows(), of.rows() + 1);
      return found;
    }

    lockstep::mpi::halo ghosts_;
  };

  class crew {
   public:
    crew(lockstep::member& me, lockstep::mpi::world& world) : me_(me), world_(world) {}
    [[nodiscard]] lockstep::member& me() { return me_; }
    [[nodiscard]] std::size_t member() const { return me_.rank(); }
    [[nodiscard]] std::size_t members() const { return me_.size(); }
    void sync() { me_.sync_threads(); }
    double sum(double own) { return world_.sync_sum(me_, own); }
    template <class Function>
    double fixed_sum(std::size_t length, Function&& f) {
      return world_.reduce_range(me_, std::size_t{0}, length, 0.0, f, std::plus<double>());
    }

   private:
    lockstep::member& me_;
    lockstep::mpi::world& world_;
  };

  peer(int& argc, char**& argv, std::size_t threads)
      : world_(argc, argv), team_(world_.options().members(threads)) {}

  [[nodiscard]] MPI_Comm comm() const { return world_.comm(); }
  /// Of all ranks, by one thread of each.
  void meet() { world_.sync(); }
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
