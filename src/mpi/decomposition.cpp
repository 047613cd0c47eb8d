// SPDX-License-Identifier: MIT
// src/mpi/decomposition.cpp -- mpi/decomposition.hpp (layer: mpi)
#include <cstdio>

#include <lockstep/detail/platform/error.hpp>
#include <lockstep/mpi/decomposition.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

[[noreturn]] LOCKSTEP_INLINE void fail_crowd(std::size_t ranks, const std::size_t* cells,
                                             std::size_t dimensions) {
  char text[160] = "";
  int at = 0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    at += std::snprintf(text + at, sizeof text - static_cast<std::size_t>(at), "%s%zu",
                        d == 0 ? "" : " x ", cells[d]);
  }
  detail::fail_argument(
      "lockstep::mpi::decomposition: %zu ranks cannot divide %s cells so that each has a part; "
      "take fewer ranks, a "
      "number of them with other divisors, or more cells",
      ranks, text);
}

/// Tries all grids of `ranks` ranks, and keeps the best: CUT-3.
template <std::size_t Dimensions>
class grid_search {
 public:
  using extents = typename decomposition<Dimensions>::extents;
  using flags = typename decomposition<Dimensions>::flags;

  grid_search(std::size_t ranks, const extents& cells, const flags& periodic)
      : cells_(cells), periodic_(periodic) {
    extents factors;
    search(ranks, 0, factors);
    if (!found_) fail_crowd(ranks, cells.data(), Dimensions);
  }

  extents best{};

 private:
  void search(std::size_t ranks, std::size_t dimension, extents& factors) {
    if (dimension + 1 == Dimensions) {
      factors[dimension] = ranks;
      return consider(factors);
    }
    // Tries large factors first: of equally good grids, the first one stays.
    for (std::size_t factor = ranks < cells_[dimension] ? ranks : cells_[dimension]; factor > 0;
         --factor) {
      if (ranks % factor != 0) continue;
      factors[dimension] = factor;
      search(ranks / factor, dimension + 1, factors);
    }
  }
  void consider(const extents& grid) {
    std::uint64_t cost = 0;
    for (std::size_t d = 0; d < Dimensions; ++d) {
      if (grid[d] > cells_[d]) return;
      std::uint64_t face = grid[d] - (periodic_[d] && grid[d] > 1 ? 0 : 1);  // borders across d
      for (std::size_t other = 0; other < Dimensions; ++other) {
        if (other != d) face *= cells_[other];
      }
      cost += face;
    }
    if (found_ && cost >= least_) return;
    found_ = true;
    least_ = cost;
    best = grid;
  }

  const extents& cells_;
  const flags& periodic_;
  bool found_ = false;
  std::uint64_t least_ = 0;
};

template <std::size_t Dimensions>
decomposition<Dimensions>::decomposition(std::size_t ranks, const extents& cells,
                                         const flags& periodic)
    : cells_(cells), periodic_(periodic) {
  std::size_t left = static_cast<std::size_t>(-1) / 64;  // the sums of faces fit as well
  for (const std::size_t each : cells_) {
    if (each == 0)
      detail::fail_argument(
          "lockstep::mpi::decomposition: a dimension has 0 cells; give 1 or more to each");
    if (each > left)
      detail::fail_argument(
          "lockstep::mpi::decomposition: the grid has more cells than can be counted");
    left /= each;
  }
  if (ranks == 0)
    detail::fail_argument(
        "lockstep::mpi::decomposition: there are 0 ranks; a grid is divided among 1 or more");
  grid_ = grid_search<Dimensions>(ranks, cells, periodic).best;
}

template <std::size_t Dimensions>
decomposition<Dimensions> decomposition<Dimensions>::with_grid(const extents& grid,
                                                               const extents& cells,
                                                               const flags& periodic) {
  decomposition result(1, cells, periodic);
  result.grid_ = grid;
  for (std::size_t d = 0; d < Dimensions; ++d) {
    if (grid[d] == 0) {
      detail::fail_argument(
          "lockstep::mpi::decomposition: a dimension of the grid has 0 ranks; give 1 where it is "
          "not divided");
    }
    if (grid[d] > cells[d]) fail_crowd(result.ranks(), cells.data(), Dimensions);
  }
  return result;
}

