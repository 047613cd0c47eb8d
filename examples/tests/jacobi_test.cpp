// SPDX-License-Identifier: MIT
// The program jacobi on the shipped systems.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "program_runner.hpp"
#include "support/files.hpp"
#include "support/matrix_market.hpp"

namespace examples::testing {
namespace {

struct shipped_system {
  const char* matrix;
  const char*
      right_side;  // nullptr: generated, and the solution is 1, 1, ...; else it is 1, 2, ...
};

void PrintTo(const shipped_system& system, std::ostream* out) { *out << system.matrix; }

class jacobi : public ::testing::TestWithParam<shipped_system> {
 protected:
  program_run solve(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"--matrix", data_path(GetParam().matrix)};
    if (GetParam().right_side != nullptr) {
      arguments.insert(arguments.end(), {"--rhs", data_path(GetParam().right_side)});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(JACOBI_PROGRAM, arguments, scratch_);
  }

  scratch_directory scratch_;
};

TEST_P(jacobi, finds_the_known_solution) {
  const std::string output = scratch_.path("x.mtx");
  ASSERT_EQ(solve({"--output", output}).status, 0);
  const market_matrix x = parse_matrix_market(read_file(output), output);
  ASSERT_EQ(x.columns, 1u);
  for (const matrix_entry& entry : x.entries) {
    const double expected = GetParam().right_side == nullptr ? 1 : entry.row + 1;
    EXPECT_NEAR(entry.value, expected, 1e-7 * expected) << "row " << entry.row + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(shipped, jacobi,
                         ::testing::Values(shipped_system{"poisson_24x24.mtx", nullptr},
                                           shipped_system{"poisson_64x64.mtx", nullptr},
                                           shipped_system{"dense_12.mtx", "dense_12_rhs.mtx"}));

TEST(jacobi_program, agrees_with_the_serial_run_under_every_wait_policy) {
  const scratch_directory scratch;
  for (const std::string policy : {"default", "spin", "block", "hybrid:2000"}) {
    const program_run solved = run(JACOBI_PROGRAM,
                                   {"--matrix", data_path("dense_12.mtx"), "--members", "2",
                                    "--repeat", "3", "--policy", policy},
                                   scratch);
    EXPECT_EQ(solved.status, 0) << policy << ": " << solved.err;
    EXPECT_NE(solved.out.find("check: ok\n"), std::string::npos) << policy << ": " << solved.out;
  }
}

TEST(jacobi_program, records_what_it_prints) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  const program_run solved = run(JACOBI_PROGRAM,
                                 {"--matrix", data_path("dense_12.mtx"), "--members", "2",
                                  "--repeat", "3", "--json", record_path},
                                 scratch);
  ASSERT_EQ(solved.status, 0) << solved.err;
  const std::string record = read_file(record_path);
  EXPECT_EQ(json_at(record, "/members"), "2");
  EXPECT_EQ(json_at(record, "/repeat"), "3");
  EXPECT_EQ(json_at(record, "/unknowns"), "12");
  EXPECT_EQ(json_at(record, "/check"), R"("ok")");
  EXPECT_LE(std::stod(json_at(record, "/relative_residual")),
            std::stod(json_at(record, "/tolerance")));
  const std::string iterations = "iterations: " + json_at(record, "/iterations") + " (converged)";
  EXPECT_NE(solved.out.find(iterations), std::string::npos) << solved.out;
}

TEST(jacobi_program, says_by_status_3_that_it_was_stopped_and_writes_where_it_was) {
  const scratch_directory scratch;
  const std::string output = scratch.path("x.mtx");
  const program_run stopped = run(JACOBI_PROGRAM,
                                  {"--matrix", data_path("poisson_24x24.mtx"), "--members", "3",
                                   "--max-iterations", "5", "--output", output},
                                  scratch);
  EXPECT_EQ(stopped.status, 3);
  EXPECT_NE(stopped.out.find("iterations: 5 (NOT converged)"), std::string::npos) << stopped.out;
  EXPECT_NE(stopped.out.find("check: ok\n"), std::string::npos) << stopped.out;
  EXPECT_EQ(parse_matrix_market(read_file(output), output).rows, 576u);
}

}  // namespace
}  // namespace examples::testing
