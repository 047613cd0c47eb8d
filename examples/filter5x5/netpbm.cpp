// SPDX-License-Identifier: MIT
#include "filter5x5/netpbm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/error.hpp"
#include "support/number.hpp"

namespace examples {
namespace {

constexpr std::uint32_t largest_sample = std::numeric_limits<std::uint16_t>::max();

/// Walks over the words of the header and of text samples.
class word_reader {
 public:
  word_reader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  /// The next word, empty at the end. Comments are part of the header only.
  std::string_view next_word(bool is_header) {
    skip_blanks();
    while (is_header && position_ < bytes_.size() && bytes_[position_] == '#') {
      position_ = std::min(bytes_.find('\n', position_), bytes_.size());
      skip_blanks();
    }
    begin_ = position_;
    const std::string_view ends = is_header ? " \t\r\n\v\f#" : blanks;
    position_ = std::min(bytes_.find_first_of(ends, position_), bytes_.size());
    return bytes_.substr(begin_, position_ - begin_);
  }

  /// A whole number in [lowest, highest].
  std::uint32_t next_number(bool is_header, std::string_view what, std::uint32_t lowest,
                            std::uint32_t highest) {
    const std::string_view word = next_word(is_header);
    if (word.empty()) throw error(fmt::format("the text ends where {} should be", what));
    const parsed_number<std::int64_t> number = parse_number<std::int64_t>(word);
    if (number.fault != number_fault::none) {
      throw error(fmt::format("{} {} {}", what, in_quotes(word), explain(number.fault)));
    }
    if (number.value < lowest || number.value > highest) {
      throw error(
          fmt::format("{} {} is not in the range {} to {}", what, number.value, lowest, highest));
    }
    return static_cast<std::uint32_t>(number.value);
  }

  /// Passes the one white space that parts the header from binary samples.
  void skip_separator() {
    if (position_ < bytes_.size() && blanks.find(bytes_[position_]) != blanks.npos) {
      ++position_;
    } else {
      throw error("no white space after maxval");
    }
  }

  /// The bytes not read yet, and where they begin.
  [[nodiscard]] std::string_view rest() const { return bytes_.substr(position_); }
  [[nodiscard]] std::size_t position() const { return position_; }

  /// About the word that was read last.
  [[nodiscard]] input_error error(std::string_view message) const {
    const std::string_view before = bytes_.substr(0, begin_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    return error_at_line(name_, static_cast<std::size_t>(line), message);
  }
  [[nodiscard]] input_error error_at(std::size_t offset, std::string_view message) const {
    return error_at_byte(name_, offset, message);
  }

 private:
  static constexpr std::string_view blanks = " \t\r\n\v\f";

  void skip_blanks() {
    position_ = std::min(bytes_.find_first_not_of(blanks, position_), bytes_.size());
  }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;
};

struct netpbm_header {
  image picture;  // still without samples
  bool is_binary = false;
  std::uint64_t samples = 0;
};

netpbm_header read_header(word_reader& words) {
  constexpr std::uint32_t largest_side = std::numeric_limits<std::int32_t>::max();
  const std::string_view magic = words.next_word(true);
  const bool is_known = magic == "P2" || magic == "P3" || magic == "P5" || magic == "P6";
  if (!is_known || words.position() != magic.size()) {
    throw words.error(
        fmt::format("the file begins with {}, not with P2, P3, P5 or P6", in_quotes(magic)));
  }
  netpbm_header header;
  header.is_binary = magic == "P5" || magic == "P6";
  image& picture = header.picture;
  picture.channels = magic == "P3" || magic == "P6" ? 3 : 1;
  picture.width = words.next_number(true, "width", 1, largest_side);
  picture.height = words.next_number(true, "height", 1, largest_side);
  picture.max_value = words.next_number(true, "maxval", 1, largest_sample);
  words.skip_separator();
  // Two sides below 2^31 and a factor of 3 stay below 2^64.
  header.samples = std::uint64_t{picture.width} * picture.height * picture.channels;
  return header;
}

void check_size(const word_reader& words, const image& picture) {
  const std::string too_large = why_too_large(picture.width, picture.height, picture.channels);
  if (!too_large.empty()) throw words.error(too_large);
}

void read_text_samples(word_reader& words, netpbm_header& header) {
  image& picture = header.picture;
  // A sample takes a digit and a space, the last one a digit.
  const std::size_t room = (words.rest().size() + 1) / 2;
  if (header.samples > room) {
    throw words.error(
        fmt::format("truncated or wrong: {} samples cannot stand in the {} bytes that"
                    " follow",
                    header.samples, words.rest().size()));
  }
  check_size(words, picture);
  picture.samples.reserve(static_cast<std::size_t>(header.samples));
  for (std::uint64_t i = 0; i < header.samples; ++i) {
    const std::uint32_t sample = words.next_number(false, "sample", 0, picture.max_value);
    picture.samples.push_back(static_cast<std::uint16_t>(sample));
  }
  const std::string_view word = words.next_word(false);
  if (!word.empty()) {
    throw words.error(fmt::format("text after the last sample: {}", in_quotes(word)));
  }
}

std::uint32_t byte_at(std::string_view bytes, std::size_t offset) {
  return static_cast<unsigned char>(bytes[offset]);
}

void read_binary_samples(word_reader& words, netpbm_header& header) {
  image& picture = header.picture;
  const std::string_view raster = words.rest();
  const std::size_t width = picture.max_value > 255 ? 2 : 1;
  if (raster.size() / width < header.samples) {
    throw words.error_at(
        words.position() + raster.size(),
        fmt::format("truncated: {} samples of {} byte announced, but {} bytes left", header.samples,
                    width, raster.size()));
  }
  const auto count = static_cast<std::size_t>(header.samples);
  if (raster.size() > count * width) {
    throw words.error_at(words.position() + count * width, "data after the last sample");
  }
  check_size(words, picture);
  picture.samples.reserve(count);
  for (std::size_t i = 0; i < raster.size(); i += width) {
    const std::uint32_t first = byte_at(raster, i);
    const std::uint32_t sample = width == 1 ? first : first << 8 | byte_at(raster, i + 1);
    if (sample > picture.max_value) {
      throw words.error_at(
          words.position() + i,
          fmt::format("sample {} is not in the range 0 to {}", sample, picture.max_value));
    }
    picture.samples.push_back(static_cast<std::uint16_t>(sample));
  }
}

}  // namespace

image parse_netpbm(std::string_view bytes, std::string_view name) {
  word_reader words(bytes, name);
  netpbm_header header = read_header(words);
  if (header.is_binary) {
    read_binary_samples(words, header);
  } else {
    read_text_samples(words, header);
  }
  return std::move(header.picture);
}

std::string to_netpbm(const image& picture) {
  std::string bytes = fmt::format("{}\n{} {}\n{}\n", picture.channels == 1 ? "P5" : "P6",
                                  picture.width, picture.height, picture.max_value);
  for (const std::uint16_t sample : picture.samples) {
    if (picture.max_value > 255) bytes.push_back(static_cast<char>(sample >> 8));
    bytes.push_back(static_cast<char>(sample & 0xff));
  }
  return bytes;
}

}  // namespace examples
