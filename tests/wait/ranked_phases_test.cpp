// SPDX-License-Identifier: MIT
// tests/wait/ranked_phases_test.cpp -- phases whose participants are in groups; tests/sync/ranked_barrier_test.cpp has
// those without
#include "wait/ranked_phases.hpp"
#include <lockstep/detail/base/rank_groups.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "support/policies.hpp"
#include "support/rank_places.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::rank_groups;
using lockstep::test::blocks_of_ranks;
using lockstep::test::dealt_ranks;
using lockstep::test::rank_places;

struct value {
  std::uint64_t sum;
};
using phases = lockstep::detail::ranked_phases<value>;

/// All participants of `size` meet so often, and each sees the sum that the last to arrive has made.
void meet(phases& all, std::size_t size, std::uint32_t first_phase) {
  std::vector<std::uint64_t> own(size);
  std::atomic<int> wrong{0};
  constexpr std::uint32_t rounds = 60;
  lockstep::test::run_threads(size, [&](std::size_t rank) {
    lockstep::detail::wait_history history;
    for (std::uint32_t phase = first_phase + 1; phase != first_phase + 1 + rounds; ++phase) {
      own[rank] = std::uint64_t{phase} + rank;  // plain: read by the last
      all.arrive(rank, size, phase,
                 [&](value& of_all) {
                   of_all.sum = 0;
                   for (const std::uint64_t each : own) of_all.sum += each;
                 }) ||
          all.wait_for_others(rank, size, [&](const auto& word, std::size_t other) {
            wrong += (other == lockstep::detail::whereabouts::everybody) == all.has_flags(size);
            word.wait(lockstep::detail::phase_reached{phase}, lockstep::detail::never_stops(),
                      history);
            return true;
          });
      const std::uint64_t expected = size * std::uint64_t{phase} + size * (size - 1) / 2;
      wrong += all.value_of_all().sum != expected;
      wrong += !all.has_arrived(rank, size, {phase});
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ranked_phases, RANKED_1_of_groups_all_meet_and_see_one_value_in_phases_of_any_size) {
  for (const auto& policy : lockstep::test::crowd_safe_policies()) {
    for (const rank_places& places : {dealt_ranks(12, 3), blocks_of_ranks(12, 4),
                                      blocks_of_ranks(12, 5, 1), dealt_ranks(12, 2, 2)}) {
      const rank_groups groups(places);
      phases all(12, policy.policy, 12, 1, groups);
      for (const std::size_t size : {12u, 7u, 2u}) {
        for (const std::uint32_t first_phase : {0u, 0xfffffff0u}) {
          all.reset(first_phase);
          meet(all, size, first_phase);
        }
      }
    }
  }
}

}  // namespace
