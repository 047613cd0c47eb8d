// SPDX-License-Identifier: MIT
#include "inpaint/membrane.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/error.hpp"

namespace examples::testing {
namespace {

image picture_of(std::size_t width, std::size_t height,
                 const std::function<std::size_t(std::size_t, std::size_t)>& sample) {
  image picture{width, height, 1, 65'535, {}};
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      picture.samples.push_back(static_cast<std::uint16_t>(sample(x, y)));
    }
  }
  return picture;
}

/// One pixel of eleven is known.
image scattered(std::size_t width, std::size_t height) {
  return picture_of(width, height, [](std::size_t x, std::size_t y) {
    return (x * 5 + y * 3) % 11 == 0 ? 100 + x * y % 1000 : 0;
  });
}

sweep_count fill_by_plan(membrane& of, const sweep_rule& rule, lockstep::team& team) {
  tiled_sweeps sweeps(of, rule);
  lockstep::plan plan(sweeps.graph(), team);
  return sweeps.fill(plan);
}

void expect_same(const membrane& found, const sweep_count& count, const membrane& right,
                 const sweep_count& right_count) {
  ASSERT_EQ(count.sweeps, right_count.sweeps);
  ASSERT_EQ(count.change, right_count.change);
  ASSERT_EQ(found.values(), right.values());
}

TEST(membrane, bands_and_plans_give_the_bits_of_the_order_of_reading) {
  for (const auto& [width, height] : {std::pair{61, 47}, std::pair{3, 90}, std::pair{90, 2}}) {
    const membrane start(
        scattered(static_cast<std::size_t>(width), static_cast<std::size_t>(height)), 0, 1.5);
    for (const std::size_t tile : {5u, 16u, 100u}) {
      sweep_rule rule;
      rule.tile = tile;
      membrane serial = start;
      const sweep_count count = fill_serially(serial, rule);
      EXPECT_TRUE(count.has_converged);
      for (const unsigned members : {1u, 2u, 3u, 8u}) {
        SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height) + ", tiles of " +
                     std::to_string(tile) + ", " + std::to_string(members) + " members");
        lockstep::team team(members);
        membrane bands = start;
        expect_same(bands, fill_by_bands(bands, rule, team), serial, count);
        membrane tiled = start;
        expect_same(tiled, fill_by_plan(tiled, rule, team), serial, count);
      }
    }
  }
}

TEST(membrane, known_pixels_stay_as_they_are_and_others_between_them) {
  const image picture = scattered(50, 40);
  const auto [least, most] = [&] {
    std::vector<std::uint16_t> known;
    std::copy_if(picture.samples.begin(), picture.samples.end(), std::back_inserter(known),
                 [](std::uint16_t sample) { return sample != 0; });
    return std::pair{*std::min_element(known.begin(), known.end()),
                     *std::max_element(known.begin(), known.end())};
  }();
  membrane surface(picture, 0, 1.5);
  EXPECT_TRUE(fill_serially(surface, {}).has_converged);
  const image filled = surface.result();
  for (std::size_t i = 0; i < picture.samples.size(); ++i) {
    if (picture.samples[i] != 0) {
      ASSERT_EQ(filled.samples[i], picture.samples[i]) << "pixel " << i;
    } else {
      ASSERT_GE(filled.samples[i], least) << "pixel " << i;
      ASSERT_LE(filled.samples[i], most) << "pixel " << i;
    }
  }
}

TEST(membrane, a_plane_that_is_held_at_its_edge_is_found) {
  const auto plane = [](std::size_t x, std::size_t y) { return 10 + 20 * x + 30 * y; };
  const image whole = picture_of(30, 20, plane);
  const image edge = picture_of(30, 20, [&](std::size_t x, std::size_t y) {
    return x == 0 || y == 0 || x == 29 || y == 19 ? plane(x, y) : 7;
  });
  membrane surface(edge, 7, 1.7);
  EXPECT_EQ(surface.missing(), 28u * 18u);
  sweep_rule rule;
  rule.tolerance = 1e-6;
  EXPECT_TRUE(fill_serially(surface, rule).has_converged);
  EXPECT_EQ(surface.result().samples, whole.samples);
}

TEST(membrane, says_that_it_has_not_converged) {
  membrane surface(scattered(50, 40), 0, 1.0);
  sweep_rule rule;
  rule.most_sweeps = 20;
  const sweep_count count = fill_serially(surface, rule);
  EXPECT_FALSE(count.has_converged);
  EXPECT_EQ(count.sweeps, 32u) << "the next multiple of the sweeps between two tests";
}

TEST(membrane, refuses_colour_and_pictures_without_a_known_pixel) {
  EXPECT_THROW(membrane({1, 1, 3, 255, {1, 2, 3}}, 0, 1.5), input_error);
  EXPECT_THROW(membrane({2, 1, 1, 255, {9, 9}}, 9, 1.5), input_error);
  EXPECT_NO_THROW(membrane({1, 1, 1, 255, {9}}, 8, 1.5));
}

}  // namespace
}  // namespace examples::testing
