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
#include <lockstep/mpi.hpp>
#include <string>
#include <vector>

namespace examples {

/// What a run is: two runs with the same values go through the same states.
struct heat_problem {
  std::uint64_t rows = 0, columns = 0;
  double diffusion = 0;  // of a step: 0 to 0.25
  bool is_ring = false;  // whether the last column is beside the first
};

/// A rank's part of the grid, with ghosts; two arrays, which are in turn the present and the next.
class heat_on_ranks {
 public:
  /// Collective. At step 0.
  heat_on_ranks(lockstep::mpi::world& world, lockstep::team& team, const heat_problem& problem);

  [[nodiscard]] std::uint64_t step() const { return step_; }

  /// Collective.
  void run_to(std::uint64_t step);

  /// Collective. The cells of the whole grid, row by row, as doubles of this machine. Throws input_error.
  void write_result(const std::string& path) const;
  /// Whether this rank's cells are those of a run of one thread, from step 0.
  [[nodiscard]] bool is_as_serial() const;

 private:
  using cells = std::vector<double>;

  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const {
    return row * stride_ + column;
  }
  [[nodiscard]] const cells& present() const { return cells_[step_ % 2]; }
  void begin();
  void advance(lockstep::member& me, std::uint64_t last);

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

}  // namespace examples
