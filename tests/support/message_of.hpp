// SPDX-License-Identifier: MIT
// tests/support/message_of.hpp -- what a refusal says
#pragma once

#include <exception>
#include <string>

namespace lockstep::test {

/// The text of the Exception that f() throws.
template <class Exception = std::exception, class Function>
std::string message_of(Function f) {
  try {
    f();
  } catch (const Exception& error) {
    return error.what();
  }
  return "no exception";
}

}  // namespace lockstep::test
