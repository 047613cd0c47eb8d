// SPDX-License-Identifier: MIT
// The program inpaint on the shipped picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "filter5x5/netpbm.hpp"
#include "program_runner.hpp"
#include "support/files.hpp"

namespace examples::testing {
namespace {

using words = std::vector<std::string>;

/// The picture that scripts/make/example_data.py takes the known pixels from.
int hills(int x, int y) {
  int height = 20;
  for (const auto& [middle_x, middle_y, radius] :
       {std::array{90, 80, 110}, std::array{270, 150, 140}, std::array{180, 230, 90}}) {
    const int square = (x - middle_x) * (x - middle_x) + (y - middle_y) * (y - middle_y);
    height += std::max(0, radius * radius - square) * 100 / (radius * radius);
  }
  return height;
}

program_run fill(const scratch_directory& scratch, const words& more) {
  words arguments = {"--input", data_path("scattered.pgm")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(INPAINT_PROGRAM, arguments, scratch);
}

TEST(inpaint_program, finds_the_picture_that_the_known_pixels_were_taken_from) {
  const scratch_directory scratch;
  const std::string output = scratch.path("out.pgm");
  ASSERT_EQ(fill(scratch, {"--output", output}).status, 0);
  const image holed = parse_netpbm(data("scattered.pgm"), "");
  const image filled = parse_netpbm(read_file(output), output);
  ASSERT_EQ(filled.samples.size(), holed.samples.size());
  double wrong = 0;
  for (std::size_t i = 0; i < holed.samples.size(); ++i) {
    const int right = hills(static_cast<int>(i % holed.width), static_cast<int>(i / holed.width));
    ASSERT_TRUE(holed.samples[i] == 0 || holed.samples[i] == right) << "pixel " << i;
    if (holed.samples[i] != 0) {
      ASSERT_EQ(filled.samples[i], right) << "pixel " << i;
    }
    wrong += std::abs(filled.samples[i] - right);
  }
  EXPECT_LT(wrong / static_cast<double>(holed.samples.size()), 1.0) << "of 255, on average";
}

TEST(inpaint_program, records_what_it_did) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  const program_run filled =
      fill(scratch, {"--members", "2", "--tile", "64", "--repeat", "2", "--json", record_path});
  ASSERT_EQ(filled.status, 0) << filled.err;
  const std::string record = read_file(record_path);
  EXPECT_EQ(json_at(record, "/members"), "2");
  EXPECT_EQ(json_at(record, "/width"), "384");
  EXPECT_EQ(json_at(record, "/height"), "256");
  EXPECT_EQ(json_at(record, "/tiles"), "24");
  EXPECT_EQ(json_at(record, "/converged"), "true");
  EXPECT_EQ(json_at(record, "/check"), R"("ok")");
  EXPECT_LE(std::stod(json_at(record, "/largest_change")), 1e-3);
}

TEST(inpaint_program, says_by_status_3_that_it_was_stopped_and_writes_where_it_was) {
  const scratch_directory scratch;
  const std::string output = scratch.path("out.pgm");
  const program_run stopped = fill(
      scratch, {"--members", "3", "--max-sweeps", "5", "--tolerance", "0", "--output", output});
  EXPECT_EQ(stopped.status, 3);
  EXPECT_NE(stopped.out.find("sweeps: 16 (NOT converged)"), std::string::npos) << stopped.out;
  EXPECT_NE(stopped.out.find("check: ok\n"), std::string::npos) << stopped.out;
  EXPECT_EQ(parse_netpbm(read_file(output), output).width, 384u);
}

}  // namespace
}  // namespace examples::testing
