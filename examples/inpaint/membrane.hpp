// SPDX-License-Identifier: MIT
// examples/inpaint/membrane.hpp -- a picture whose holes are filled smoothly: each missing pixel becomes the mean of its
// neighbours, as a membrane that is held at the pixels that are known
//
// Sweeps of successive over-relaxation in the order of reading: a cell takes its left and upper neighbours from this
// sweep and the others from the one before. So the bits of the result depend on that order, but not on the
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lockstep/lockstep.hpp>
#include <vector>

#include "filter5x5/image.hpp"

namespace examples {

/// Rows and columns, without the last of each.
struct cell_range {
  std::size_t first_row, last_row, first_column, last_column;
};

class membrane {
 public:
  /// Samples of the value `hole` are missing. Throws input_error for a picture in colour, or if all are missing.
  membrane(const image& picture, std::uint32_t hole, double relaxation);

  [[nodiscard]] std::size_t rows() const { return picture_.height; }
  [[nodiscard]] std::size_t columns() const { return picture_.width; }
  [[nodiscard]] std::size_t missing() const;

  /// A sweep over these cells. Returns the largest change of a cell.
  double relax(const cell_range& of);

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] image result() const;

 private:
  image picture_;
  double relaxation_;
  std::size_t stride_;
  std::vector<double> values_;   // with a border of zeros
  std::vector<double> weights_;  // one over the number of neighbours; 0 where the pixel is known
};

/// How the sweeps are shared out, and when they end.
struct sweep_rule {
  std::size_t tile = 32;              // rows, and columns, of a part
  std::size_t sweeps_per_test = 16;   // between two looks at the changes
  std::size_t most_sweeps = 100'000;  // at least; a multiple of sweeps_per_test is done
  double tolerance = 1e-3;            // of a sample, for the largest change of a sweep
};

struct sweep_count {
  std::size_t sweeps = 0;
  double change = 0;  // the largest of the last sweep
  bool has_converged = false;
};

/// The order of reading.
[[nodiscard]] sweep_count fill_serially(membrane& of, const sweep_rule& rule);

/// Each member has a band of columns, and waits for the members beside it only: publish() and await_step().
[[nodiscard]] sweep_count fill_by_bands(membrane& of, const sweep_rule& rule, lockstep::team& team);

/// Each tile is a node. Sweeps are iterations, and overlap: the next sweep begins at the first tile before this one
/// has reached the last.
class tiled_sweeps {
 public:
  tiled_sweeps(membrane& of, const sweep_rule& rule);
  tiled_sweeps(const tiled_sweeps&) = delete;
  tiled_sweeps& operator=(const tiled_sweeps&) = delete;

  [[nodiscard]] const lockstep::graph& graph() const { return graph_; }
  /// `plan` is one of graph().
  [[nodiscard]] sweep_count fill(lockstep::plan& plan);

 private:
  membrane& membrane_;
  sweep_rule rule_;
  std::vector<lockstep::padded<double>> changes_;  // of each tile in its last sweep
  lockstep::graph graph_;
};

}  // namespace examples
