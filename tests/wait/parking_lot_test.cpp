// SPDX-License-Identifier: MIT
// tests/wait/parking_lot_test.cpp -- queues keep their order and their threads; notifications are not lost
#include "wait/parking_lot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/parking.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::deadline;
using lockstep::detail::parked_chain;
using lockstep::detail::parked_thread;
using lockstep::detail::parking_lot;
using lockstep::detail::queue_key;
using lockstep::test::run_threads;
using queue = lockstep::detail::parking_lot::queue;
using lockstep::test::is_known;

constexpr std::uintptr_t key = 0x1000;
/// For which purpose a thread is let go.
constexpr std::uint32_t ahead_of_its_turn = 1, woken_by_an_unlock = 2;

TEST(parking_lot, kinds_of_objects_at_one_address_have_different_keys) {
  const lockstep::detail::wait_word word{0};
  using kind = lockstep::detail::wait_kind;
  std::vector<std::uintptr_t> keys;
  for (const kind each :
       {kind::mutex, kind::counting_semaphore, kind::shared_mutex, kind::condition_variable}) {
    keys.push_back(queue_key::of(word, each));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

TEST(parking_lot, a_queue_that_nobody_joined_is_empty) {
  const queue waiters(key);
  EXPECT_TRUE(waiters.empty());
  EXPECT_EQ(waiters.front(), nullptr);
}

TEST(parking_lot, PARKING1_queues_of_many_keys_keep_their_order_whatever_is_added_and_removed) {
  // Far more keys than buckets, so that queues share buckets; a deque per key is the model.
  std::mt19937 random(7);
  std::vector<parked_thread> threads(3000);
  std::map<std::uintptr_t, std::deque<parked_thread*>> model;
  for (parked_thread& each : threads) {
    const std::uintptr_t where = key + 4 * (random() % 600);
    queue waiters(where);
    waiters.enter(each);
    model[where].push_back(&each);
  }
  while (!model.empty()) {
    const auto at = std::next(model.begin(), static_cast<long>(random() % model.size()));
    std::deque<parked_thread*>& expected = at->second;
    {
      queue waiters(at->first);
      std::deque<parked_thread*> found;
      for (parked_thread* each = waiters.front(); each != nullptr; each = waiters.behind(*each)) {
        found.push_back(each);
      }
      ASSERT_EQ(found, expected);
      const auto victim = expected.begin() + static_cast<long>(random() % expected.size());
      if (random() % 4 == 0) {  // let go in vain: it has its place still
        waiters.notify(**victim, woken_by_an_unlock);
        EXPECT_FALSE(waiters.withdraw(**victim));
        EXPECT_EQ(waiters.empty(), expected.size() == 1);
        EXPECT_TRUE(is_known(at->first));
        waiters.enter(**victim);
        continue;
      }
      EXPECT_TRUE(waiters.withdraw(**victim));
      EXPECT_FALSE(waiters.withdraw(**victim));
      expected.erase(victim);
      EXPECT_EQ(waiters.empty(), expected.empty());
    }
    if (expected.empty()) model.erase(at);
  }
}

TEST(parking_lot, PARKING4_in_a_child_no_word_tells_of_waiters_and_no_queue_has_one) {
  using kind = lockstep::detail::wait_kind;
  constexpr kind kinds[] = {kind::mutex, kind::counting_semaphore, kind::shared_mutex,
                            kind::condition_variable};
  constexpr std::uint32_t kept[] = {1u, ~1u, ~2u, 0u};
  // Many words, so that queues share buckets; each with nobody, waiters, one on its way, or both.
  std::deque<lockstep::detail::wait_word> words(1200);
  std::deque<parked_thread> threads(2 * words.size());
  const auto key_of = [&](std::size_t i) { return queue_key::of(words[i], kinds[i % 4]); };
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].store(~0u, std::memory_order_relaxed);
    const bool waits = i / 4 % 2 != 0, comes = i / 8 % 2 != 0;
    queue waiters(key_of(i));
    waiters.enter(threads[2 * i]);
    if (comes) waiters.notify(threads[2 * i], woken_by_an_unlock);
    if (!comes) waiters.remove(threads[2 * i]);
    if (waits) waiters.enter(threads[2 * i + 1]);
    EXPECT_EQ(is_known(key_of(i)), waits || comes);
  }
  parking_lot::around_fork::lock();
  parking_lot::around_fork::in_child();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool known = i / 4 % 4 != 0;
    EXPECT_EQ(words[i].load(std::memory_order_relaxed), known ? kept[i % 4] : ~0u) << i;
    const queue waiters(key_of(i));
    EXPECT_FALSE(is_known(key_of(i)));
  }
}

