// SPDX-License-Identifier: MIT
// tests/contract/barrier_contract_test.cpp -- what every barrier promises, under every policy
//
// One typed suite over ranked_barrier, by flags and by its tree, and barrier. Each thread writes a plain cell of its
// own before the barrier and reads all of them after it: a hole in the order is a wrong value here and a
// report under ThreadSanitizer, a lost wake-up a ctest timeout.
#include <lockstep/barrier.hpp>
#include <lockstep/ranked_barrier.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "support/policies.hpp"
#include "support/ranked_barriers.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::barrier_by_tree;
using lockstep::test::barrier_starting_at;
using lockstep::test::run_threads;
using lockstep::test::starting_at;

// Each adapter gives one barrier the same face: two halves, and a first phase for wrap-around.

template <class Barrier>
struct ranked_face {
  Barrier object;
  ranked_face(std::size_t threads, wait_policy policy, std::uint32_t first)
      : object(first, threads, policy) {}

  struct arrival {
    std::size_t rank;
  };
  arrival arrive(std::size_t rank) {
    object.arrive(rank);
    return {rank};
  }
  wait_status wait_for(const arrival& at, std::chrono::nanoseconds time) {
    return object.wait_for(at.rank, time);
  }
  bool try_wait(const arrival& at) { return object.try_wait(at.rank); }
  void arrive_and_wait(std::size_t rank) { EXPECT_TRUE(object.arrive_and_wait(rank)); }
};

struct counted_face {
  starting_at<lockstep::barrier<>> object;
  counted_face(std::size_t threads, wait_policy policy, std::uint32_t first)
      : object(first, static_cast<std::ptrdiff_t>(threads), lockstep::detail::no_completion(),
               policy) {}

  using arrival = lockstep::barrier<>::arrival_token;
  arrival arrive(std::size_t) { return object.arrive(); }
  wait_status wait_for(const arrival& at, std::chrono::nanoseconds time) {
    return object.wait_for(at, time);
  }
  bool try_wait(const arrival& at) { return object.try_wait(at); }
  void arrive_and_wait(std::size_t) { object.arrive_and_wait(); }
};

template <class Face>
class barrier_contract : public testing::Test {
 protected:
  /// Uncrowded and crowded. Where pure spinners share CPUs there are few phases.
  template <class Body>
  void for_all(Body body) {
    for (const lockstep::test::named_policy& named : lockstep::test::all_policies()) {
      // On both sides of the limit for flags, 4 or 8. In the tree, 3 threads are one node, 5 two levels, 17 three.
      for (const std::size_t threads : {1u, 2u, 3u, 5u, 9u, 17u, 64u}) {
        const bool crowded = threads > lockstep::detail::usable_cpus();
        if (named.policy.is_spin() && threads > 3) continue;
        for (const std::uint32_t first : {0x7FFFFFFEu, 0xFFFFFFFEu}) {
          SCOPED_TRACE(testing::Message() << named.name << ", " << threads << " from " << first);
          Face face(threads, named.policy, first);
          const int plenty = threads > 9 ? 12 : threads > 3 ? 60 : 120;
          body(face, threads, named.policy.is_spin() && crowded ? 5 : plenty);
        }
      }
    }
  }
};

using faces =
    testing::Types<ranked_face<barrier_starting_at>, ranked_face<barrier_by_tree>, counted_face>;
TYPED_TEST_SUITE(barrier_contract, faces);

TYPED_TEST(barrier_contract, nobody_returns_before_all_have_arrived_and_all_see_what_all_wrote) {
  this->for_all([](TypeParam& face, std::size_t threads, int phases) {
    std::vector<std::vector<int>> cells(2, std::vector<int>(threads));
    std::atomic<int> wrong{0};
    run_threads(threads, [&](std::size_t rank) {
      for (int phase = 1; phase <= phases; ++phase) {
        std::vector<int>& now = cells[static_cast<std::size_t>(phase % 2)];
        now[rank] = phase;
        if (phase % 4 != 0) {
          face.arrive_and_wait(rank);
        } else {  // the two halves, and time-outs, which take nothing
          const auto arrival = face.arrive(rank);
          bool over = phase % 3 == 0 && face.try_wait(arrival);
          while (!over) {
            const auto time = std::chrono::microseconds(phase % 8 == 0 ? 20 : 1000000);
            over = face.wait_for(arrival, time) == wait_status::ready;
          }
        }
        for (const int each : now) wrong += each != phase;
      }
    });
    EXPECT_EQ(wrong.load(), 0);
  });
}

TYPED_TEST(barrier_contract, a_phase_that_somebody_is_missing_in_is_not_over) {
  for (const lockstep::test::named_policy& named : lockstep::test::all_policies()) {
    SCOPED_TRACE(named.name);
    TypeParam face(2, named.policy, 0);
    const auto first = face.arrive(0);
    EXPECT_FALSE(face.try_wait(first));
    EXPECT_EQ(face.wait_for(first, std::chrono::nanoseconds(-1)), wait_status::timed_out);
    EXPECT_EQ(face.wait_for(first, std::chrono::microseconds(50)), wait_status::timed_out);
    const auto second = face.arrive(1);
    EXPECT_EQ(face.wait_for(first, std::chrono::nanoseconds(-1)), wait_status::ready);
    EXPECT_TRUE(face.try_wait(second));
  }
}

}  // namespace
