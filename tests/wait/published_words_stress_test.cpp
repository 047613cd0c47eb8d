// SPDX-License-Identifier: MIT
// tests/wait/published_words_stress_test.cpp -- mark and engine on the running system, many times
//
// A lost wake-up is a ctest timeout, a hole in the order of payload and phase a report of
// ThreadSanitizer or a wrong value. The steps one by one are in published_words_test.cpp.
#include "wait/published_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "support/policies.hpp"
#include "support/threads.hpp"
#include "wait/wait_engine.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::detail::fence_payer;
using lockstep::detail::sleeper_mark;
using lockstep::detail::wait_engine;
using lockstep::detail::wait_history;
using lockstep::detail::wait_word;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

/// A counter that one thread advances and others wait for, with some plain data that it hands over.
class counter {
 public:
  std::uint32_t payload = 0;

  explicit counter(fence_payer payer) : payer_(payer) {}

  void advance() {
    phase_.store(++published_, memory_order_release);
    mark_.notify(payer_);
  }
  bool wait(std::uint32_t target, wait_policy policy, wait_history& history) {
    reached what(*this, target);
    return wait_engine::wait(what, policy, history);
  }

 private:
  struct reached : lockstep::detail::waitable {
    counter& owner;
    std::uint32_t target;

    reached(counter& of, std::uint32_t to) noexcept : owner(of), target(to) {}
    bool ready() noexcept override { return owner.phase_.load(memory_order_acquire) >= target; }
    void sleep(std::uint64_t until) override { owner.mark_.sleep(*this, until, owner.payer_); }
  };

  fence_payer payer_;
  wait_word phase_{0};
  sleeper_mark mark_;
  std::uint32_t published_ = 0;
};

using policy_and_payer = std::tuple<lockstep::test::named_policy, fence_payer>;

class crowd_safe : public testing::TestWithParam<policy_and_payer> {
 protected:
  wait_policy policy_ = std::get<0>(GetParam()).policy;
  fence_payer payer_ = std::get<1>(GetParam());
};
INSTANTIATE_TEST_SUITE_P(policies, crowd_safe,
                         testing::Combine(testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                                          testing::Values(fence_payer::sleeper, fence_payer::both)),
                         [](const auto& the) {
                           return std::get<0>(the.param).name +
                                  std::string(std::get<1>(the.param) == fence_payer::both
                                                  ? "_both_pay"
                                                  : "_sleeper_pays");
                         });

TEST_P(crowd_safe, WAIT_2_no_wake_up_is_lost_between_a_notifier_and_its_sleepers) {
  constexpr std::uint32_t rounds = 500;
  for (const std::size_t sleepers : {1u, 2u, 5u}) {
    counter there(payer_);
    std::deque<counter> back;
    for (std::size_t i = 0; i < sleepers; ++i) back.emplace_back(payer_);
    std::vector<std::uint32_t> wrong(sleepers + 1, 0);
    lockstep::test::run_threads(sleepers + 1, [&](unsigned rank) {
      wait_history history;
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        if (rank == sleepers) {
          there.payload = round;
          there.advance();
          for (counter& one : back) {
            one.wait(round, policy_, history);
            wrong[rank] += one.payload != round;
          }
        } else {
          there.wait(round, policy_, history);
          wrong[rank] += there.payload != round;
          back[rank].payload = round;
          back[rank].advance();
        }
      }
    });
    EXPECT_EQ(wrong, std::vector<std::uint32_t>(sleepers + 1, 0));
  }
}

TEST_P(crowd_safe, PUBLISH_2_a_sleeper_of_the_next_phase_strands_nobody_of_this_one) {
  // The notifier runs ahead of its sleepers: some still enter their sleep for one phase while others
  // already announce themselves for the next.
  constexpr std::uint32_t rounds = 1500;
  counter there(payer_);
  std::array<counter, 3> seen = {counter(payer_), counter(payer_), counter(payer_)};
  std::array<std::uint32_t, 4> returned = {};
  lockstep::test::run_threads(seen.size() + 1, [&](unsigned rank) {
    wait_history history;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (rank < seen.size()) {
        returned[rank] += there.wait(round, policy_, history);
        seen[rank].advance();
      } else {
        there.advance();
        returned[rank] += seen[round % seen.size()].wait(round, policy_, history);
      }
    }
  });
  for (const std::uint32_t count : returned) EXPECT_EQ(count, rounds);
}

class each_payer : public testing::TestWithParam<fence_payer> {};
INSTANTIATE_TEST_SUITE_P(payers, each_payer,
                         testing::Values(fence_payer::sleeper, fence_payer::both));

TEST_P(each_payer, PUBLISH_2_notifiers_that_come_together_make_one_step) {
  constexpr std::uint32_t rounds = 3000;
  constexpr std::size_t notifiers = 3;
  sleeper_mark mark;
  wait_word& word = reinterpret_cast<wait_word&>(mark);
  lockstep::test::start_gate gate(notifiers);
  std::uint32_t wrong = 0;
  lockstep::test::run_threads(notifiers, [&](unsigned rank) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (rank == 0) word.fetch_or(1u, memory_order_relaxed);
      gate.arrive_and_wait();
      mark.notify(GetParam());
      gate.arrive_and_wait();
      if (rank == 0) wrong += word.load(memory_order_relaxed) != 2 * (round + 1);
    }
  });
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