template <std::size_t Dimensions>
std::size_t decomposition<Dimensions>::ranks() const noexcept {
  std::size_t result = 1;
  for (const std::size_t each : grid_) result *= each;
  return result;
}
template <std::size_t Dimensions>
typename decomposition<Dimensions>::extents decomposition<Dimensions>::coordinates_of(
    std::size_t rank) const {
  detail::checked_rank("lockstep::mpi::decomposition", "rank", rank, ranks());
  extents result;
  for (std::size_t d = Dimensions; d-- > 0; rank /= grid_[d]) result[d] = rank % grid_[d];
  return result;
}
template <std::size_t Dimensions>
std::size_t decomposition<Dimensions>::rank_of(const extents& coordinates) const noexcept {
  std::size_t rank = 0;
  for (std::size_t d = 0; d < Dimensions; ++d) rank = rank * grid_[d] + coordinates[d];
  return rank;
}

template <std::size_t Dimensions>
index_range decomposition<Dimensions>::part(std::size_t rank, std::size_t dimension) const {
  return static_block(0, cells_[dimension], coordinates_of(rank)[dimension], grid_[dimension]);
}
template <std::size_t Dimensions>
typename decomposition<Dimensions>::extents decomposition<Dimensions>::offset(
    std::size_t rank) const {
  extents result;
  for (std::size_t d = 0; d < Dimensions; ++d) result[d] = part(rank, d).first;
  return result;
}
template <std::size_t Dimensions>
typename decomposition<Dimensions>::extents decomposition<Dimensions>::local_extents(
    std::size_t rank) const {
  extents result;
  for (std::size_t d = 0; d < Dimensions; ++d) {
    const index_range mine = part(rank, d);
    result[d] = mine.last - mine.first;
  }
  return result;
}
template <std::size_t Dimensions>
typename decomposition<Dimensions>::extents decomposition<Dimensions>::extents_with_ghosts(
    std::size_t rank, std::size_t width) const {
  extents result = local_extents(rank);
  for (std::size_t& extent : result) extent += 2 * width;
  return result;
}

template <std::size_t Dimensions>
bool decomposition<Dimensions>::has_neighbour(std::size_t rank, const direction& to,
                                              std::size_t& neighbour) const {
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

template <std::size_t Dimensions>
std::vector<halo_neighbour> decomposition<Dimensions>::neighbours_of(std::size_t rank, void* first,
                                                                     MPI_Datatype number,
                                                                     std::size_t element_size,
                                                                     std::size_t width,
                                                                     halo_corners corners) const {
  for (std::size_t d = 0; d < Dimensions; ++d) {
    const std::size_t least = cells_[d] / grid_[d];
    if (width >= 1 && width <= least) continue;
    detail::fail_argument(
        "lockstep::mpi::decomposition: ghost layers of width %zu do not fit dimension %zu, where "
        "the smallest of %zu "
        "parts has %zu cells; take a width of 1 to %zu, or fewer ranks there",
        width, d, grid_[d], least, least);
  }
  const extents own = local_extents(rank);
  // The box of cells next to the border in this direction: the rank's own cells, or ghosts.
  const auto box = [&](const direction& to, bool is_ghost) {
    std::size_t of[Dimensions], size[Dimensions], from[Dimensions];
    for (std::size_t d = 0; d < Dimensions; ++d) {
      const std::size_t low = is_ghost ? 0 : width, high = is_ghost ? width + own[d] : own[d];
      of[d] = own[d] + 2 * width;
      size[d] = to[d] == 0 ? own[d] : width;
      from[d] = to[d] == 0 ? width : to[d] < 0 ? low : high;
    }
    return detail::mpi::box_of(first, number, element_size, Dimensions, of, size, from);
  };
  // The opposite of direction n is directions - 1 - n.
  constexpr std::size_t directions = Dimensions == 1 ? 3 : Dimensions == 2 ? 9 : 27;
  std::vector<halo_neighbour> result;
  for (std::size_t n = 0; n < directions; ++n) {
    direction to;
    std::size_t borders = 0;
    for (std::size_t d = Dimensions, left = n; d-- > 0; left /= 3) {
      to[d] = static_cast<int>(left % 3) - 1;
      borders += to[d] != 0 ? 1 : 0;
    }
    if (borders == 0 || (borders > 1 && corners == halo_corners::left_out)) continue;
    halo_neighbour one;
    if (!has_neighbour(rank, to, one.rank)) continue;
    one.send = box(to, false);
    one.receive = box(to, true);
    one.send_tag = static_cast<int>(n);
    one.receive_tag = static_cast<int>(directions - 1 - n);
    result.push_back(one);
  }
  return result;
}

template class decomposition<1>;
template class decomposition<2>;
template class decomposition<3>;

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
