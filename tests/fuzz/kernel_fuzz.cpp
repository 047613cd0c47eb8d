// SPDX-License-Identifier: MIT
// tests/fuzz/kernel_fuzz.cpp -- the input is three lines: --kernel, --scale, --bias as they are given
//
// A scale that is no number stands for none given, a bias that is no number for 0.
#include "filter5x5/kernel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "fuzz/harness.hpp"
#include "support/error.hpp"
#include "support/number.hpp"

namespace {

using examples::kernel5x5;
using lockstep::test::require;

std::optional<double> number(std::string_view word) {
  const auto parsed = examples::parse_number<double>(word);
  if (parsed.fault != examples::number_fault::none) return std::nullopt;
  require(std::isfinite(parsed.value), "numbers are finite");
  return parsed.value;
}

/// What kernel.hpp promises: no result leaves the range of float, whatever the samples are.
void check_results(const kernel5x5& kernel) {
  float sum = 0;
  for (const float weight : kernel.weights) {
    require(std::isfinite(weight), "weights are finite");
    sum += std::abs(weight) * 65535.0f;
  }
  require(std::isfinite(sum), "sums are finite");
  require(std::isfinite(kernel.scale) && std::isfinite(kernel.bias), "scale and bias are finite");
  require(std::isfinite(std::abs(kernel.scale) * sum + std::abs(kernel.bias)),
          "results are finite");
}

void check_written_again(const kernel5x5& kernel, double bias) {
  const std::string text = fmt::format("{}", fmt::join(kernel.weights, ","));
  const kernel5x5 again = examples::parse_kernel(text, kernel.scale, bias);
  require(again.weights == kernel.weights, "same weights again");
  require(again.scale == kernel.scale && again.bias == kernel.bias, "same scale and bias again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto lines = lockstep::test::parts_of(lockstep::test::text_of(data, size), '\n', 3);
  const std::optional<double> scale = number(lines[1]);
  const double bias = number(lines[2]).value_or(0);
  const auto kernel = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::parse_kernel(lines[0], scale, bias); }, "--kernel");
  if (!kernel) return 0;
  check_results(*kernel);
  check_written_again(*kernel, bias);
  return 0;
}
