// SPDX-License-Identifier: MIT
// bench/baselines/lockstep_mechanism.hpp -- lockstep's primitives, with the default wait policy
#pragma once

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include <string_view>

namespace bench {

struct lockstep_mechanism {
  static constexpr std::string_view name = "lockstep-default";
  using event = lockstep::event;
  using fan_out = lockstep::fan_out;
  using fan_in = lockstep::fan_in;
  using barrier = lockstep::ranked_barrier;
};

}  // namespace bench
