// SPDX-License-Identifier: MIT
// src/loop/loop_request.hpp -- what the caller of a loop asks for, and how the loop is to be run (layer: loop)
//
// Plain data.
#ifndef LOCKSTEP_SRC_LOOP_LOOP_REQUEST_HPP
#define LOCKSTEP_SRC_LOOP_LOOP_REQUEST_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/call_site.hpp>
#include <lockstep/detail/loop/place_pace.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// What the caller of a loop asks for.
struct loop_request {
  std::size_t iterations;
  place_pace* place;   ///< what is learned of it; null: nothing
  std::size_t grain;   ///< the fewest iterations of a share; 0: to be learned
  bool can_split;      ///< shares may have several parts
  bool is_fixed;       ///< a share for every member, whatever was learned
  source_place where;  ///< for observers
};

/// How a loop is to be run: by loop_steering.hpp.
struct loop_plan {
  std::uint32_t shares = 1;  ///< 1: by the caller alone
  std::uint32_t parts = 1;   ///< of each share
  bool wakes = true;      ///< sleepers at once; else only when the loop has turned out to be long
  bool is_timed = false;  ///< the caller measures it
  bool is_probe =
      false;  ///< the caller begins alone, and announces it when it turns out to be worth that
  double missed = 0;  ///< the time that members that sleep would take off the caller
};

/// Shares that are no loop's: by how many nanoseconds members that come shorten them; and what became of them.
struct shares_request {
  std::uint32_t shares;
  double gain;
  source_place where;  ///< for observers
};
struct shares_outcome {
  bool is_complete;  ///< not stopped
  bool all_came;     ///< each share was begun by its member
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOP_REQUEST_HPP
