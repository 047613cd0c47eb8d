// SPDX-License-Identifier: MIT
#include <lockstep/mpi/decomposition.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/message_of.hpp"

namespace {

using lockstep::mpi::decomposition;
using lockstep::mpi::halo_block;
using lockstep::mpi::halo_corners;
using lockstep::mpi::halo_neighbour;

template <std::size_t D>
std::size_t product(const std::array<std::size_t, D>& of) {
  std::size_t result = 1;
  for (const std::size_t each : of) result *= each;
  return result;
}

std::vector<std::size_t> packed(const halo_block& block) {
  std::vector<std::size_t> message(block.bytes() / sizeof(std::size_t));
  int at = 0;
  MPI_Pack(block.first, block.count, block.type, message.data(), static_cast<int>(block.bytes()),
           &at, MPI_COMM_SELF);
  return message;
}

/// The exchange of all ranks as one process would do it: CUT-4 says that every receive has one send.
void exchange(const std::vector<std::vector<halo_neighbour>>& of_ranks) {
  std::map<std::array<std::size_t, 3>, std::vector<std::size_t>> under_way;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    for (const halo_neighbour& one : of_ranks[rank]) {
      const auto key = std::array{rank, one.rank, static_cast<std::size_t>(one.send_tag)};
      ASSERT_TRUE(under_way.emplace(key, packed(one.send)).second) << "two sends with one tag";
    }
  }
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    for (const halo_neighbour& one : of_ranks[rank]) {
      const auto found =
          under_way.find({one.rank, rank, static_cast<std::size_t>(one.receive_tag)});
      ASSERT_NE(found, under_way.end()) << "rank " << rank << " expects what nobody sends";
      const int size = static_cast<int>(one.receive.bytes());
      ASSERT_EQ(found->second.size() * sizeof(std::size_t), one.receive.bytes());
      int at = 0;
      MPI_Unpack(found->second.data(), size, &at, one.receive.first, one.receive.count,
                 one.receive.type, MPI_COMM_SELF);
      under_way.erase(found);
    }
  }
  EXPECT_TRUE(under_way.empty()) << "something was sent that nobody receives";
}

/// Every cell holds its number in the whole grid; after the exchange so does every ghost that has a neighbour.
template <std::size_t D>
void check_cut(const decomposition<D>& cut, std::size_t width, halo_corners corners) {
  const std::size_t ranks = cut.ranks();
  const std::size_t nothing = ~std::size_t{0};
  std::vector<std::vector<std::size_t>> arrays(ranks);
  std::vector<std::vector<halo_neighbour>> neighbours(ranks);
  std::vector<int> owners(product(cut.cells()));

  // The number of the cell at a place of a rank's array, `nothing` beyond the edge; and in how many dimensions it is a ghost.
  const auto cell_at = [&](std::size_t rank, std::size_t place, std::size_t& outside) {
    const auto extents = cut.extents_with_ghosts(rank, width);
    const auto own = cut.local_extents(rank);
    const auto offset = cut.offset(rank);
    std::array<std::size_t, D> at;
    for (std::size_t d = D; d-- > 0; place /= extents[d]) at[d] = place % extents[d];
    std::size_t cell = 0;
    outside = 0;
    for (std::size_t d = 0; d < D; ++d) {
      if (at[d] < width || at[d] >= width + own[d]) ++outside;
      std::size_t global = offset[d] + at[d] + cut.cells()[d] - width;  // + cells: not below 0
      if (!cut.periodic()[d] && (global < cut.cells()[d] || global >= 2 * cut.cells()[d])) {
        return nothing;
      }
      global %= cut.cells()[d];
      cell = cell * cut.cells()[d] + global;
    }
    return cell;
  };
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(cut.rank_of(cut.coordinates_of(rank)), rank);
    arrays[rank].assign(product(cut.extents_with_ghosts(rank, width)), nothing);
    for (std::size_t place = 0; place < arrays[rank].size(); ++place) {
      std::size_t outside;
      const std::size_t cell = cell_at(rank, place, outside);
      if (outside != 0) continue;
      arrays[rank][place] = cell;
      ++owners[cell];
    }
    neighbours[rank] = cut.neighbours(rank, arrays[rank].data(), width, corners);
  }
  for (const int count : owners) ASSERT_EQ(count, 1);  // CUT-1
  exchange(neighbours);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::size_t place = 0; place < arrays[rank].size(); ++place) {
      std::size_t outside;
      const std::size_t cell = cell_at(rank, place, outside);
      const bool is_exchanged = outside <= 1 || corners == halo_corners::included;
      ASSERT_EQ(arrays[rank][place], is_exchanged ? cell : nothing)
          << "rank " << rank << ", place " << place;
    }
  }
}

