// SPDX-License-Identifier: MIT
// The program filter5x5 on the shipped pictures.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "filter5x5/netpbm.hpp"
#include "program_runner.hpp"
#include "support/files.hpp"

namespace examples::testing {
namespace {

const std::string identity = "0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0";
TEST(filter5x5_program, leaves_a_picture_as_it_is_when_only_the_centre_has_weight) {
  const scratch_directory scratch;
  const std::string output = scratch.path("same.pgm");
  for (const auto& [name, members, simd] :
       {std::tuple<std::string, std::string, std::string>{"rings.pgm", "2", "on"},
        {"rings.pgm", "7", "off"},
        {"deep_ramp.pgm", "1", "on"},
        {"deep_ramp.pgm", "7", "on"}}) {
    const program_run filtered = run(FILTER_PROGRAM,
                                     {"--input", data_path(name), "--kernel", identity, "--members",
                                      members, "--simd", simd, "--output", output},
                                     scratch);
    ASSERT_EQ(filtered.status, 0) << filtered.err;
    EXPECT_NE(filtered.out.find("check: ok\n"), std::string::npos) << filtered.out;
    EXPECT_EQ(parse_netpbm(read_file(output), output).samples,
              parse_netpbm(data(name), name).samples);
  }
}

TEST(filter5x5_program, applies_scale_and_bias) {
  const scratch_directory scratch;
  const std::string output = scratch.path("negative.pgm");
  const program_run filtered = run(FILTER_PROGRAM,
                                   {"--input", data_path("rings.pgm"), "--kernel", identity,
                                    "--scale", "-1", "--bias", "255", "--output", output},
                                   scratch);
  ASSERT_EQ(filtered.status, 0) << filtered.err;
  const image positive = parse_netpbm(data("rings.pgm"), "rings.pgm");
  const image negative = parse_netpbm(read_file(output), output);
  ASSERT_EQ(negative.samples.size(), positive.samples.size());
  for (std::size_t i = 0; i < positive.samples.size(); ++i) {
    ASSERT_EQ(negative.samples[i], 255 - positive.samples[i]) << "sample " << i;
  }
}

TEST(filter5x5_program, records_what_it_did) {
  const scratch_directory scratch;
  const std::string record_path = scratch.path("record.json");
  const program_run filtered = run(FILTER_PROGRAM,
                                   {"--input", data_path("gradient.ppm"), "--members", "2",
                                    "--policy", "block", "--json", record_path},
                                   scratch);
  ASSERT_EQ(filtered.status, 0) << filtered.err;
  const std::string record = read_file(record_path);
  EXPECT_EQ(json_at(record, "/members"), "2");
  EXPECT_EQ(json_at(record, "/policy"), R"("block")");
  EXPECT_EQ(json_at(record, "/width"), "64");
  EXPECT_EQ(json_at(record, "/height"), "48");
  EXPECT_EQ(json_at(record, "/channels"), "3");
  EXPECT_EQ(json_at(record, "/check"), R"("ok")");
}

}  // namespace
}  // namespace examples::testing
