// SPDX-License-Identifier: MIT
// examples/audio/filters.hpp -- filters that change a sound sample by sample; each keeps its state from block to block
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace examples {

/// Second order, transposed direct form. Its coefficients are computed once, when it is made.
class biquad {
 public:
  static biquad low_pass(double frequency, double rate) { return biquad(frequency, rate, -1); }
  static biquad high_pass(double frequency, double rate) { return biquad(frequency, rate, 1); }

  float operator()(float x) {
    const float y = b0_ * x + z1_;
    z1_ = b1_ * x - a1_ * y + z2_;
    z2_ = b0_ * x - a2_ * y;
    return y;
  }

 private:
  /// Butterworth: flat where it lets the sound pass. `sign` is -1 for the low and 1 for the high part.
  biquad(double frequency, double rate, double sign) {
    const double angle = 2 * std::numbers::pi * frequency / rate;
    const double width = std::sin(angle) / std::numbers::sqrt2;
    const double scale = 1 / (1 + width);
    b1_ = static_cast<float>(-sign * (1 + sign * std::cos(angle)) * scale);
    b0_ = static_cast<float>((1 + sign * std::cos(angle)) / 2 * scale);
    a1_ = static_cast<float>(-2 * std::cos(angle) * scale);
    a2_ = static_cast<float>((1 - width) * scale);
  }

  float b0_ = 0, b1_ = 0, a1_ = 0, a2_ = 0;
  float z1_ = 0, z2_ = 0;
};

/// Returns the sample that went in `length` samples ago.
class delay_line {
 public:
  explicit delay_line(std::size_t length) : past_(length, 0.0F) {}

  [[nodiscard]] float oldest() const { return past_[next_]; }
  void replace_oldest(float x) {
    past_[next_] = x;
    next_ = next_ + 1 < past_.size() ? next_ + 1 : 0;
  }

 private:
  std::vector<float> past_;
  std::size_t next_ = 0;
};

/// Schroeder's reverb [SCHROEDER62]: combs side by side make the density of a room, all-passes in series blur it.
class reverb {
 public:
  reverb(std::size_t combs, double rate, std::size_t spread) {
    const double scale = rate / 48'000;
    const auto samples = [&](double at_48_kHz) {
      return static_cast<std::size_t>(at_48_kHz * scale) + spread;
    };
    combs_.reserve(combs);
    for (std::size_t i = 0; i < combs; ++i) {
      // Lengths of 23 to 35 ms that repeat none of their multiples early.
      combs_.push_back({delay_line(samples(1103 + static_cast<double>(i * 83 % 577))), 0});
    }
    for (const double length : {607.0, 479.0, 373.0, 241.0}) {
      blurs_.emplace_back(samples(length));
    }
    gain_ = 0.3F / static_cast<float>(combs);
  }

  float operator()(float x) {
    float sum = 0;
    for (comb& each : combs_) sum += pass(each, x);
    sum *= gain_;
    for (delay_line& each : blurs_) {
      const float old = each.oldest();
      each.replace_oldest(sum + 0.5F * old);
      sum = old - 0.5F * sum;
    }
    return sum;
  }

 private:
  struct comb {
    delay_line line;
    float dull;  // the low part of what comes back
  };

  static float pass(comb& of, float x) {
    // Denormal numbers would take a hundred times as long.
    constexpr float floor = 1e-20F;
    const float old = of.line.oldest();
    of.dull = 0.8F * old + 0.2F * of.dull + floor;
    of.line.replace_oldest(x + 0.84F * of.dull);
    return old;
  }

  std::vector<comb> combs_;
  std::vector<delay_line> blurs_;
  float gain_ = 1;
};

}  // namespace examples
