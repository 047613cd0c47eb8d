// SPDX-License-Identifier: MIT
#include "jacobi/solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hostile_input.hpp"
#include "program_runner.hpp"
#include "support/linear_system.hpp"
#include "support/matrix_market.hpp"

namespace examples::testing {
namespace {

const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

linear_system system_from(const std::string& matrix) {
  return make_linear_system(parse_matrix_market(matrix, "input"), std::nullopt);
}
std::string system_refusal(const std::string& matrix) {
  return refusal(
      [](std::string_view text, std::string_view name) {
        return make_linear_system(parse_matrix_market(text, name), std::nullopt);
      },
      matrix);
}

/// A chain of `size` unknowns with the stencil -1 `diagonal` -1.
std::string chain(unsigned size, const std::string& diagonal) {
  std::string text = symmetric + std::to_string(size) + " " + std::to_string(size) + " " +
                     std::to_string(2 * size - 1) + "\n";
  for (unsigned i = 1; i <= size; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " " + diagonal + "\n";
    if (i < size) text += std::to_string(i + 1) + " " + std::to_string(i) + " -1\n";
  }
  return text;
}

TEST(linear_system, has_both_triangles_of_a_symmetric_matrix_by_rows) {
  const linear_system system =
      system_from(symmetric + "3 3 5\n3 3 9\n3 1 -2\n1 1 5\n2 2 4\n3 2 1\n");
  EXPECT_EQ(system.diagonal, (std::vector<double>{5, 4, 9}));
  EXPECT_EQ(system.row_begin, (std::vector<std::size_t>{0, 1, 2, 4}));
  EXPECT_EQ(system.column, (std::vector<std::uint32_t>{2, 2, 0, 1}));
  EXPECT_EQ(system.value, (std::vector<double>{-2, 1, -2, 1}));
  EXPECT_EQ(system.right_side, (std::vector<double>{3, 5, 8}));
}

TEST(linear_system, is_the_same_from_general_and_symmetric_storage) {
  const linear_system half = system_from(symmetric + "2 2 3\n1 1 2\n2 1 -1\n2 2 2\n");
  const linear_system full =
      system_from("%%MatrixMarket matrix array real general\n2 2\n2\n-1\n-1\n2\n");
  EXPECT_EQ(half.diagonal, full.diagonal);
  EXPECT_EQ(half.column, full.column);
  EXPECT_EQ(half.value, full.value);
}

TEST(linear_system, rows_may_be_weakly_dominant_if_a_strict_one_is_connected) {
  EXPECT_EQ(system_refusal(chain(50, "2")), "");
  EXPECT_EQ(system_refusal(symmetric + "2 2 3\n1 1 1\n2 1 -1\n2 2 1\n"),
            "input:3: row 1 is connected with no strictly diagonally dominant row: the matrix may "
            "be singular");
}

TEST(linear_system, a_stored_zero_connects_nothing) {
  // Rows 1 and 2 alone are singular; only zeros lie between them and the strict row 3.
  EXPECT_EQ(system_refusal("%%MatrixMarket matrix array real general\n"
                           "3 3\n1\n-1\n0\n-1\n1\n0\n0\n0\n1\n"),
            "input:3: row 1 is connected with no strictly diagonally dominant row: the matrix may "
            "be singular");
}

TEST(linear_system, a_generated_right_side_that_overflows_is_refused) {
  EXPECT_EQ(system_refusal(symmetric + "2 2 3\n1 1 1.7e308\n2 1 1.6e308\n2 2 1.7e308\n"),
            "input:3: the sum of row 1 is too large");
}

class solver : public ::testing::TestWithParam<unsigned> {};

TEST_P(solver, gives_the_bits_of_the_serial_run_with_this_many_members) {
  lockstep::team team(GetParam());
  // 1 unknown: most members have no row. 33: a block of one row. 577 is a prime.
  for (const unsigned size : {1u, 2u, 31u, 32u, 33u, 577u}) {
    const linear_system system = system_from(chain(size, "2.5"));
    const solution serial = solve_serial(system, {});
    ASSERT_TRUE(serial.has_converged) << size;
    EXPECT_TRUE(are_identical(serial, solve_on_team(system, {}, team))) << size << " unknowns";
  }
}

INSTANTIATE_TEST_SUITE_P(members, solver, ::testing::Values(1u, 2u, 3u, 5u, 8u, 16u));

TEST(solver, converges_on_a_weakly_dominant_system) {
  const linear_system system = system_from(chain(20, "2"));
  const solution answer = solve_serial(system, {1e-12, 100'000});
  EXPECT_TRUE(answer.has_converged);
  for (const double x : answer.x) EXPECT_NEAR(x, 1, 1e-9);
}

TEST(solver, answers_a_zero_right_side_at_once) {
  linear_system system = system_from(chain(40, "2.5"));
  system.right_side.assign(40, 0.0);
  const solution answer = solve_serial(system, {});
  EXPECT_TRUE(answer.has_converged);
  EXPECT_EQ(answer.iterations, 0u);
  EXPECT_EQ(answer.x, std::vector<double>(40, 0.0));
}

TEST(solver, stops_at_the_iteration_limit_on_every_member) {
  const linear_system system = system_from(chain(100, "2"));
  lockstep::team team(3);
  const stopping_rule rule{0, 7};
  const solution answer = solve_on_team(system, rule, team);
  EXPECT_EQ(answer.iterations, 7u);
  EXPECT_FALSE(answer.has_converged);
  EXPECT_TRUE(are_identical(answer, solve_serial(system, rule)));
}

TEST(solver, works_at_both_ends_of_the_range_of_double) {
  // The square of each of these numbers is infinite or zero.
  for (const std::string power : {"e200", "e-200"}) {
    const linear_system system =
        system_from(symmetric + "2 2 3\n1 1 4" + power + "\n2 1 -1" + power + "\n2 2 4" + power);
    const solution answer = solve_serial(system, {});
    EXPECT_TRUE(answer.has_converged) << power;
    EXPECT_NEAR(answer.x[0], 1, 1e-9) << power;
  }
}

TEST(solver, refuses_numbers_that_grow_beyond_double) {
  linear_system system = system_from(symmetric + "2 2 3\n1 1 1e308\n2 1 -9e307\n2 2 1e308\n");
  system.right_side = {1e308, 1e308};
  lockstep::team team(2);
  EXPECT_THROW(static_cast<void>(solve_serial(system, {})), input_error);
  EXPECT_THROW(static_cast<void>(solve_on_team(system, {}, team)), input_error);
}

TEST(are_identical, sees_every_single_difference) {
  const solution base{{1, 0, 3}, 4, 0.5, true};
  EXPECT_TRUE(are_identical(base, base));
  std::vector<solution> others(6, base);
  others[0].x[1] = -0.0;  // equal as a number, another pattern of bits
  others[1].x[2] = std::nextafter(3, 4);
  others[2].x.pop_back();
  others[3].iterations = 5;
  others[4].residual = std::nextafter(0.5, 1);
  others[5].has_converged = false;
  for (const solution& other : others) EXPECT_FALSE(are_identical(base, other));
}

}  // namespace
}  // namespace examples::testing
