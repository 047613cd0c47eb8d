// SPDX-License-Identifier: MIT
// tests/fuzz/netpbm_fuzz.cpp -- the input is a PGM or PPM file, text or binary
#include "filter5x5/netpbm.hpp"

#include "fuzz/picture.hpp"
#include "support/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto picture = lockstep::test::accepted<examples::input_error>(
      [&] { return examples::parse_netpbm(lockstep::test::text_of(data, size), "input"); },
      "input:");
  if (!picture) return 0;
  lockstep::test::require_picture(*picture);
  lockstep::test::require(picture->samples.size() <= size, "a sample takes a byte or more");
  const std::string written = examples::to_netpbm(*picture);
  lockstep::test::require_same(*picture, examples::parse_netpbm(written, "again"));
  return 0;
}
