// SPDX-License-Identifier: MIT
#include "filter5x5/png.hpp"

#include <fmt/format.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "support/error.hpp"

namespace examples {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
/// Deflate turns a byte into at most this many [RFC1951: 258 bytes from two codes of one bit].
constexpr std::uint64_t most_expansion = 1032;
/// stb counts in int, and doubles buffers.
constexpr std::size_t largest_file = std::size_t{1} << 30;

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = word << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return word;
}

std::uint32_t check_sum(std::string_view bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  return ~sum;
}

std::string reason() {
  const char* const text = stbi_failure_reason();
  return fmt::format("no picture: {}", text != nullptr ? text : "unknown");
}

struct png_chunk {
  std::size_t offset = 0;
  std::string_view kind;
  std::string_view data;
  [[nodiscard]] std::size_t end() const { return offset + 12 + data.size(); }
};

/// Length, kind, data and check sum of the chunk at `offset`.
png_chunk chunk_at(std::string_view bytes, std::string_view name, std::size_t offset) {
  const std::size_t left = bytes.size() - offset;
  if (left < 12) throw error_at_byte(name, bytes.size(), "truncated: a chunk should follow");
  const std::size_t length = word_at(bytes, offset);
  const std::string_view kind = bytes.substr(offset + 4, 4);
  if (length > left - 12) {
    throw error_at_byte(name, offset,
                        fmt::format("truncated: chunk {} announces {} bytes, {} are left",
                                    in_quotes(kind), length, left - 12));
  }
  if (check_sum(bytes.substr(offset + 4, 4 + length)) != word_at(bytes, offset + 8 + length)) {
    throw error_at_byte(
        name, offset, fmt::format("chunk {} is damaged: its check sum is wrong", in_quotes(kind)));
  }
  return {offset, kind, bytes.substr(offset + 8, length)};
}

/// Samples of a pixel that are kept, by its colour type: grey or colour, without alpha.
std::uint64_t kept_channels(std::string_view header) {
  const bool is_grey = header[9] == 0 || header[9] == 4;
  return is_grey ? 1 : 3;
}

/// Width and height are positive, they are not above the limit, and the file is long enough to hold them.
void check_header(const png_chunk& header, std::string_view bytes, std::string_view name) {
  if (header.kind != "IHDR" || header.data.size() != 13) {
    throw error_at_byte(name, header.offset, "the first chunk is no IHDR of 13 bytes");
  }
  const std::uint64_t width = word_at(header.data, 0);
  const std::uint64_t height = word_at(header.data, 4);
  const std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (width < 1 || height < 1 || width > most || height > most) {
    throw error_at_byte(
        name, header.offset + 8,
        fmt::format("width {} or height {} is not in the range 1 to {}", width, height, most));
  }
  // A pixel takes at least one bit.
  if ((width + 7) / 8 * height > most_expansion * bytes.size()) {
    throw error_at_byte(
        name, header.offset + 8,
        fmt::format("{} x {} pixels cannot stand in {} bytes", width, height, bytes.size()));
  }
  const std::string too_large = why_too_large(width, height, kept_channels(header.data));
  if (!too_large.empty()) throw error_at_byte(name, header.offset + 8, too_large);
}

/// Stops files whose data unpack to far more than the picture that they announce. Packed data take hardly more space
/// than unpacked ones, which have a bit to eight bytes a pixel; the limit is twice that, for the rows of seven passes.
void check_pixel_bytes(const png_chunk& header, std::uint64_t packed, std::size_t pixels,
                       std::string_view name) {
  const std::uint64_t width = word_at(header.data, 0);
  const std::uint64_t height = word_at(header.data, 4);
  const std::uint64_t most = 2 * (width * 8 + 1) * height + 65536;
  if (packed <= most) return;
  throw error_at_byte(
      name, pixels,
      fmt::format("{} bytes of data are too many for {} x {} pixels", packed, width, height));
}

