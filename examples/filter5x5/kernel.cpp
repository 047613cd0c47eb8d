// SPDX-License-Identifier: MIT
#include "filter5x5/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/error.hpp"
#include "support/number.hpp"

namespace examples {
namespace {

struct named_kernel {
  std::string_view name;
  kernel5x5 kernel;
};

// clang-format off
constexpr named_kernel named_kernels[] = {
    // Binomial weights, close to a Gaussian.
    {"blur", {{1,  4,  6,  4, 1,
               4, 16, 24, 16, 4,
               6, 24, 36, 24, 6,
               4, 16, 24, 16, 4,
               1,  4,  6,  4, 1}, 1.0f / 256, 0}},
    // Twice the picture minus the blurred one.
    {"sharpen", {{-1,  -4,  -6,  -4, -1,
                  -4, -16, -24, -16, -4,
                  -6, -24, 476, -24, -6,
                  -4, -16, -24, -16, -4,
                  -1,  -4,  -6,  -4, -1}, 1.0f / 256, 0}},
    // Laplacian of a Gaussian; zero where the picture is even.
    {"edge", {{ 0,  0, -1,  0,  0,
                0, -1, -2, -1,  0,
               -1, -2, 16, -2, -1,
                0, -1, -2, -1,  0,
                0,  0, -1,  0,  0}, 1, 0}},
};
// clang-format on

float number_between_commas(std::string_view word) {
  const parsed_number<float> number = parse_number<float>(word);
  if (number.fault != number_fault::none) {
    throw input_error(fmt::format("--kernel: {} {}", in_quotes(word), explain(number.fault)));
  }
  return number.value;
}

kernel5x5 parse_weights(std::string_view text) {
  kernel5x5 kernel;
  const std::size_t size = kernel.weights.size();
  const auto commas = static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
  if (commas + 1 != size) {
    throw input_error(
        fmt::format("--kernel: {} is none of blur, sharpen, edge, {} numbers parted "
                    "by commas",
                    in_quotes(text), size));
  }
  for (float& weight : kernel.weights) {
    const std::size_t end = std::min(text.find(','), text.size());
    weight = number_between_commas(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kernel;
}

/// Infinities could turn into NaN, which has no place in the sample range.
void check_range(const kernel5x5& kernel, double scale, double bias) {
  constexpr double largest = 1e37;
  double sum = 0;
  for (const float weight : kernel.weights) sum += std::abs(double{weight}) * 65535;
  const bool is_in_range = sum <= largest && std::abs(scale) <= largest &&
                           sum * std::abs(scale) <= largest && std::abs(bias) <= largest;
  if (!is_in_range) throw input_error("--kernel, --scale, --bias: the numbers are too large");
}

}  // namespace

kernel5x5 parse_kernel(std::string_view text, std::optional<double> scale, double bias) {
  const auto* const named =
      std::find_if(std::begin(named_kernels), std::end(named_kernels),
                   [&](const named_kernel& candidate) { return candidate.name == text; });
  kernel5x5 kernel = named != std::end(named_kernels) ? named->kernel : parse_weights(text);
  check_range(kernel, scale.value_or(kernel.scale), bias);
  if (scale) kernel.scale = static_cast<float>(*scale);
  kernel.bias = static_cast<float>(bias);
  return kernel;
}

}  // namespace examples
