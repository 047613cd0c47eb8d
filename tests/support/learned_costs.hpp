// SPDX-License-Identifier: MIT
// tests/support/learned_costs.hpp -- what loop_costs has learned, which only tests ask
#pragma once

#include "loop/loop_steering.hpp"

#include <cstddef>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

struct learned_costs {
  static double iteration(const loop_costs& of, const void* place) {
    for (const loop_costs::place& each : of.places_[set_of(place)].ways) {
      if (each.key == place) return each.iteration;
    }
    return 0;
  }
  static std::size_t set_of(const void* place) { return loop_costs::set_of(place); }
  static double join(const loop_costs& of) { return of.join_; }
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
