// SPDX-License-Identifier: MIT
// tests/fuzz/png_mutator.cpp -- libFuzzer's changes to a PNG file, with the check sums made right
#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::size_t signature_size = 8;
constexpr std::size_t chunk_frame = 12;  // length, kind and check sum

std::uint32_t check_sum(const std::uint8_t* data, std::size_t size) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    sum ^= data[i];
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  return ~sum;
}

std::size_t word_at(const std::uint8_t* data) {
  return std::size_t{data[0]} << 24 | std::size_t{data[1]} << 16 | std::size_t{data[2]} << 8 |
         data[3];
}

/// Walks over the chunks that are complete.
void repair_check_sums(std::uint8_t* data, std::size_t size) {
  std::size_t offset = std::min(signature_size, size);
  while (size - offset >= chunk_frame) {
    const std::size_t length = word_at(data + offset);
    if (length > size - offset - chunk_frame) return;
    const std::uint32_t sum = check_sum(data + offset + 4, length + 4);
    for (std::size_t i = 0; i < 4; ++i) {
      data[offset + 8 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    }
    offset += chunk_frame + length;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, max_size);
  // Wrong check sums have to be met now and then.
  if (seed % 16 != 0) repair_check_sums(data, changed);
  return changed;
}
