// SPDX-License-Identifier: MIT
// examples/mpi/heat/heat_on_ranks.hpp -- the heat equation on a grid that is divided among ranks
//
// Each cell becomes u + d (above + below + left + right - 4 u) in a step. The grid begins cold with a hot square; its edge
// is held at fixed temperatures. Every cell is computed by the same expression from the same values, on whichever rank:
// the result has the same bits for every number of ranks and members.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <lockstep/mpi.hpp>
#include <string>
#include <vector>

#include "mpi/heat/checkpoint.hpp"

namespace examples {

/// A rank's part of the grid, with ghosts; two arrays, which are in turn the present and the next.
class heat_on_ranks {
 public:
  /// Collective. At step 0.
  heat_on_ranks(lockstep::mpi::world& world, lockstep::team& team, const heat_problem& problem);

  [[nodiscard]] const heat_problem& problem() const { return problem_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }

  /// Collective.
  void run_to(std::uint64_t step);

  /// Collective. A header before the cells, and two generations.
  void save(const std::string& checkpoint);
  /// Collective. Goes on from FILE, or from FILE.old if FILE is not complete, and says so; from step 0 if neither is
  /// there. Throws on all ranks if both are broken, or if the one that is complete does not belong to this run.
  void restore(const std::string& checkpoint, std::uint64_t last_step);
  /// Collective. The cells alone.
  void write_result(const std::string& path);
  /// Whether this rank's cells are those of a run of one thread, from step 0.
  [[nodiscard]] bool is_as_serial() const;

 private:
  using cells = std::vector<double>;

  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const {
    return row * stride_ + column;
  }
  [[nodiscard]] const cells& present() const { return cells_[step_ % 2]; }
  [[nodiscard]] cells& present() { return cells_[step_ % 2]; }
  void begin();
  void advance(lockstep::member& me, std::uint64_t last);
  void write_cells(const std::string& path, std::uint64_t header_bytes);
  [[nodiscard]] std::uint64_t own_checksum() const;
  [[nodiscard]] std::uint64_t number_of(std::size_t own_row) const;
  void load(const std::string& path, std::uint64_t last_step);

  lockstep::mpi::world& world_;
  lockstep::team& team_;
  const heat_problem problem_;
  const lockstep::mpi::decomposition<2> cut_;
  const std::size_t rows_, columns_, first_row_, first_column_,
      stride_;  // own cells; stride_ with ghosts
  std::array<cells, 2> cells_;
  std::array<lockstep::mpi::halo, 2> ghosts_;
  std::uint64_t step_ = 0;
};

/// Each rank calls f(). If it throws on one, all throw input_error with the message of the lowest such rank. Collective.
void all_ranks_do(lockstep::mpi::world& world, const std::function<void()>& f);

}  // namespace examples
