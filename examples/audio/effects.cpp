// SPDX-License-Identifier: MIT
#include "audio/effects.hpp"

#include <algorithm>
#include <cmath>

namespace examples {
namespace {

constexpr double crossover = 700;  // Hz
constexpr double echo_seconds = 0.23;
constexpr float full_scale = 32'768;

}  // namespace

effects::effects(const wave& input, const effect_settings& settings)
    : input_(&input), settings_(settings), output_(input) {
  std::fill(output_.samples.begin(), output_.samples.end(), std::int16_t{0});
  const double rate = input.rate;
  const block empty(settings.block, 0.0F);
  for (std::size_t c = 0; c < input.channels; ++c) {
    channels_.push_back({biquad::low_pass(crossover, rate), biquad::low_pass(crossover, rate),
                         biquad::high_pass(crossover, rate), biquad::high_pass(crossover, rate),
                         delay_line(static_cast<std::size_t>(echo_seconds * rate)),
                         reverb(settings.combs, rate, 23 * c), empty, empty, empty, empty, empty,
                         empty});
  }
}

std::size_t effects::blocks() const {
  return (input_->frames() + settings_.block - 1) / settings_.block;
}

void effects::take_block() {
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    for (std::size_t i = 0; i < settings_.block; ++i) {
      const std::size_t frame = position_ + i;
      const bool is_there = frame < input_->frames();
      const std::int16_t sample = is_there ? input_->samples[frame * channels_.size() + c] : 0;
      channels_[c].dry[i] = static_cast<float>(sample) / full_scale;
    }
  }
}

void effects::pass_low() {
  for (channel& each : channels_) {
    for (std::size_t i = 0; i < settings_.block; ++i) {
      each.low[i] = each.low2(each.low1(each.dry[i]));
    }
  }
}

void effects::pass_high() {
  for (channel& each : channels_) {
    for (std::size_t i = 0; i < settings_.block; ++i) {
      each.high[i] = each.high2(each.high1(each.dry[i]));
    }
  }
}

void effects::echo() {
  for (channel& each : channels_) {
    for (std::size_t i = 0; i < settings_.block; ++i) {
      each.echo[i] = each.past.oldest();
      each.past.replace_oldest(each.dry[i] + 0.4F * each.echo[i]);
    }
  }
}

void effects::reverberate(std::size_t of) {
  channel& it = channels_[of];
  for (std::size_t i = 0; i < settings_.block; ++i) it.wet[i] = it.room(it.dry[i]);
}

void effects::mix() {
  for (channel& each : channels_) {
    for (std::size_t i = 0; i < settings_.block; ++i) {
      each.mixed[i] =
          1.3F * each.low[i] + 0.9F * each.high[i] + 0.35F * each.echo[i] + 0.8F * each.wet[i];
    }
  }
}

void effects::limit() {
  constexpr float release = 0.9995F;
  for (std::size_t i = 0; i < settings_.block; ++i) {
    loudness_ *= release;
    for (const channel& each : channels_) {
      loudness_ = std::max(loudness_, std::abs(each.mixed[i]));
    }
    if (loudness_ <= ceiling) continue;
    for (channel& each : channels_) each.mixed[i] *= ceiling / loudness_;
  }
}

void effects::give_block() {
  const std::size_t frames = std::min(settings_.block, input_->frames() - position_);
  for (std::size_t i = 0; i < frames; ++i) {
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const float scaled = std::round(channels_[c].mixed[i] * (full_scale - 1));
      output_.samples[(position_ + i) * channels_.size() + c] = static_cast<std::int16_t>(scaled);
    }
  }
  position_ += frames;
}

void effects::process() {
  take_block();
  pass_low();
  pass_high();
  echo();
  for (std::size_t c = 0; c < channels_.size(); ++c) reverberate(c);
  mix();
  limit();
  give_block();
}

lockstep::graph effects::graph() {
  // [audio]
  lockstep::graph g;
  auto input = g.node("input", [this] { take_block(); });
  std::vector<lockstep::graph_block> branches = {
      g.node("low", [this] { pass_low(); }),
      g.node("high", [this] { pass_high(); }),
      g.node("echo", [this] { echo(); }),
  };
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    branches.push_back(
        g.node(c == 0 ? "reverb left" : "reverb right", [this, c] { reverberate(c); }));
  }
  auto mixer = g.node("mixer", [this] { mix(); });
  auto limiter = g.node("limiter", [this] { limit(); });
  auto output = g.node("output", [this] { give_block(); });
  g.series(input, g.parallel(branches), mixer, limiter, output);
  // [/audio]
  return g;
}

}  // namespace examples
