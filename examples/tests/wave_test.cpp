// SPDX-License-Identifier: MIT
#include "audio/wave.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hostile_input.hpp"
#include "program_runner.hpp"

namespace examples::testing {
namespace {

using std::string_literals::operator""s;

wave test_sound(std::size_t channels, std::size_t frames) {
  wave sound{44'100, channels, {}};
  for (std::size_t i = 0; i < channels * frames; ++i) {
    sound.samples.push_back(
        static_cast<std::int16_t>(static_cast<int>(i * 7919 % 65'536) - 32'768));
  }
  return sound;
}

/// Two frames of one channel, byte for byte.
const std::string smallest =
    "RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\xbb\0\0\0\x77\x01\0\x02\0\x10\0"
    "data\x04\0\0\0\x01\0\xfe\xff"s;

TEST(wave, reads_what_the_format_says) {
  const wave sound = parse_wave(smallest, "");
  EXPECT_EQ(sound.rate, 48'000u);
  EXPECT_EQ(sound.channels, 1u);
  EXPECT_EQ(sound.samples, (std::vector<std::int16_t>{1, -2}));
  EXPECT_EQ(to_wave(sound), smallest);
}

TEST(wave, what_is_written_is_read_back) {
  for (const std::size_t channels : {1u, 2u}) {
    const wave sound = test_sound(channels, 100);
    const wave again = parse_wave(to_wave(sound), "");
    EXPECT_EQ(again.rate, sound.rate);
    EXPECT_EQ(again.channels, sound.channels);
    EXPECT_EQ(again.samples, sound.samples);
    EXPECT_EQ(again.frames(), 100u);
  }
}

/// With a chunk of three bytes and its padding between format and data.
std::string with_a_foreign_chunk(std::string bytes) {
  bytes.insert(36, "LIST\x03\0\0\0abc\0"s);
  bytes[4] = static_cast<char>(bytes[4] + 12);
  return bytes;
}

TEST(wave, passes_over_foreign_chunks) {
  EXPECT_EQ(parse_wave(with_a_foreign_chunk(smallest), "").samples,
            parse_wave(smallest, "").samples);
}

TEST(wave, reads_the_shipped_sound) {
  const wave sound = parse_wave(data("plucked.wav"), "plucked.wav");
  EXPECT_EQ(sound.rate, 48'000u);
  EXPECT_EQ(sound.channels, 2u);
  EXPECT_EQ(sound.frames(), 48'000u);
}

TEST(wave, every_truncation_is_refused) {
  expect_truncations_refused(parse_wave, smallest, 0);
  expect_truncations_refused(parse_wave, with_a_foreign_chunk(smallest), 0);
  expect_truncations_refused(parse_wave, to_wave(test_sound(2, 9)), 0);
}

TEST(wave, every_changed_byte_is_read_or_refused_with_its_place) {
  expect_changes_survived(parse_wave, with_a_foreign_chunk(smallest), 50'000);
  expect_changes_survived(parse_wave, to_wave(test_sound(2, 50)), 20'000);
}

}  // namespace
}  // namespace examples::testing
