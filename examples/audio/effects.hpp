// SPDX-License-Identifier: MIT
// examples/audio/effects.hpp -- a sound, block by block, through filters, echo, reverb and limiter
#pragma once

#include <array>
#include <cstddef>
#include <lockstep/lockstep.hpp>
#include <vector>

#include "audio/filters.hpp"
#include "audio/wave.hpp"

namespace examples {

struct effect_settings {
  std::size_t block = 256;  // frames
  std::size_t combs = 8;    // of each reverb: how much work it is
};

/// Each step works on the current block, and keeps what it needs of earlier blocks. graph() says which step needs the
/// result of which other. Two steps without a path between them share nothing that one of them writes.
class effects {
 public:
  /// The loudest sample that comes out, as a fraction of 1.
  static constexpr float ceiling = 0.98F;

  effects(const wave& input, const effect_settings& settings);

  [[nodiscard]] std::size_t blocks() const;
  /// Goes back to the begin of the sound, and forgets what earlier blocks left behind.
  void rewind() { *this = effects(*input_, settings_); }

  /// All steps of a block, one after the other.
  void process();
  /// The same as a graph, an iteration a block. It uses *this.
  [[nodiscard]] lockstep::graph graph();

  [[nodiscard]] const wave& output() const { return output_; }

 private:
  using block = std::vector<float>;

  struct channel {
    biquad low1, low2, high1, high2;
    delay_line past;
    reverb room;
    block dry, low, high, echo, wet, mixed;
  };

  void take_block();
  void pass_low();
  void pass_high();
  void echo();
  void reverberate(std::size_t of);
  void mix();
  void limit();
  void give_block();

  const wave* input_;
  effect_settings settings_;
  wave output_;
  std::vector<channel> channels_;
  std::size_t position_ = 0;  // frames that are done
  float loudness_ = 0;
};

}  // namespace examples
