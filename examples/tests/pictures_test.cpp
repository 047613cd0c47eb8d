// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "filter5x5/netpbm.hpp"
#include "hostile_input.hpp"
#include "program_runner.hpp"

namespace examples::testing {
namespace {

using samples = std::vector<std::uint16_t>;

/// With a different value everywhere, for a small picture.
image test_picture(std::size_t width, std::size_t height, std::size_t channels,
                   std::uint32_t max_value) {
  image picture{width, height, channels, max_value, {}};
  for (std::size_t i = 0; i < width * height * channels; ++i) {
    picture.samples.push_back(static_cast<std::uint16_t>(i * 131 % (max_value + 1)));
  }
  return picture;
}

void expect_equal(const image& a, const image& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.channels, b.channels);
  EXPECT_EQ(a.max_value, b.max_value);
  EXPECT_EQ(a.samples, b.samples);
}

TEST(netpbm, reads_text_with_comments_in_the_header) {
  const image grey = parse_netpbm("P2 # c 9 9\n#\n3\t2#\n# 7\n300\n1 2 3\n\n300 0 +5 \r\n", "");
  expect_equal(grey, {3, 2, 1, 300, {1, 2, 3, 300, 0, 5}});
  const image colour = parse_netpbm("P3\n1 2\n9\n1 2 3 4 5 6", "");
  expect_equal(colour, {1, 2, 3, 9, {1, 2, 3, 4, 5, 6}});
}

TEST(netpbm, takes_one_white_space_before_binary_samples_and_no_comment_in_them) {
  expect_equal(parse_netpbm("P5 3 1 255\n\n# ", ""), {3, 1, 1, 255, {'\n', '#', ' '}});
}

TEST(netpbm, sixteen_bit_samples_have_the_high_byte_first) {
  const std::string bytes("P5\n2 1\n65535\n\x01\x02\xff\x00", 17);
  expect_equal(parse_netpbm(bytes, ""), {2, 1, 1, 65535, {0x102, 0xff00}});
}

TEST(netpbm, what_is_written_is_read_back) {
  for (const std::size_t channels : {1u, 3u}) {
    for (const std::uint32_t max_value : {1u, 100u, 255u, 256u, 65535u}) {
      const image picture = test_picture(7, 5, channels, max_value);
      expect_equal(parse_netpbm(to_netpbm(picture), ""), picture);
    }
  }
}

TEST(netpbm, every_truncation_is_refused) {
  expect_truncations_refused(parse_netpbm, to_netpbm(test_picture(5, 4, 3, 255)), 0);
  expect_truncations_refused(parse_netpbm, to_netpbm(test_picture(5, 4, 1, 999)), 0);
  expect_truncations_refused(parse_netpbm, "P2\n2 2\n9\n1 2\n3 4\n", 1);
}

TEST(netpbm, every_changed_byte_is_read_or_refused_with_its_place) {
  expect_changes_survived(parse_netpbm, to_netpbm(test_picture(5, 4, 3, 200)), 50'000);
  expect_changes_survived(parse_netpbm, data("deep_ramp.pgm"), 20'000);
}

TEST(image, no_size_is_too_large_for_the_check_of_sizes) {
  constexpr std::uint64_t most = 0x7fffffff;
  EXPECT_NE(why_too_large(most, most, 3), "");
  EXPECT_NE(why_too_large(most, 1, 1), "");
  EXPECT_NE(why_too_large(1, most, 3), "");
  EXPECT_EQ(why_too_large(9'996, 9'996, 1), "");
  EXPECT_NE(why_too_large(9'997, 9'996, 1), "");
}

}  // namespace
}  // namespace examples::testing
