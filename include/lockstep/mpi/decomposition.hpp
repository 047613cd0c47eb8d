// SPDX-License-Identifier: MIT
// lockstep/mpi/decomposition.hpp -- a grid of cells in 1, 2 or 3 dimensions, divided among ranks (layer: mpi)
//
// Pure but for neighbours(): numbers in, numbers out, the same on all ranks.
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
//   CUT-3  The same arguments give the same cut, on every rank and machine. Of all grids with that many ranks the one
//       with the fewest cells on borders between ranks is taken; of equals the one with more ranks in the earlier
//       dimension, so that rows stay long. (MPI_Dims_create knows no cells: of 4096 x 64 cells on 16 ranks it makes 4 x 4, with
//       13 times the border of 16 x 1; of 2 x 1000 cells parts without any. And what it chooses differs between libraries.)
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
#include <cstdio>
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
  decomposition(std::size_t ranks, const extents& cells, const flags& periodic = flags{})
      : cells_(cells), periodic_(periodic) {
    check_cells();
    if (ranks == 0) fail("there are 0 ranks; a grid is divided among 1 or more");
    extents factors;
    std::uint64_t best = ~std::uint64_t{0};
    bool found = false;
    search(ranks, 0, factors, best, found);
    if (!found) fail_crowd(ranks);
  }

  /// With a grid of ranks of one's own. Fails if a dimension has more ranks than cells.
  static decomposition with_grid(const extents& grid, const extents& cells,
                                 const flags& periodic = flags{}) {
    decomposition result(1, cells, periodic);
    result.grid_ = grid;
    for (std::size_t d = 0; d < Dimensions; ++d) {
      if (grid[d] == 0) fail("a dimension of the grid has 0 ranks; give 1 where it is not divided");
      if (grid[d] > cells[d]) result.fail_crowd(result.ranks());
    }
    return result;
  }

  std::size_t ranks() const noexcept { return product(grid_); }
  const extents& grid() const noexcept { return grid_; }
  const extents& cells() const noexcept { return cells_; }
  const flags& periodic() const noexcept { return periodic_; }

  /// Where a rank is in the grid of ranks. Fails if rank >= ranks().
  extents coordinates_of(std::size_t rank) const {
    detail::checked_rank("lockstep::mpi::decomposition", "ranks", rank, ranks());
    extents result;
    for (std::size_t d = Dimensions; d-- > 0; rank /= grid_[d]) result[d] = rank % grid_[d];
    return result;
  }
  /// Requires: coordinates within the grid.
  std::size_t rank_of(const extents& coordinates) const noexcept {
    std::size_t rank = 0;
    for (std::size_t d = 0; d < Dimensions; ++d) rank = rank * grid_[d] + coordinates[d];
    return rank;
  }

  /// The cells of a rank in one dimension, numbered as in the whole grid: CUT-1.
  index_range part(std::size_t rank, std::size_t dimension) const {
    return static_block(0, cells_[dimension], coordinates_of(rank)[dimension], grid_[dimension]);
  }
  /// The first cell of a rank.
  extents offset(std::size_t rank) const {
    extents result;
    for (std::size_t d = 0; d < Dimensions; ++d) result[d] = part(rank, d).first;
    return result;
  }
  /// How many cells a rank has, without ghosts.
  extents local_extents(std::size_t rank) const {
    extents result;
    for (std::size_t d = 0; d < Dimensions; ++d) {
      const index_range mine = part(rank, d);
      result[d] = mine.last - mine.first;
    }
    return result;
  }
  /// The extents of its array: `width` ghost layers on both sides of each dimension, also at the edge of the grid.
  extents extents_with_ghosts(std::size_t rank, std::size_t width) const {
    extents result = local_extents(rank);
    for (std::size_t& extent : result) extent += 2 * width;
    return result;
  }

  /// Whether a rank has a neighbour in this direction, and which: at the edge of the grid it has none, unless the
  /// dimension is periodic. In a periodic dimension with 1 rank it is its own neighbour.
  bool has_neighbour(std::size_t rank, const direction& to, std::size_t& neighbour) const {
    extents at = coordinates_of(rank);
    for (std::size_t d = 0; d < Dimensions; ++d) {
      if (to[d] == 0) continue;
      const bool is_last = to[d] < 0 ? at[d] == 0 : at[d] + 1 == grid_[d];
      if (is_last && !periodic_[d]) return false;
      if (to[d] < 0) {
        at[d] = is_last ? grid_[d] - 1 : at[d] - 1;
      } else {
        at[d] = is_last ? 0 : at[d] + 1;
      }
    }
    neighbour = rank_of(at);
    return true;
  }

  /// What a halo needs for an array of extents_with_ghosts(rank, width), of which `first` is the first element,
  /// ghosts included: halo ghosts(world, cut.neighbours(world.rank(), x.data(), 1)). Of faces, ghosts are received beside
  /// the rank's own cells only; corners are neighbours of their own.
  template <class Type>
  std::vector<halo_neighbour> neighbours(std::size_t rank, Type* first, std::size_t width,
                                         halo_corners corners = halo_corners::left_out) const {
    check_width(width);
    std::vector<halo_neighbour> result;
    for (std::size_t number = 0; number < directions(); ++number) {
      const direction to = direction_of(number);
      std::size_t borders = 0;
      for (const int step : to) borders += step != 0 ? 1 : 0;
      if (borders == 0 || (borders > 1 && corners == halo_corners::left_out)) continue;
      halo_neighbour one;
      if (!has_neighbour(rank, to, one.rank)) continue;
      one.send = box(rank, first, width, to, false);
      one.receive = box(rank, first, width, to, true);
      one.send_tag = static_cast<int>(number);
      one.receive_tag =
          static_cast<int>(directions() - 1 - number);  // that of the opposite direction
      result.push_back(one);
    }
    return result;
  }

 private:
  static constexpr std::size_t directions() noexcept {
    return Dimensions == 1 ? 3 : Dimensions == 2 ? 9 : 27;
  }
  /// The opposite of direction n is directions() - 1 - n.
  static direction direction_of(std::size_t number) noexcept {
    direction result;
    for (std::size_t d = Dimensions; d-- > 0; number /= 3) {
      result[d] = static_cast<int>(number % 3) - 1;
    }
    return result;
  }
  static std::size_t product(const extents& of) noexcept {
    std::size_t result = 1;
    for (const std::size_t each : of) result *= each;
    return result;
  }

  /// The box of cells next to the border in this direction: of the rank's own, or of ghosts.
  template <class Type>
  halo_block box(std::size_t rank, Type* first, std::size_t width, const direction& to,
                 bool is_ghost) const {
    const extents own = local_extents(rank);
    std::size_t of[Dimensions], size[Dimensions], from[Dimensions];
    for (std::size_t d = 0; d < Dimensions; ++d) {
      const std::size_t low = is_ghost ? 0 : width, high = is_ghost ? width + own[d] : own[d];
      of[d] = own[d] + 2 * width;
      size[d] = to[d] == 0 ? own[d] : width;
      from[d] = to[d] == 0 ? width : to[d] < 0 ? low : high;
    }
    return block_of(first, of, size, from);
  }

  /// Tries all grids of so many ranks; keeps the best in grid_.
  void search(std::size_t ranks, std::size_t dimension, extents& factors, std::uint64_t& best,
              bool& found) {
    if (dimension + 1 == Dimensions) {
      factors[dimension] = ranks;
      consider(factors, best, found);
      return;
    }
    // Large factors first: of equal grids the first one stays.
    for (std::size_t factor = ranks < cells_[dimension] ? ranks : cells_[dimension]; factor > 0;
         --factor) {
      if (ranks % factor != 0) continue;
      factors[dimension] = factor;
      search(ranks / factor, dimension + 1, factors, best, found);
    }
  }
  void consider(const extents& grid, std::uint64_t& best, bool& found) {
    std::uint64_t cost = 0;
    for (std::size_t d = 0; d < Dimensions; ++d) {
      if (grid[d] > cells_[d]) return;
      std::uint64_t face = grid[d] - (periodic_[d] && grid[d] > 1 ? 0 : 1);  // borders across d
      for (std::size_t other = 0; other < Dimensions; ++other) {
        if (other != d) face *= cells_[other];
      }
      cost += face;
    }
    if (found && cost >= best) return;
    found = true;
    best = cost;
    grid_ = grid;
  }

  void check_cells() const {
    std::size_t left = static_cast<std::size_t>(-1) / 64;  // the sums of faces fit as well
    for (const std::size_t each : cells_) {
      if (each == 0) fail("a dimension has 0 cells; give 1 or more to each");
      if (each > left) fail("the grid has more cells than can be counted");
      left /= each;
    }
  }
  void check_width(std::size_t width) const {
    for (std::size_t d = 0; d < Dimensions; ++d) {
      const std::size_t least = cells_[d] / grid_[d];
      if (width >= 1 && width <= least) continue;
      char message[200];
      std::snprintf(message, sizeof message,
                    "ghost layers of width %zu do not fit dimension %zu, where the smallest of %zu "
                    "parts has %zu cells; take a width of 1 to %zu, or fewer ranks there",
                    width, d, grid_[d], least, least);
      fail(message);
    }
  }
  [[noreturn]] void fail_crowd(std::size_t ranks) const {
    char text[160] = "";
    int at = 0;
    for (std::size_t d = 0; d < Dimensions; ++d) {
      at += std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), "%s%zu",
                          d == 0 ? "" : " x ", cells_[d]);
    }
    char message[320];
    std::snprintf(message, sizeof message,
                  "%zu ranks cannot divide %s cells so that each has a part; take fewer ranks, a "
                  "number of them with other divisors, or more cells",
                  ranks, text);
    fail(message);
  }
  [[noreturn]] static void fail(const char* what) {
    char message[400];
    std::snprintf(message, sizeof message, "lockstep::mpi::decomposition: %s", what);
    detail::fail_argument(message);
  }

  extents grid_{};
  extents cells_;
  flags periodic_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_DECOMPOSITION_HPP
