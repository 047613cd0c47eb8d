// SPDX-License-Identifier: MIT
// tests/region/turns_test.cpp -- TURN-1 and TURN-2: turns in the order of the calls, one thread at a time
#include "region/turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "support/asleep.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::detail::caller_queue;
using lockstep::detail::caller_turn;
using lockstep::test::watched_thread;

class caller_queue_by : public testing::TestWithParam<lockstep::test::named_policy> {
 protected:
  bool spins() const { return GetParam().policy.is_spin(); }
};

INSTANTIATE_TEST_SUITE_P(policies, caller_queue_by,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

TEST_P(caller_queue_by, TURN_1_turns_are_given_in_the_order_of_the_calls_of_begin) {
  if (spins()) GTEST_SKIP() << "only a sleeper is known to stand in the queue";
  caller_queue queue(GetParam().policy);
  constexpr std::size_t waiters = 6;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::size_t> order;  // plain: TURN-2
    std::vector<watched_thread> watched(waiters);
    std::vector<std::thread> threads;
    queue.take_turn();
    for (std::size_t k = 0; k < waiters; ++k) {
      threads.emplace_back([&, k] {
        watched[k].enter();
        const caller_turn mine(queue);
        order.push_back(k);
      });
      watched[k].wait_until_asleep();  // it has called begin() before the next is started
    }
    queue.end_turn();
    for (std::thread& each : threads) each.join();
    for (std::size_t k = 0; k < waiters; ++k) EXPECT_EQ(order[k], k);
  }
}

TEST_P(caller_queue_by, try_begin_takes_a_turn_that_is_free_and_no_other) {
  caller_queue queue(GetParam().policy);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(queue.try_take_turn());
    EXPECT_FALSE(queue.try_take_turn()) << "it has begun";
    queue.end_turn();
    queue.take_turn();
    EXPECT_FALSE(queue.try_take_turn());
    queue.end_turn();
  }
}

TEST_P(caller_queue_by, TURN_1_try_begin_does_not_pass_those_who_are_queued) {
  if (spins()) GTEST_SKIP() << "only a sleeper is known to stand in the queue";
  caller_queue queue(GetParam().policy);
  for (int round = 0; round < 20; ++round) {
    watched_thread watched;
    std::atomic<bool> over{false};
    queue.take_turn();
    std::thread other([&] {
      watched.enter();
      const caller_turn mine(queue);
      while (!over) std::this_thread::yield();
    });
    watched.wait_until_asleep();
    queue.end_turn();
    EXPECT_FALSE(queue.try_take_turn()) << "it is the other's turn, whether it is awake or not";
    over = true;
    other.join();
  }
}

TEST_P(caller_queue_by, in_a_child_the_queue_is_empty_but_for_the_callers_own_turn) {
  // What fork_listener::in_child does, without a fork: tickets of threads that are gone count no more.
  for (const bool has_turn : {false, true}) {
    caller_queue queue(GetParam().policy);
    for (int i = 0; i < 3; ++i) const caller_turn past(queue);
    queue.take_turn();  // the child's own turn, or that of a thread that is gone
    queue.forget_others(has_turn);
    if (has_turn) {
      bool ended = false;  // plain: TURN-2
      std::thread other([&] {
        const caller_turn mine(queue);
        EXPECT_TRUE(ended);
      });
      for (int i = 0; i < 50; ++i) std::this_thread::yield();
      ended = true;
      queue.end_turn();
      other.join();
    }
    int turns = 0;
    for (int i = 0; i < 3; ++i) {
      const caller_turn mine(queue);
      ++turns;
    }
    EXPECT_EQ(turns, 3);
  }
}

TEST_P(caller_queue_by, TURN_6_the_first_thread_keeps_its_turns_until_another_comes) {
  caller_queue queue(GetParam().policy);
  long sum = 0;  // plain: TURN-2
  const auto take = [&](int turns, int kept_from) {
    for (int i = 0; i < turns; ++i) {
      const caller_turn mine(queue);
      EXPECT_EQ(queue.is_kept(), i >= kept_from) << i;
      ++sum;
    }
  };
  take(6, 1);
  std::thread([&] { take(6, 6); }).join();  // others never keep
  take(6, 6);                               // nor does the first, once another has come
  EXPECT_EQ(sum, 18);
}

TEST_P(caller_queue_by, TURN_6_who_comes_in_a_turn_that_is_kept_waits_for_its_end) {
  for (int round = 0; round < 20; ++round) {
    caller_queue queue(GetParam().policy);
    {
      const caller_turn first(queue);
    }
    bool ended = false;  // plain: TURN-2
    queue.take_turn();
    EXPECT_EQ(queue.is_kept(), true);
    std::atomic<bool> has_tried{false};
    std::thread other([&] {
      const bool is_taken = queue.try_take_turn();
      EXPECT_FALSE(is_taken);
      if (is_taken) queue.end_turn();
      has_tried = true;
      const caller_turn mine(queue);
      EXPECT_TRUE(ended);
    });
    while (!has_tried) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    ended = true;
    queue.end_turn();
    other.join();
  }
}

TEST_P(caller_queue_by, TURN_5_the_keeper_has_no_turn_after_the_end) {
  for (const bool has_turn : {false, true}) {
    caller_queue queue(GetParam().policy);
    for (int i = 0; i < 3; ++i) const caller_turn past(queue);
    if (has_turn) queue.take_turn();
    EXPECT_EQ(queue.shut(), !has_turn);
    if (has_turn) queue.end_turn();
    EXPECT_FALSE(queue.try_take_turn());
    std::thread([&] { EXPECT_FALSE(queue.is_kept_by_another()); }).join();
  }
}

TEST_P(caller_queue_by, TURN_6_the_keeper_takes_a_turn_with_a_number_and_keeps_the_next) {
  caller_queue queue(GetParam().policy);
  for (int i = 0; i < 3; ++i) {
    const caller_turn past(queue);
    EXPECT_EQ(queue.is_kept(), i > 0);
  }
  ASSERT_TRUE(queue.try_take_turn());
  EXPECT_FALSE(queue.is_kept());
  queue.end_turn();
  const caller_turn mine(queue);
  EXPECT_TRUE(queue.is_kept());
}

TEST_P(caller_queue_by, TURN_5_nobody_keeps_turns_after_an_end_that_comes_in_the_first_turn) {
  caller_queue queue(GetParam().policy);
  queue.take_turn();
  EXPECT_FALSE(queue.shut());
  queue.end_turn();
  std::thread([&] { EXPECT_FALSE(queue.is_kept_by_another()); }).join();
}

}  // namespace
