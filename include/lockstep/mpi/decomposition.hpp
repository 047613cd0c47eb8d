// SPDX-License-Identifier: MIT
// lockstep/mpi/decomposition.hpp -- a grid of cells in 1, 2 or 3 dimensions, divided among ranks (layer: mpi)
//
// Pure, except neighbours(): numbers in, numbers out, the same on all ranks.
//
//   grid of ranks 2 x 3, 7 x 10 cells       the array of rank 4, ghost layers of width 1
//     0 | 1 | 2      rows    0-3, 4-6         . . . . .
//     --+---+--      columns 0-3, 4-6, 7-9    . 4 4 4 .     3 x 3 cells, first at (4, 4)
//     3 | 4 | 5                               . 4 4 4 .     5 x 5 with ghosts
//                                             . 4 4 4 .
//                                             . . . . .
//
//   CUT-1  Every cell belongs to exactly one rank. In each dimension the parts are the static blocks of the cells
//       (static_block of schedule.hpp), so their lengths differ by one at most.
//   CUT-2  Ranks and cells are numbered in the order of a C array: the last dimension fastest.
//   CUT-3  The same arguments give the same cut, on every rank and machine. The grid has the fewest cells on borders
//       between ranks. Of equal grids it is the one with more ranks in the earlier dimension, so that rows stay long.
//       (MPI_Dims_create does not know the cells. For 4096 x 64 cells on 16 ranks it makes 4 x 4, with 13 times the
//       border of 16 x 1; for 2 x 1000 cells it makes parts without cells. And its choice differs between libraries.)
//   CUT-4  What rank a sends in direction d, its neighbour in direction d receives from direction -d: neighbours() of the
//       two fit each other.
//
// Order  none: these are values.
// Errors no ranks, no cells, more ranks than can be given a cell each: std::invalid_argument. A bad rank:
//        std::out_of_range. Ghost layers wider than the smallest part: std::invalid_argument, on every rank.
// Cost   to make one: a search through the divisors of the number of ranks. The rest is arithmetic.
// Example
//   const lockstep::mpi::decomposition<2> cut(6, {7, 10}, {false, true});  // the columns are a ring
//   const std::size_t rank = 4;
//   const auto cells = cut.extents_with_ghosts(rank, 1);
//   std::vector<double> x(cells[0] * cells[1]);
//   const auto neighbours = cut.neighbours(rank, x.data(), 1);
//   std::printf("first cell (%zu, %zu), %zu neighbours\n", cut.part(rank, 0).first, cut.part(rank, 1).first,
//               neighbours.size());
#ifndef LOCKSTEP_MPI_DECOMPOSITION_HPP
#define LOCKSTEP_MPI_DECOMPOSITION_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <lockstep/mpi/halo_block.hpp>
#include <lockstep/schedule.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

/// Which neighbours there are: those across a face, or those across edges and corners as well (for stencils that look
/// diagonally).
enum class halo_corners : std::uint8_t { left_out, included };

/// Divides a grid of cells among ranks.
template <std::size_t Dimensions>
class decomposition {
  static_assert(Dimensions >= 1 && Dimensions <= 3,
                "lockstep::mpi::decomposition: 1, 2 or 3 dimensions");

 public:
  using extents = std::array<std::size_t, Dimensions>;
  using flags = std::array<bool, Dimensions>;
  /// -1, 0 or 1 in each dimension.
  using direction = std::array<int, Dimensions>;

  /// Chooses the grid of ranks: CUT-3. `periodic[d]`: the last cell of dimension d is the neighbour of the first.
  decomposition(std::size_t ranks, const extents& cells, const flags& periodic = flags{});

  /// With the given grid of ranks. Fails if a dimension has more ranks than cells.
  static decomposition with_grid(const extents& grid, const extents& cells,
                                 const flags& periodic = flags{});

  std::size_t ranks() const noexcept;
  const extents& grid() const noexcept { return grid_; }
  const extents& cells() const noexcept { return cells_; }
  const flags& periodic() const noexcept { return periodic_; }

  /// Where a rank is in the grid of ranks. Fails if rank >= ranks().
  extents coordinates_of(std::size_t rank) const;
  /// Requires: coordinates within the grid.
  std::size_t rank_of(const extents& coordinates) const noexcept;

  /// The cells of a rank in one dimension, numbered as in the whole grid: CUT-1.
  index_range part(std::size_t rank, std::size_t dimension) const;
  /// The first cell of a rank.
  extents offset(std::size_t rank) const;
  /// How many cells a rank has, without ghosts.
  extents local_extents(std::size_t rank) const;
  /// The extents of its array: `width` ghost layers on both sides of each dimension, also at the edge of the grid.
  extents extents_with_ghosts(std::size_t rank, std::size_t width) const;

  /// Whether a rank has a neighbour in this direction, and which: at the edge of the grid it has none, unless the
  /// dimension is periodic. In a periodic dimension with 1 rank it is its own neighbour.
  bool has_neighbour(std::size_t rank, const direction& to, std::size_t& neighbour) const;

  /// What a halo needs for an array of extents_with_ghosts(rank, width). `first` is the first element of the array, a
  /// ghost: halo ghosts(world, team, cut.neighbours(world.rank(), x.data(), 1)). The ghosts of a face are those beside
  /// the rank's own cells only; corners are neighbours of their own.
  template <class Type>
  std::vector<halo_neighbour> neighbours(std::size_t rank, Type* first, std::size_t width,
                                         halo_corners corners = halo_corners::left_out) const {
    static_assert(
        std::is_trivially_copyable<Type>::value,
        "lockstep::mpi::decomposition::neighbours: elements travel as bytes, so their type "
        "must be trivially copyable");
    return neighbours_of(rank, first, detail::mpi::number_type(first), sizeof(Type), width,
                         corners);
  }

 private:
  std::vector<halo_neighbour> neighbours_of(std::size_t rank, void* first, MPI_Datatype number,
                                            std::size_t element_size, std::size_t width,
                                            halo_corners corners) const;

  extents grid_{};
  extents cells_;
  flags periodic_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_DECOMPOSITION_HPP