template <std::size_t D>
void check_all_borders(std::size_t ranks, const std::array<std::size_t, D>& cells,
                       std::size_t width) {
  for (unsigned bits = 0; bits < (1u << D); ++bits) {
    std::array<bool, D> periodic;
    for (std::size_t d = 0; d < D; ++d) periodic[d] = (bits >> d & 1u) != 0;
    const decomposition<D> cut(ranks, cells, periodic);
    ASSERT_EQ(cut.ranks(), ranks);
    for (const auto corners : {halo_corners::left_out, halo_corners::included}) {
      check_cut(cut, width, corners);
    }
  }
}

TEST(decomposition, CUT_1_and_CUT_4_every_cell_has_one_owner_and_every_ghost_its_cell) {
  for (std::size_t ranks = 1; ranks <= 7; ++ranks) {
    check_all_borders<1>(ranks, {17}, 2);
    check_all_borders<2>(ranks, {14, 15}, 2);
    check_all_borders<3>(ranks, {7, 8, 9}, 1);
  }
  check_all_borders<3>(8, {8, 9, 10}, 1);
  check_all_borders<2>(12, {12, 13}, 3);
  check_all_borders<1>(5, {5}, 1);
}

TEST(decomposition, CUT_2_ranks_and_cells_are_numbered_as_in_a_C_array) {
  const auto cut = decomposition<2>::with_grid({2, 3}, {7, 10});
  EXPECT_EQ(cut.coordinates_of(4), (std::array<std::size_t, 2>{1, 1}));
  EXPECT_EQ(cut.offset(4), (std::array<std::size_t, 2>{4, 4}));
  EXPECT_EQ(cut.local_extents(4), (std::array<std::size_t, 2>{3, 3}));
  EXPECT_EQ(cut.extents_with_ghosts(4, 1), (std::array<std::size_t, 2>{5, 5}));
  EXPECT_EQ(cut.part(5, 1).first, 7u);
  EXPECT_EQ(cut.part(5, 1).last, 10u);
  check_cut(cut, 2, halo_corners::included);
  check_cut(decomposition<3>::with_grid({2, 2, 2}, {6, 5, 4}, {true, false, true}), 2,
            halo_corners::included);
}

TEST(decomposition, CUT_3_the_grid_of_ranks_has_the_shortest_borders) {
  using grid2 = std::array<std::size_t, 2>;
  using grid3 = std::array<std::size_t, 3>;
  EXPECT_EQ((decomposition<2>(4, {100, 100}).grid()), (grid2{2, 2}));
  EXPECT_EQ((decomposition<2>(4, {1000, 10}).grid()), (grid2{4, 1}));
  EXPECT_EQ((decomposition<2>(4, {10, 1000}).grid()), (grid2{1, 4}));
  EXPECT_EQ((decomposition<2>(2, {100, 100}).grid()), (grid2{2, 1}));
  EXPECT_EQ((decomposition<2>(6, {100, 100}).grid()), (grid2{3, 2}));
  EXPECT_EQ((decomposition<3>(8, {64, 64, 64}).grid()), (grid3{2, 2, 2}));
  EXPECT_EQ((decomposition<3>(12, {64, 64, 64}).grid()), (grid3{3, 2, 2}));
  EXPECT_EQ((decomposition<3>(10000, {4096, 4096, 4096}).grid()), (grid3{25, 20, 20}));
  // A ring has one border more than a row of ranks, so it is rather not divided.
  EXPECT_EQ((decomposition<2>(2, {100, 100}, {true, false}).grid()), (grid2{1, 2}));
}

TEST(decomposition, a_periodic_dimension_of_one_rank_makes_it_its_own_neighbour) {
  std::vector<double> x(6 * 6);
  const decomposition<2> cut(1, {4, 4}, {true, true});
  const auto all = cut.neighbours(0, x.data(), 1, halo_corners::included);
  ASSERT_EQ(all.size(), 8u);
  for (const halo_neighbour& one : all) EXPECT_EQ(one.rank, 0u);
}

TEST(decomposition, at_the_edge_of_a_grid_that_is_no_ring_there_is_no_neighbour) {
  const decomposition<1> cut(3, {9});
  std::size_t rank = 77;
  EXPECT_FALSE(cut.has_neighbour(0, {-1}, rank));
  EXPECT_FALSE(cut.has_neighbour(2, {1}, rank));
  EXPECT_EQ(rank, 77u);
  EXPECT_TRUE(cut.has_neighbour(0, {1}, rank));
  EXPECT_EQ(rank, 1u);
}