TEST(parking_lot, PARKING4_one_that_has_arrived_is_not_known_any_more_whatever_the_order) {
  for (std::size_t first = 0; first < 3; ++first) {
    std::deque<parked_thread> threads(3);
    queue waiters(key);
    for (parked_thread& each : threads) waiters.enter(each);
    for (parked_thread& each : threads) waiters.notify(each, woken_by_an_unlock);
    EXPECT_TRUE(waiters.empty());
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(is_known(key));
      waiters.remove(threads[(first + i) % 3]);
    }
    EXPECT_FALSE(is_known(key));
  }
}

TEST(parking_lot, a_chain_takes_threads_from_one_queue_to_the_next_in_their_order) {
  std::deque<parked_thread> threads(3);
  parked_chain chain;
  {
    queue waiters(key);
    for (parked_thread& each : threads) waiters.enter(each);
    while (parked_thread* const next = waiters.front()) {
      waiters.remove(*next);
      chain.push_back(*next);
    }
  }
  {
    queue waiters(key + 4);
    while (parked_thread* const next = chain.pop_front()) waiters.enter(*next);
    for (parked_thread& expected : threads) {
      ASSERT_EQ(waiters.front(), &expected);
      EXPECT_TRUE(waiters.withdraw(expected));
      EXPECT_FALSE(waiters.withdraw(expected));
    }
  }
}

TEST(parking_lot, PARKING4_one_that_was_let_go_is_no_waiter_but_known_and_comes_back_to_its_place) {
  parked_thread woken, ahead, newcomer;
  queue waiters(key);
  for (parked_thread* each : {&woken, &ahead, &newcomer}) waiters.enter(*each);
  waiters.notify(woken, woken_by_an_unlock);
  waiters.notify(ahead, ahead_of_its_turn);
  EXPECT_EQ(waiters.front(), &newcomer);
  EXPECT_FALSE(waiters.withdraw(woken));
  EXPECT_EQ(woken.purpose(), woken_by_an_unlock);
  EXPECT_FALSE(ahead.waits());
  waiters.enter(ahead);
  EXPECT_TRUE(ahead.waits());
  EXPECT_EQ(ahead.purpose(), ahead_of_its_turn);
  EXPECT_EQ(waiters.front(), &ahead);
  EXPECT_EQ(waiters.behind(ahead), &newcomer);
  for (parked_thread* each : {&ahead, &newcomer}) EXPECT_TRUE(waiters.withdraw(*each));
  EXPECT_TRUE(waiters.empty());
  EXPECT_TRUE(is_known(key));
  waiters.remove(woken);
  EXPECT_FALSE(is_known(key));
}

class parked_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, parked_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

TEST_P(parked_with_policy,
       PARKING1_a_notification_before_the_wait_is_not_lost_and_coming_back_takes_it_back) {
  parked_thread self;
  queue(key).enter(self);
  queue(key).notify(self, ahead_of_its_turn);
  EXPECT_TRUE(self.wait(GetParam().policy));
  EXPECT_TRUE(
      self.wait(GetParam().policy, deadline::after(std::chrono::seconds(-1)).nanoseconds()));
  queue(key).enter(self);
  EXPECT_FALSE(
      self.wait(GetParam().policy, deadline::after(std::chrono::microseconds(50)).nanoseconds()));
  queue(key).remove(self);
}

TEST_P(parked_with_policy,
       PARKING3_the_waiter_sees_what_came_before_its_notification_and_may_be_gone_at_once) {
  const int rounds = lockstep::test::effort(GetParam().policy.is_spin() ? 100 : 2000);
  for (int i = 0; i < rounds; ++i) {
    parked_thread* parked = nullptr;
    int said = 0;  // plain
    run_threads(2, [&](std::size_t rank) {
      if (rank == 0) {
        // Its own stack: overwritten by the next call when this one has returned.
        parked_thread self;
        {
          queue waiters(key);
          parked = &self;
          waiters.enter(self);
        }
        EXPECT_TRUE(self.wait(GetParam().policy));
        EXPECT_EQ(said, i + 1);
        return;
      }
      for (bool found = false; !found;) {
        queue waiters(key);
        found = !waiters.empty();
        if (!found) continue;
        EXPECT_EQ(waiters.front(), parked);
        waiters.remove(*parked);
        said = i + 1;
        waiters.notify(*parked);
      }
    });
  }
}

TEST(parking_lot, a_queue_wakes_more_sleepers_than_it_has_places_for) {
  constexpr std::size_t count = 100;
  std::vector<parked_thread> threads(count);
  std::vector<lockstep::test::watched_thread> watched(count);
  run_threads(count + 1, [&](std::size_t rank) {
    if (rank < count) {
      watched[rank].enter();
      EXPECT_TRUE(threads[rank].wait(lockstep::wait_policy::block()));
      return;
    }
    for (const auto& each : watched) each.wait_until_asleep();
    queue waiters(key);
    for (parked_thread& each : threads) waiters.notify(each);
  });
}

}  // namespace
