// SPDX-License-Identifier: MIT
// tests/loop/collapse_test.cpp -- nested ranges as one, exhaustively for small numbers
#include <lockstep/detail/loop/leaf_loop.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using lockstep::index_range;
using lockstep::index_range_2;
using lockstep::index_range_3;
using lockstep::detail::iterations_of;

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
constexpr std::size_t half_bits = std::size_t{1}
                                  << (sizeof(std::size_t) * 4);  // squared: one too many

static_assert(iterations_of(index_range_2{{2, 5}, {1, 8}}) == 21, "constexpr");
static_assert(iterations_of(index_range_3{{2, 5}, {1, 8}, {0, 2}}) == 42, "constexpr");

using pairs = std::vector<std::array<std::size_t, 2>>;
using triples = std::vector<std::array<std::size_t, 3>>;

pairs nested(const index_range_2& of) {
  pairs all;
  for (std::size_t i = of.rows.first; i < of.rows.last; ++i) {
    for (std::size_t j = of.columns.first; j < of.columns.last; ++j) all.push_back({i, j});
  }
  return all;
}
triples nested(const index_range_3& of) {
  triples all;
  for (std::size_t i = of.planes.first; i < of.planes.last; ++i) {
    for (std::size_t j = of.rows.first; j < of.rows.last; ++j) {
      for (std::size_t k = of.columns.first; k < of.columns.last; ++k) all.push_back({i, j, k});
    }
  }
  return all;
}

pairs collapsed(const index_range_2& of, std::size_t first, std::size_t last) {
  pairs all;
  const auto note = [&](std::size_t i, std::size_t j) { all.push_back({i, j}); };
  lockstep::detail::each_of_nested(of, note)(first, last);
  return all;
}
triples collapsed(const index_range_3& of, std::size_t first, std::size_t last) {
  triples all;
  const auto note = [&](std::size_t i, std::size_t j, std::size_t k) { all.push_back({i, j, k}); };
  lockstep::detail::each_of_nested(of, note)(first, last);
  return all;
}

/// Every chunk of the numbers gives that part of what nested loops give.
template <class Ranges>
void expect_every_chunk(const Ranges& of) {
  const auto all = nested(of);
  using offset = typename decltype(all.begin())::difference_type;
  ASSERT_EQ(iterations_of(of), all.size());
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t last = first; last <= all.size(); ++last) {
      const decltype(nested(of)) part(all.begin() + static_cast<offset>(first),
                                      all.begin() + static_cast<offset>(last));
      ASSERT_EQ(collapsed(of, first, last), part) << first << " to " << last;
    }
    ASSERT_TRUE(collapsed(of, first, 0).empty());
  }
}

TEST(collapse, CHUNKS_5_every_chunk_of_every_small_pair_of_ranges_is_a_part_of_the_nested_loops) {
  for (std::size_t rows = 0; rows <= 6; ++rows) {
    for (std::size_t columns = 0; columns <= 6; ++columns) {
      expect_every_chunk(index_range_2{{0, rows}, {0, columns}});
      expect_every_chunk(index_range_2{{10, 10 + rows}, {7, 7 + columns}});
      expect_every_chunk(index_range_2{{most - rows, most}, {most - columns, most}});
    }
  }
}

TEST(collapse, CHUNKS_5_every_chunk_of_every_small_triple_of_ranges_is_a_part_of_the_nested_loops) {
  for (std::size_t planes = 0; planes <= 4; ++planes) {
    for (std::size_t rows = 0; rows <= 4; ++rows) {
      for (std::size_t columns = 0; columns <= 4; ++columns) {
        expect_every_chunk(index_range_3{{0, planes}, {0, rows}, {0, columns}});
        expect_every_chunk(
            index_range_3{{most - planes, most}, {most - rows, most}, {5, 5 + columns}});
        expect_every_chunk(index_range_3{{1, 1 + planes}, {2, 2 + rows}, {most - columns, most}});
      }
    }
  }
}

TEST(collapse, CHUNKS_5_numbers_up_to_the_largest_are_told_apart) {
  // most = 3 * (most / 3), as 2^32 - 1 and 2^64 - 1 both are.
  const index_range_2 wide{{5, 8}, {0, most / 3}}, high{{0, most / 3}, {5, 8}};
  EXPECT_EQ(iterations_of(wide), most);
  EXPECT_EQ(collapsed(wide, most - 1, most), (pairs{{7, most / 3 - 1}}));
  EXPECT_EQ(collapsed(wide, most / 3 - 1, most / 3 + 1), (pairs{{5, most / 3 - 1}, {6, 0}}));
  EXPECT_EQ(collapsed(high, most - 2, most), (pairs{{most / 3 - 1, 6}, {most / 3 - 1, 7}}));
  const index_range_3 thin{{0, 1}, {0, most / 3}, {5, 8}};
  EXPECT_EQ(iterations_of(thin), most);
  EXPECT_EQ(collapsed(thin, most - 1, most), (triples{{0, most / 3 - 1, 7}}));
}

TEST(collapse, CHUNKS_5_an_empty_or_backward_range_makes_no_iterations_however_long_the_others) {
  const index_range all{0, most}, none{4, 4}, backward{9, 3};
  for (const index_range empty : {none, backward}) {
    EXPECT_EQ(iterations_of(index_range_2{all, empty}), 0u);
    EXPECT_EQ(iterations_of(index_range_2{empty, all}), 0u);
    EXPECT_EQ(iterations_of(index_range_3{empty, all, all}), 0u);
    EXPECT_EQ(iterations_of(index_range_3{all, empty, all}), 0u);
    EXPECT_EQ(iterations_of(index_range_3{all, all, empty}), 0u);
  }
}

std::string refusal(const std::function<std::size_t()>& count) {
  try {
    return "counted " + std::to_string(count());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(collapse, CHUNKS_5_more_iterations_than_can_be_counted_are_refused_by_name) {
  const std::string h = std::to_string(half_bits), m = std::to_string(most);
  const index_range half{0, half_bits}, one_less{1, half_bits}, one{0, 1}, two{0, 2};
  EXPECT_EQ(refusal([&] { return iterations_of(index_range_2{half, half}); }),
            "lockstep: a loop over " + h + " x " + h + " iterations is too long, must be " + m +
                " in all at most");
  EXPECT_EQ(refusal([&] { return iterations_of(index_range_3{half, two, half}); }),
            "lockstep: a loop over " + h + " x 2 x " + h + " iterations is too long, must be " + m +
                " in all at most");
  EXPECT_EQ(iterations_of(index_range_2{half, one_less}), half_bits * (half_bits - 1));
  EXPECT_EQ(iterations_of(index_range_3{half, one, one_less}), half_bits * (half_bits - 1));
  // Too many in the first two already, in the last two only, and in all three only.
  EXPECT_NE(refusal([&] { return iterations_of(index_range_3{half, half, one}); }).find("too long"),
            std::string::npos);
  EXPECT_NE(refusal([&] { return iterations_of(index_range_3{one, half, half}); }).find("too long"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              return iterations_of(index_range_3{two, one_less, one_less});
            }).find("too long"),
            std::string::npos);
}

}  // namespace
