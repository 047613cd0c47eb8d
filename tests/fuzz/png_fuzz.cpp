// SPDX-License-Identifier: MIT
// tests/fuzz/png_fuzz.cpp -- the input is a PNG file
//
// Built for libFuzzer with png_mutator.cpp, which repairs the check sums: else all changes end there.
#include "filter5x5/png.hpp"

#include "fuzz/picture.hpp"
#include "support/error.hpp"

namespace {

void check_written_again(const examples::image& picture) {
  // Writing is slow, and the same for large pictures as for small ones.
  if (picture.samples.size() > 4096) return;
  const auto written = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::to_png(picture); }, "PNG files are written with maxval 255 only");
  lockstep::test::require(written.has_value() == (picture.max_value == 255),
                          "exactly pictures of 8 bit are written");
  if (!written) return;
  lockstep::test::require(examples::is_png(*written), "what is written is known as PNG");
  lockstep::test::require_same(picture, examples::parse_png(*written, "again"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = lockstep::test::text_of(data, size);
  const auto picture = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::parse_png(bytes, "input"); }, "input:");
  if (!picture) return 0;
  lockstep::test::require(examples::is_png(bytes), "only PNG files are accepted");
  lockstep::test::require_picture(*picture);
  check_written_again(*picture);
  return 0;
}
