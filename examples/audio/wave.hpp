// SPDX-License-Identifier: MIT
// examples/audio/wave.hpp -- sounds in WAV files [RIFF]
//
// Read: PCM of 16 bit, one or two channels, 8 000 to 192 000 frames a second. Chunks other than "fmt " and "data" are
// passed over. Rejected, each with its offset: other kinds of sound, chunks longer than the rest of the file, headers
// that contradict themselves, and anything after the end that the file announces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct wave {
  std::uint32_t rate = 48'000;  // frames a second
  std::size_t channels = 1;
  std::vector<std::int16_t> samples;  // frame by frame, in each the left channel first

  [[nodiscard]] std::size_t frames() const { return samples.size() / channels; }
};

/// Pure: returns the sound or throws input_error (or std::bad_alloc, within one byte for every byte of the file).
/// `name` is used in messages.
[[nodiscard]] wave parse_wave(std::string_view bytes, std::string_view name);

[[nodiscard]] std::string to_wave(const wave& sound);

}  // namespace examples
