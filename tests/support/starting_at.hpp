// SPDX-License-Identifier: MIT
// tests/support/starting_at.hpp -- objects that begin at a phase, count or position of the test's choice
//
//   starting_at<lockstep::event> ready(0x3FFFFFFE, policy);  // the third notification wraps the count around
#pragma once

#include <cstdint>
#include <utility>

#include <lockstep/detail/wait/waiters.hpp>

namespace lockstep::test {

template <class Object>
class starting_at : public Object {
 public:
  template <class... Arguments>
  explicit starting_at(std::uint32_t first, Arguments&&... arguments)
      : Object(detail::first_phase{first}, std::forward<Arguments>(arguments)...) {}
};

}  // namespace lockstep::test
