// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "filter5x5/netpbm.hpp"
#include "filter5x5/png.hpp"
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

TEST(png, what_is_written_is_read_back) {
  for (const std::size_t channels : {1u, 3u}) {
    const image picture = test_picture(37, 21, channels, 255);
    expect_equal(parse_png(to_png(picture), ""), picture);
  }
}

TEST(png, reads_the_shipped_picture) {
  const image picture = parse_png(data("checker.png"), "");
  EXPECT_EQ(picture.width, 32u);
  EXPECT_EQ(picture.height, 32u);
  EXPECT_EQ(picture.channels, 1u);
  EXPECT_EQ(picture.samples[3], 25);
  EXPECT_EQ(picture.samples[4], 230);
}

TEST(png, refuses_to_write_what_its_samples_cannot_hold) {
  EXPECT_THROW(static_cast<void>(to_png(test_picture(2, 2, 1, 254))), input_error);
  EXPECT_THROW(static_cast<void>(to_png(test_picture(2, 2, 1, 65535))), input_error);
}

TEST(png, every_truncation_is_refused) {
  expect_truncations_refused(parse_png, to_png(test_picture(9, 7, 3, 255)), 0);
  expect_truncations_refused(parse_png, data("checker.png"), 0);
}

TEST(png, every_changed_byte_is_refused) {
  // A check sum covers every byte but the signature and the lengths, which are checked themselves.
  const std::string good = data("checker.png");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    expect_place(refusal(parse_png, changed), changed);
  }
}

std::string big_endian(std::uint32_t word) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  return bytes;
}

std::string png_chunk(const std::string& kind, const std::string& data) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char byte : kind + data) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  return big_endian(static_cast<std::uint32_t>(data.size())) + kind + data + big_endian(~sum);
}

/// As small as a file that announces so many pixels of 8 bit can be. What would be unpacked is not there.
std::string announced_png(std::uint32_t width, std::uint32_t height, char colour_type,
                          std::size_t packed) {
  const std::string header =
      big_endian(width) + big_endian(height) + std::string{8, colour_type, 0, 0, 0};
  return std::string("\x89PNG\r\n\x1a\n", 8) + png_chunk("IHDR", header) +
         png_chunk("IDAT", std::string(packed, '\0')) + png_chunk("IEND", "");
}

// A black picture is packed to a thousandth: the announcement has to be refused before it is unpacked.
TEST(png, a_picture_above_the_limit_is_refused_with_its_size_and_the_limit) {
  EXPECT_EQ(refusal(parse_png, announced_png(20'000, 20'000, 0, 390'000)),
            "input: byte 16: too large: 20000 x 20000 pixels, grey; with a border of 2 around them "
            "up to 100000000 samples are read");
  EXPECT_EQ(
      refusal(parse_png, announced_png(6'000, 6'000, 2, 40'000)),
      "input: byte 16: too large: 6000 x 6000 pixels, 3 samples each; with a border of 2 around "
      "them up to 100000000 samples are read");
  // Within the limit by themselves, but not with their borders.
  for (const auto& [width, height] : {std::pair{30'000'000u, 1u}, std::pair{1u, 30'000'000u}}) {
    const std::string message = refusal(parse_png, announced_png(width, height, 0, 30'000));
    EXPECT_NE(message.find("too large"), std::string::npos) << message;
  }
}

TEST(png, data_that_unpack_to_far_more_than_was_announced_are_refused) {
  EXPECT_EQ(refusal(parse_png, announced_png(1, 1, 0, 1'000'000)),
            "input: byte 33: 1000000 bytes of data are too many for 1 x 1 pixels");
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
