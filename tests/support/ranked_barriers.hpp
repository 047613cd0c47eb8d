// SPDX-License-Identifier: MIT
// tests/support/ranked_barriers.hpp -- a ranked_barrier that begins at any phase, and one that has no flags
#pragma once

#include <cstddef>
#include <cstdint>
#include "wait/ranked_phases.hpp"

#include <lockstep/ranked_barrier.hpp>

namespace lockstep::test {

class barrier_starting_at : public ranked_barrier {
 public:
  /// It counts arrivals as its number of participants says.
  barrier_starting_at(std::uint32_t first, std::size_t participants, wait_policy policy)
      : barrier_starting_at(first, participants, policy, detail::most_flags_for(policy)) {}
  /// It counts arrivals along a tree above `most_flags` participants.
  barrier_starting_at(std::uint32_t first, std::size_t participants, wait_policy policy,
                      std::size_t most_flags)
      : ranked_barrier(detail::first_phase{first}, participants, policy, most_flags) {}
};

/// It counts arrivals along a tree, however few its participants are.
class barrier_by_tree : public barrier_starting_at {
 public:
  explicit barrier_by_tree(std::size_t participants, wait_policy policy = wait_policy())
      : barrier_by_tree(0, participants, policy) {}
  barrier_by_tree(std::uint32_t first, std::size_t participants, wait_policy policy)
      : barrier_starting_at(first, participants, policy, 1) {}
};

}  // namespace lockstep::test