/// Walks over all chunks; returns the offset of the pixels.
std::size_t check_chunks(std::string_view bytes, std::string_view name) {
  png_chunk chunk = chunk_at(bytes, name, signature.size());
  check_header(chunk, bytes, name);
  const png_chunk header = chunk;
  std::size_t pixels = 0;
  std::uint64_t packed = 0;
  while (chunk.kind != "IEND") {
    chunk = chunk_at(bytes, name, chunk.end());
    if (chunk.kind == "IDAT" && pixels == 0) pixels = chunk.offset;
    if (chunk.kind == "IDAT") packed += chunk.data.size();
    // Legal, but stb hands a null pointer to memcpy.
    if (chunk.kind == "IDAT" && chunk.data.empty()) {
      throw error_at_byte(name, chunk.offset, "an IDAT chunk without data is not supported");
    }
  }
  if (chunk.end() != bytes.size()) throw error_at_byte(name, chunk.end(), "data after the picture");
  if (pixels == 0) throw error_at_byte(name, chunk.offset, "no pixels before the end");
  check_pixel_bytes(header, packed, pixels, name);
  return pixels;
}

template <class Sample>
image decode(std::string_view bytes, std::string_view name, std::size_t pixels_offset,
             Sample* (*load)(const stbi_uc*, int, int*, int*, int*, int)) {
  int width = 0;
  int height = 0;
  int channels = 0;
  const auto* const data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  if (stbi_info_from_memory(data, size, &width, &height, &channels) == 0) {
    throw error_at_byte(name, signature.size(), reason());
  }
  // Grey with or without alpha, or colour with or without alpha.
  const int wanted = channels <= 2 ? 1 : 3;
  const std::unique_ptr<Sample, void (*)(void*)> pixels(
      load(data, size, &width, &height, &channels, wanted), stbi_image_free);
  if (!pixels) {
    throw error_at_byte(name, pixels_offset, reason());
  }
  image picture;
  picture.width = static_cast<std::size_t>(width);
  picture.height = static_cast<std::size_t>(height);
  picture.channels = static_cast<std::size_t>(wanted);
  picture.max_value = std::numeric_limits<Sample>::max();
  const std::size_t count = picture.row_samples() * picture.height;
  picture.samples.assign(pixels.get(), pixels.get() + count);
  return picture;
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.substr(0, signature.size()) == signature; }

image parse_png(std::string_view bytes, std::string_view name) {
  if (!is_png(bytes)) throw error_at_byte(name, 0, "the file does not begin as a PNG file does");
  if (bytes.size() > largest_file) {
    throw input_error(fmt::format("{}: too large, PNG files are read up to 1 GiB", name));
  }
  const std::size_t pixels = check_chunks(bytes, name);
  const auto* const data = reinterpret_cast<const stbi_uc*>(bytes.data());
  if (stbi_is_16_bit_from_memory(data, static_cast<int>(bytes.size())) != 0) {
    return decode<stbi_us>(bytes, name, pixels, stbi_load_16_from_memory);
  }
  return decode<stbi_uc>(bytes, name, pixels, stbi_load_from_memory);
}

std::string to_png(const image& picture) {
  if (picture.max_value != 255) {
    throw input_error(
        fmt::format("PNG files are written with maxval 255 only, not {}: choose .pgm "
                    "or .ppm",
                    picture.max_value));
  }
  // stb counts bytes in int; each row has one more than its samples.
  const std::size_t most = std::numeric_limits<int>::max();
  if (picture.height > most / (picture.row_samples() + 1)) {
    throw input_error("the picture is too large for a PNG file: choose .pgm or .ppm");
  }
  const std::vector<stbi_uc> bytes(picture.samples.begin(), picture.samples.end());
  std::string encoded;
  const auto append = [](void* target, void* data, int size) {
    static_cast<std::string*>(target)->append(static_cast<const char*>(data),
                                              static_cast<std::size_t>(size));
  };
  const int done = stbi_write_png_to_func(
      append, &encoded, static_cast<int>(picture.width), static_cast<int>(picture.height),
      static_cast<int>(picture.channels), bytes.data(), static_cast<int>(picture.row_samples()));
  if (done == 0) throw input_error("the PNG encoder failed");
  return encoded;
}

}  // namespace examples
