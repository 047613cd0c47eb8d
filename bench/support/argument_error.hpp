// SPDX-License-Identifier: MIT
// bench/support/argument_error.hpp -- what is wrong with the arguments, for those that read none
#pragma once

#include <stdexcept>

namespace bench {

/// What is wrong with the arguments, beyond what CLI11 checks.
struct argument_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bench
