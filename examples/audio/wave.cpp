// SPDX-License-Identifier: MIT
#include "audio/wave.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>

#include "support/error.hpp"

namespace examples {
namespace {

constexpr std::size_t bytes_per_sample = 2;
constexpr std::size_t chunk_header = 8;
constexpr std::size_t format_size = 16;

struct chunk {
  std::string_view name;
  std::size_t offset = 0;  // of its content
  std::string_view content;
};

/// Numbers in files of this kind have the low byte first.
std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = width; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

class chunk_reader {
 public:
  chunk_reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
    if (bytes.substr(0, 4) != "RIFF") throw error(0, "the file does not begin with RIFF");
    if (bytes.size() < 12) throw error(bytes.size(), "truncated: the file ends in its header");
    const std::size_t announced = number_at(bytes, 4, 4) + chunk_header;
    if (announced > bytes.size()) {
      throw error(4, fmt::format("truncated: {} bytes announced, but the file has {}", announced,
                                 bytes.size()));
    }
    if (announced < bytes.size()) throw error(announced, "data after the announced end");
    if (bytes.substr(8, 4) != "WAVE") throw error(8, "the file holds no WAVE");
    position_ = 12;
  }

  /// None at the end of the file.
  std::optional<chunk> next() {
    if (position_ == bytes_.size()) return std::nullopt;
    if (bytes_.size() - position_ < chunk_header) {
      throw error(position_, "truncated: the file ends in the header of a chunk");
    }
    const std::string_view name = bytes_.substr(position_, 4);
    const std::size_t size = number_at(bytes_, position_ + 4, 4);
    const std::size_t begin = position_ + chunk_header;
    const std::size_t left = bytes_.size() - begin;
    if (size > left) {
      throw error(position_ + 4, fmt::format("truncated: chunk {} announces {} bytes, {} are left",
                                             in_quotes(name), size, left));
    }
    // Chunks begin at even offsets. Some programs leave out the last padding.
    position_ = begin + size + (size < left ? size % 2 : 0);
    return chunk{name, begin, bytes_.substr(begin, size)};
  }

  [[nodiscard]] input_error error(std::size_t offset, std::string_view message) const {
    return error_at_byte(name_, offset, message);
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  std::size_t position_ = 0;
};

/// A sound without samples.
wave read_format(const chunk_reader& reader, const chunk& format) {
  constexpr std::uint32_t pcm = 1, lowest_rate = 8'000, highest_rate = 192'000;
  if (format.content.size() < format_size) {
    throw reader.error(format.offset, fmt::format("a format takes {} bytes, not {}", format_size,
                                                  format.content.size()));
  }
  const auto field = [&](std::size_t at, std::size_t width) {
    return number_at(format.content, at, width);
  };
  const auto require = [&](std::size_t at, bool is_right, const std::string& message) {
    if (!is_right) throw reader.error(format.offset + at, message);
  };
  const std::uint32_t kind = field(0, 2), channels = field(2, 2), rate = field(4, 4);
  const std::uint32_t bytes_per_second = field(8, 4), bytes_per_frame = field(12, 2);
  const std::uint32_t bits = field(14, 2);
  require(0, kind == pcm, fmt::format("sound of kind {} is not supported, only PCM (1)", kind));
  require(2, channels == 1 || channels == 2,
          fmt::format("{} channels are not supported, only one or two", channels));
  require(4, rate >= lowest_rate && rate <= highest_rate,
          fmt::format("{} frames a second are not in the range {} to {}", rate, lowest_rate,
                      highest_rate));
  require(14, bits == 16, fmt::format("samples of {} bit are not supported, only 16", bits));
  require(
      12, bytes_per_frame == channels * bytes_per_sample,
      fmt::format("{} bytes a frame, must be {}", bytes_per_frame, channels * bytes_per_sample));
  require(8, bytes_per_second == rate * bytes_per_frame,
          fmt::format("{} bytes a second, must be {}", bytes_per_second, rate * bytes_per_frame));
  return {rate, channels, {}};
}

void read_samples(const chunk_reader& reader, const chunk& data, wave& sound) {
  const std::size_t bytes_per_frame = sound.channels * bytes_per_sample;
  if (data.content.empty()) throw reader.error(data.offset, "the sound is empty");
  if (data.content.size() % bytes_per_frame != 0) {
    throw reader.error(data.offset, fmt::format("{} bytes are no whole number of frames of {}",
                                                data.content.size(), bytes_per_frame));
  }
  sound.samples.reserve(data.content.size() / bytes_per_sample);
  for (std::size_t i = 0; i < data.content.size(); i += bytes_per_sample) {
    const auto bits = static_cast<std::uint16_t>(number_at(data.content, i, bytes_per_sample));
    sound.samples.push_back(std::bit_cast<std::int16_t>(bits));
  }
}

void append(std::string& bytes, std::size_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}

}  // namespace

wave parse_wave(std::string_view bytes, std::string_view name) {
  chunk_reader reader(bytes, name);
  std::optional<wave> sound;
  while (const std::optional<chunk> next = reader.next()) {
    const bool is_format = next->name == "fmt ";
    const bool is_data = next->name == "data";
    if (is_format && sound) throw reader.error(next->offset, "a second format");
    if (is_data && !sound) throw reader.error(next->offset, "data before the format");
    if (is_data && !sound->samples.empty()) throw reader.error(next->offset, "more data");
    if (is_format) sound = read_format(reader, *next);
    if (is_data) read_samples(reader, *next, *sound);
  }
  if (!sound || sound->samples.empty()) throw reader.error(bytes.size(), "the file has no sound");
  return *std::move(sound);
}

std::string to_wave(const wave& sound) {
  const std::size_t frame = sound.channels * bytes_per_sample;
  const std::size_t data = sound.samples.size() * bytes_per_sample;
  std::string bytes = "RIFF";
  append(bytes, 4 + chunk_header + format_size + chunk_header + data, 4);
  bytes += "WAVEfmt ";
  append(bytes, format_size, 4);
  append(bytes, 1, 2);
  append(bytes, sound.channels, 2);
  append(bytes, sound.rate, 4);
  append(bytes, sound.rate * frame, 4);
  append(bytes, frame, 2);
  append(bytes, 8 * bytes_per_sample, 2);
  bytes += "data";
  append(bytes, data, 4);
  for (const std::int16_t sample : sound.samples) {
    append(bytes, std::bit_cast<std::uint16_t>(sample), bytes_per_sample);
  }
  return bytes;
}

}  // namespace examples