TEST(decomposition, bad_arguments_are_refused_with_cause_and_remedy) {
  using lockstep::test::message_of;
  using std::invalid_argument;
  EXPECT_EQ(
      message_of<invalid_argument>([] { decomposition<2>(17, {4, 4}); }),
      "lockstep::mpi::decomposition: 17 ranks cannot divide 4 x 4 cells so that each has a part; "
      "take fewer ranks, a number of them with other divisors, or more cells");
  EXPECT_EQ(message_of<invalid_argument>([] { decomposition<2>(5, {4, 4}); }).substr(0, 55),
            "lockstep::mpi::decomposition: 5 ranks cannot divide 4 x");
  EXPECT_NE(message_of<invalid_argument>([] { decomposition<1>(0, {4}); }).find("0 ranks"),
            std::string::npos);
  EXPECT_NE(message_of<invalid_argument>([] { decomposition<2>(1, {4, 0}); }).find("0 cells"),
            std::string::npos);
  EXPECT_NE(message_of<invalid_argument>([] {
              decomposition<3>(1, {std::size_t{1} << 40, std::size_t{1} << 40, 4});
            }).find("more cells"),
            std::string::npos);
  EXPECT_NE(message_of<invalid_argument>([] {
              decomposition<2>::with_grid({5, 1}, {4, 4});
            }).find("5 ranks cannot divide"),
            std::string::npos);
  EXPECT_NE(
      message_of<std::out_of_range>([] { decomposition<1>(2, {4}).part(2, 0); }).find("rank 2"),
      std::string::npos);
  std::vector<double> x(64);
  const decomposition<1> cut(3, {7});  // 3, 2, 2 cells
  for (const std::size_t width : {0u, 3u}) {
    for (std::size_t rank = 0; rank < 3; ++rank) {  // also where the width would fit
      EXPECT_NE(message_of<invalid_argument>([&] {
                  static_cast<void>(cut.neighbours(rank, x.data(), width));
                }).find("take a width of 1 to 2"),
                std::string::npos);
    }
  }
}

TEST(halo_block, a_box_in_one_piece_needs_no_datatype_of_its_own) {
  using lockstep::mpi::block_of;
  double x[3][4][5];
  double* const all = &x[0][0][0];
  const auto is_one_piece = [](const halo_block& box, const double* first, int count) {
    return box.owner == nullptr && box.first == first && box.count == count &&
           box.type == MPI_DOUBLE;
  };
  EXPECT_TRUE(is_one_piece(block_of(all, {3, 4, 5}, {3, 4, 5}, {0, 0, 0}), all, 60));
  EXPECT_TRUE(is_one_piece(block_of(all, {3, 4, 5}, {1, 1, 3}, {1, 2, 1}), &x[1][2][1], 3));
  EXPECT_TRUE(is_one_piece(block_of(all, {3, 4, 5}, {1, 2, 5}, {2, 1, 0}), &x[2][1][0], 10));
  EXPECT_NE(block_of(all, {3, 4, 5}, {1, 2, 4}, {0, 0, 0}).owner, nullptr);
  EXPECT_NE(block_of(all, {3, 4, 5}, {2, 2, 5}, {0, 0, 0}).owner, nullptr);
}

TEST(halo_block, boxes_that_are_not_within_their_array_are_refused) {
  using lockstep::mpi::block_of;
  using std::invalid_argument;
  constexpr std::size_t huge = std::size_t{1} << 31;
  int x[4];
  EXPECT_EQ(block_of(x, {4}, {2}, {1}).bytes(), 2 * sizeof(int));
  EXPECT_EQ(halo_block().bytes(), 0u);
  EXPECT_THROW(block_of(x, {4}, {0}, {0}), invalid_argument);
  EXPECT_THROW(block_of(x, {4}, {2}, {3}), invalid_argument);
  EXPECT_THROW(block_of(x, {4}, {1}, {~std::size_t{0}}), invalid_argument);
  EXPECT_THROW(block_of(x, {2, 2}, {2, 3}, {0, 0}), invalid_argument);
  EXPECT_THROW(block_of(x, {huge}, {1}, {0}), invalid_argument);
  EXPECT_THROW(block_of(static_cast<int*>(nullptr), {2}, {1}, {0}), invalid_argument);
  EXPECT_THROW(block_of(x, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1},
                        {0, 0, 0, 0, 0, 0, 0, 0, 0}),
               invalid_argument);
}

}  // namespace
