// SPDX-License-Identifier: MIT
#include "audio/effects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace examples::testing {
namespace {

/// A sound of one second at 48 000 frames.
wave sound_of(std::size_t channels, const std::function<double(std::size_t)>& sample) {
  wave sound{48'000, channels, {}};
  for (std::size_t i = 0; i < 48'000; ++i) {
    for (std::size_t c = 0; c < channels; ++c) {
      sound.samples.push_back(static_cast<std::int16_t>(std::lround(sample(i) * 32'767)));
    }
  }
  return sound;
}

wave tone(double frequency, double loudness, std::size_t channels = 1) {
  return sound_of(channels, [=](std::size_t i) {
    return loudness * std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / 48'000);
  });
}

wave processed(const wave& sound, const effect_settings& settings) {
  effects chain(sound, settings);
  for (std::size_t block = 0; block < chain.blocks(); ++block) chain.process();
  return chain.output();
}

wave planned(const wave& sound, const effect_settings& settings, std::size_t members) {
  effects chain(sound, settings);
  const lockstep::graph graph = chain.graph();
  lockstep::team team(static_cast<unsigned>(members));
  lockstep::plan plan(graph, team);
  EXPECT_TRUE(plan.run(chain.blocks()));
  return chain.output();
}

int loudest(const wave& sound) {
  int most = 0;
  for (const std::int16_t sample : sound.samples) most = std::max(most, std::abs(int{sample}));
  return most;
}

/// Root of the mean square of the samples from `first` on, of 1.
double level(const wave& sound, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < sound.samples.size(); ++i) {
    const double sample = sound.samples[i] / 32'768.0;
    sum += sample * sample;
  }
  return std::sqrt(sum / static_cast<double>(sound.samples.size() - first));
}

TEST(effects, the_graph_gives_the_same_bits_as_the_serial_run_on_any_number_of_members) {
  for (const std::size_t channels : {1u, 2u}) {
    const wave sound = tone(440, 0.9, channels);
    for (const std::size_t block : {64u, 1000u}) {
      const wave alone = processed(sound, {block, 4});
      for (const std::size_t members : {1u, 2u, 3u, 8u}) {
        ASSERT_EQ(planned(sound, {block, 4}, members).samples, alone.samples)
            << channels << " channels, blocks of " << block << ", " << members << " members";
      }
    }
  }
}

TEST(effects, the_size_of_blocks_does_not_change_the_sound) {
  const wave sound = tone(440, 0.9, 2);
  const std::vector<std::int16_t> whole = processed(sound, {48'000, 3}).samples;
  for (const std::size_t block : {1u, 7u, 256u, 50'000u}) {
    EXPECT_EQ(processed(sound, {block, 3}).samples, whole) << "blocks of " << block;
  }
}

TEST(effects, rewind_leaves_nothing_of_what_went_through) {
  const wave sound = tone(440, 0.9);
  effects chain(sound, {256, 3});
  for (int i = 0; i < 100; ++i) chain.process();
  chain.rewind();
  for (std::size_t block = 0; block < chain.blocks(); ++block) chain.process();
  EXPECT_EQ(chain.output().samples, processed(sound, {256, 3}).samples);
}

TEST(effects, silence_stays_silence) {
  EXPECT_EQ(loudest(processed(sound_of(2, [](std::size_t) { return 0.0; }), {256, 8})), 0);
}

TEST(effects, nothing_is_louder_than_the_ceiling) {
  const int most = static_cast<int>(std::lround(effects::ceiling * 32'767));
  const wave square = sound_of(2, [](std::size_t i) { return i / 100 % 2 == 0 ? 1.0 : -1.0; });
  EXPECT_LE(loudest(processed(square, {256, 8})), most);
  EXPECT_GT(loudest(processed(square, {256, 8})), most - 10) << "the limiter has nothing to do";
}

TEST(effects, a_click_comes_back_as_an_echo_and_as_reverb) {
  const wave click = sound_of(1, [](std::size_t i) { return i == 0 ? 0.5 : 0.0; });
  const wave heard = processed(click, {256, 8});
  const std::size_t echo = 48'000 * 23 / 100;
  EXPECT_EQ(heard.samples[1000], 0) << "before the shortest way through the reverb";
  // 0.35 of the click, and what the reverb adds.
  EXPECT_NEAR(heard.samples[echo], 0.35 * click.samples[0], 0.05 * click.samples[0]);
  EXPECT_GT(level(heard, 30'000), 1e-5) << "the reverb still sounds";
}

TEST(effects, low_and_high_tones_take_their_own_branches) {
  // What the dry branches pass: 1.3 of the low part, 0.9 of the high part, from the start to the echo.
  const auto passed = [](double frequency) {
    wave sound = tone(frequency, 0.25);
    wave heard = processed(sound, {256, 1});
    sound.samples.resize(1000);
    heard.samples.resize(1000);
    return level(heard, 500) / level(sound, 500);
  };
  EXPECT_NEAR(passed(96), 1.3, 0.1);
  EXPECT_NEAR(passed(9600), 0.9, 0.05);
}

}  // namespace
}  // namespace examples::testing
