// SPDX-License-Identifier: MIT
#include "filter5x5/convolve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace examples::testing {
namespace {

image random_picture(std::size_t width, std::size_t height, std::size_t channels,
                     std::uint32_t max_value) {
  std::mt19937 random(7);  // NOLINT: the same picture in every run
  image picture{width, height, channels, max_value, {}};
  for (std::size_t i = 0; i < width * height * channels; ++i) {
    picture.samples.push_back(static_cast<std::uint16_t>(random() % (max_value + 1)));
  }
  return picture;
}

std::vector<std::uint16_t> filtered(const image& picture, const kernel5x5& kernel, simd mode) {
  convolution filter(picture, kernel, mode);
  for (std::size_t row = 0; row < filter.padded_rows(); ++row) filter.pad_row(row);
  for (std::size_t row = 0; row < filter.rows(); ++row) filter.filter_row(row);
  return filter.result().samples;
}

/// The definition, in whole numbers.
std::uint16_t expected_sample(const image& picture, const kernel5x5& kernel, std::size_t x,
                              std::size_t y, std::size_t channel) {
  const auto clamped = [](std::size_t place, std::size_t offset, std::size_t size) {
    const auto moved = static_cast<std::ptrdiff_t>(place + offset) - 2;
    return static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(moved, 0, static_cast<std::ptrdiff_t>(size) - 1));
  };
  long sum = 0;
  for (std::size_t tap = 0; tap < 25; ++tap) {
    const std::size_t from_x = clamped(x, tap % 5, picture.width);
    const std::size_t from_y = clamped(y, tap / 5, picture.height);
    const std::size_t index = (from_y * picture.width + from_x) * picture.channels + channel;
    sum += std::lround(kernel.weights[tap]) * picture.samples[index];
  }
  const long rounded = static_cast<long>(std::floor(static_cast<double>(sum) * kernel.scale + 0.5));
  return static_cast<std::uint16_t>(std::clamp<long>(rounded, 0, picture.max_value));
}

TEST(convolution, is_the_definition_with_edges_clamped) {
  for (const std::string name : {"blur", "sharpen", "edge"}) {
    const kernel5x5 kernel = parse_kernel(name, std::nullopt, 0);
    for (const std::size_t channels : {1u, 3u}) {
      // From smaller than the kernel to one vector step and a rest.
      for (const std::size_t width : {1u, 2u, 3u, 5u, 19u}) {
        const image picture = random_picture(width, 4, channels, 255);
        const std::vector<std::uint16_t> result = filtered(picture, kernel, simd::off);
        for (std::size_t i = 0; i < result.size(); ++i) {
          const std::size_t pixel = i / channels;
          ASSERT_EQ(result[i],
                    expected_sample(picture, kernel, pixel % width, pixel / width, i % channels))
              << name << ", width " << width << ", sample " << i;
        }
      }
    }
  }
}

TEST(convolution, gives_the_same_bits_with_and_without_vectors) {
  if (!has_simd()) GTEST_SKIP() << "this compiler has no vectors that the program knows";
  // Weights whose sums are rounded at every step.
  kernel5x5 kernel;
  std::mt19937 random(3);  // NOLINT: the same weights in every run
  for (float& weight : kernel.weights) weight = static_cast<float>(random() % 2001) / 3000 - 0.3f;
  kernel.scale = 0.37f;
  kernel.bias = 11.3f;
  for (std::size_t width = 1; width <= 50; ++width) {
    for (const std::uint32_t max_value : {255u, 65535u}) {
      const image picture = random_picture(width, 3, 3, max_value);
      ASSERT_EQ(filtered(picture, kernel, simd::on), filtered(picture, kernel, simd::off))
          << "width " << width << ", maxval " << max_value;
    }
  }
}

TEST(convolution, cuts_to_the_sample_range) {
  const image picture = random_picture(17, 3, 1, 1000);
  for (const double scale : {-1.0, 1e29}) {
    const std::uint16_t expected = scale < 0 ? 0 : 1000;
    const kernel5x5 kernel = parse_kernel("blur", scale, scale < 0 ? -1 : 1);
    for (const simd mode : {simd::off, has_simd() ? simd::on : simd::off}) {
      EXPECT_EQ(filtered(picture, kernel, mode), std::vector<std::uint16_t>(17 * 3, expected));
    }
  }
}

TEST(convolution, clear_makes_the_result_black) {
  const image picture = random_picture(4, 4, 1, 255);
  const kernel5x5 kernel = parse_kernel("blur", std::nullopt, 0);
  convolution filter(picture, kernel, simd::off);
  for (std::size_t row = 0; row < filter.padded_rows(); ++row) filter.pad_row(row);
  filter.filter_row(0);
  filter.clear();
  EXPECT_EQ(filter.result().samples, std::vector<std::uint16_t>(16, 0));
}

TEST(kernel, an_even_picture_stays_under_blur_and_sharpen_and_turns_black_under_edge) {
  const image even{6, 6, 1, 255, std::vector<std::uint16_t>(36, 200)};
  const auto apply = [&](const char* name) {
    return filtered(even, parse_kernel(name, std::nullopt, 0), simd::off);
  };
  EXPECT_EQ(apply("blur"), even.samples);
  EXPECT_EQ(apply("sharpen"), even.samples);
  EXPECT_EQ(apply("edge"), std::vector<std::uint16_t>(36, 0));
}

}  // namespace
}  // namespace examples::testing
