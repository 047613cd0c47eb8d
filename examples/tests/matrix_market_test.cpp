// SPDX-License-Identifier: MIT
#include "support/matrix_market.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "hostile_input.hpp"
#include "program_runner.hpp"

namespace examples::testing {
namespace {

std::vector<double> values_of(const market_matrix& matrix) {
  std::vector<double> values;
  for (const matrix_entry& entry : matrix.entries) values.push_back(entry.value);
  return values;
}

TEST(matrix_market, reads_coordinates_with_comments_blank_lines_and_line_ends_of_any_kind) {
  const market_matrix matrix = parse_matrix_market(
      "%%MatrixMarket MATRIX Coordinate REAL Symmetric\r\n"
      "% comment\n"
      "\n"
      "  % another\r\n"
      "\t3 3  2\r\n"
      "\r\n"
      " 1 1 +2.5e0 \n"
      "3\t1 -1",
      "name");
  EXPECT_EQ(matrix.name, "name");
  EXPECT_TRUE(matrix.is_symmetric);
  EXPECT_FALSE(matrix.is_array);
  EXPECT_EQ(matrix.rows, 3u);
  EXPECT_EQ(matrix.columns, 3u);
  EXPECT_EQ(matrix.size_line, 5u);
  ASSERT_EQ(matrix.entries.size(), 2u);
  EXPECT_EQ(place(matrix.entries[1]), std::make_pair(2u, 0u));
  EXPECT_EQ(matrix.entries[1].line, 8u);
  EXPECT_EQ(values_of(matrix), (std::vector<double>{2.5, -1}));
}

TEST(matrix_market, reads_arrays_column_by_column) {
  const market_matrix full = parse_matrix_market(
      "%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n", "");
  ASSERT_EQ(full.entries.size(), 6u);
  EXPECT_EQ(place(full.entries[3]), std::make_pair(1u, 1u));
  EXPECT_EQ(values_of(full), (std::vector<double>{1, 2, 3, 4, 5, 6}));

  const market_matrix lower =
      parse_matrix_market("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", "");
  ASSERT_EQ(lower.entries.size(), 3u);
  EXPECT_EQ(place(lower.entries[1]), std::make_pair(1u, 0u));
  EXPECT_EQ(place(lower.entries[2]), std::make_pair(1u, 1u));
}

TEST(matrix_market, accepts_a_coordinate_matrix_without_entries) {
  const market_matrix empty =
      parse_matrix_market("%%MatrixMarket matrix coordinate real general\n2 3 0\n", "");
  EXPECT_EQ(empty.columns, 3u);
  EXPECT_TRUE(empty.entries.empty());
}

TEST(matrix_market, integers_are_read_only_as_far_as_a_double_holds_them) {
  const auto parse = [](const std::string& value) {
    return refusal(parse_matrix_market,
                   "%%MatrixMarket matrix array integer general\n1 1\n" + value);
  };
  EXPECT_EQ(parse("9007199254740992"), "");
  EXPECT_EQ(parse("9007199254740993"),
            "input:3: value 9007199254740993 does not fit into a double exactly");
}

TEST(matrix_market, what_is_written_is_read_back_bit_for_bit) {
  const std::vector<double> values = {0.1,    -1.0 / 3, 1e300,
                                      5e-324, 0,        std::numeric_limits<double>::max()};
  const std::string text = to_matrix_market(values, "comment\nin two lines");
  const market_matrix matrix = parse_matrix_market(text, "");
  EXPECT_EQ(matrix.rows, values.size());
  EXPECT_EQ(matrix.columns, 1u);
  EXPECT_EQ(values_of(matrix), values);
}

TEST(matrix_market, every_truncation_is_refused) {
  // Without the last byte, the line end, the text is still complete; and without the last digit
  // or two of "1.500000" it is still a number.
  expect_truncations_refused(parse_matrix_market,
                             "%%MatrixMarket matrix coordinate real symmetric\n% c\n2 2 3\n1 1 2\n"
                             "2 1 -1\n2 2 7\n",
                             1);
  expect_truncations_refused(parse_matrix_market,
                             "%%MatrixMarket matrix array real general\n2 1\n1.5\n7\n", 1);
}

TEST(matrix_market, every_changed_byte_is_read_or_refused_with_its_line) {
  expect_changes_survived(parse_matrix_market, data("dense_12_rhs.mtx"), 20'000);
  expect_changes_survived(parse_matrix_market,
                          "%%MatrixMarket matrix coordinate real symmetric\n% c\n2 2 3\n1 1 2\n"
                          "2 1 -1\n2 2 7\n",
                          50'000);
}

}  // namespace
}  // namespace examples::testing
