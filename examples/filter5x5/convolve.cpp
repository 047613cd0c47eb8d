// SPDX-License-Identifier: MIT
#include "filter5x5/convolve.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace examples {
namespace {

constexpr std::size_t side = 5;

/// One row of the result and what it is made of.
struct row_task {
  std::array<const float*, side> source{};  // five padded rows, from their first sample
  std::size_t channels = 1;                 // distance of horizontal neighbours
  const kernel5x5* kernel = nullptr;
  float max_value = 255;
  std::uint16_t* result = nullptr;
};

void filter_scalar(const row_task& task, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    float sum = 0;
    for (std::size_t tap = 0; tap < side * side; ++tap) {
      const float neighbour = task.source[tap / side][i + tap % side * task.channels];
      sum += task.kernel->weights[tap] * neighbour;
    }
    float sample = sum * task.kernel->scale + task.kernel->bias;
    sample = sample < 0 ? 0 : sample;
    sample = sample > task.max_value ? task.max_value : sample;
    task.result[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(sample + 0.5f));
  }
}

#if defined(__GNUC__)  // also Clang

constexpr bool is_simd_available = true;

// 16 bytes: what every x86-64 and AArch64 has.
using float4 = float __attribute__((vector_size(16)));
using int4 = std::int32_t __attribute__((vector_size(16)));
using short4 = std::uint16_t __attribute__((vector_size(8)));
constexpr std::size_t lanes = 4;
/// Sums that are under way together, because an addition takes several cycles.
constexpr std::size_t sums_at_once = 4;

inline float4 load(const float* from) {
  float4 value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// As the end of filter_scalar, for four samples.
inline void finish(const row_task& task, float4 sum, std::uint16_t* to) {
  const float4 zero = {};
  const float4 highest = zero + task.max_value;
  float4 sample = sum * task.kernel->scale + task.kernel->bias;
  sample = sample < zero ? zero : sample;
  sample = sample > highest ? highest : sample;
  const int4 whole = __builtin_convertvector(sample + 0.5f, int4);
  const short4 narrow = __builtin_convertvector(whole, short4);
  std::memcpy(to, &narrow, sizeof narrow);
}

/// Returns the first sample that is left to do.
std::size_t filter_vectors(const row_task& task, std::size_t count) {
  constexpr std::size_t step = lanes * sums_at_once;
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    float4 sums[sums_at_once] = {};
    for (std::size_t tap = 0; tap < side * side; ++tap) {
      const float* const neighbours = &task.source[tap / side][i + tap % side * task.channels];
      const float weight = task.kernel->weights[tap];
      for (std::size_t k = 0; k < sums_at_once; ++k) {
        sums[k] += weight * load(neighbours + k * lanes);
      }
    }
    for (std::size_t k = 0; k < sums_at_once; ++k)
      finish(task, sums[k], task.result + i + k * lanes);
  }
  return i;
}

#else

constexpr bool is_simd_available = false;
std::size_t filter_vectors(const row_task&, std::size_t) { return 0; }

#endif

}  // namespace

bool has_simd() { return is_simd_available; }

convolution::convolution(const image& source, const kernel5x5& kernel, simd mode)
    : source_(source),
      kernel_(kernel),
      mode_(mode),
      padded_stride_((source.width + 2 * border) * source.channels),
      padded_(padded_stride_ * padded_rows()),
      result_(source) {
  clear();
}

void convolution::clear() { std::fill(result_.samples.begin(), result_.samples.end(), 0); }

void convolution::pad_row(std::size_t padded_row) {
  const std::size_t channels = source_.channels;
  const std::size_t row = std::clamp(padded_row, border, source_.height + border - 1) - border;
  const std::uint16_t* const from = &source_.samples[row * source_.row_samples()];
  float* const to = padded_row_at(padded_row);
  float* const body = to + border * channels;
  std::copy(from, from + source_.row_samples(), body);
  const float* const last_pixel = body + source_.row_samples() - channels;
  for (std::size_t i = 0; i < border; ++i) {
    std::copy(body, body + channels, to + i * channels);
    std::copy(last_pixel, last_pixel + channels, body + source_.row_samples() + i * channels);
  }
}

void convolution::filter_row(std::size_t row) {
  row_task task;
  for (std::size_t i = 0; i < side; ++i) task.source[i] = padded_row_at(row + i);
  task.channels = source_.channels;
  task.kernel = &kernel_;
  task.max_value = static_cast<float>(source_.max_value);
  task.result = &result_.samples[row * source_.row_samples()];
  const std::size_t count = source_.row_samples();
  const std::size_t done = mode_ == simd::on ? filter_vectors(task, count) : 0;
  filter_scalar(task, done, count);
}

void filter_serially(convolution& filter) {
  for (std::size_t row = 0; row < filter.padded_rows(); ++row) filter.pad_row(row);
  for (std::size_t row = 0; row < filter.rows(); ++row) filter.filter_row(row);
}

void filter_on_team(convolution& filter, lockstep::team& team) {
  team.for_each(0, filter.padded_rows(), [&](std::size_t row) { filter.pad_row(row); });
  team.for_each(0, filter.rows(), [&](std::size_t row) { filter.filter_row(row); });
}

}  // namespace examples
