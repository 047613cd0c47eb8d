// SPDX-License-Identifier: MIT
// tests/wait/waiters_test.cpp -- every state of a stage's trust, reached by its own operations
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using lockstep::detail::backoff_trust;
using lockstep::detail::wait_history;

constexpr int limit = 4, probe_interval = 64;

struct state {
  std::string name;
  backoff_trust trust;
};

/// All states: each doubt from 0 to 4 with each number of skipped waits.
std::vector<state> all_states() {
  std::vector<state> states;
  for (int doubt = 0; doubt <= limit; ++doubt) {
    for (int skipped = 0; skipped < probe_interval; ++skipped) {
      backoff_trust trust;
      trust.failed_badly();
      for (int i = 0; i < skipped; ++i) trust.asks();
      if (doubt < limit) {
        for (int i = 0; i < 3; ++i) trust.paid();  // 4, 2, 1, 0
        for (int i = 0; i < doubt; ++i) trust.failed();
      }
      states.push_back(
          {std::to_string(doubt) + " doubts, " + std::to_string(skipped) + " skipped", trust});
    }
  }
  return states;
}

/// How many of the next waits try the stage, if it ends none of them and that is not held against it.
int tries_in(backoff_trust trust, int waits) {
  int tries = 0;
  for (int i = 0; i < waits; ++i) tries += trust.asks() ? 1 : 0;
  return tries;
}
bool is_trusted(backoff_trust trust) { return tries_in(trust, probe_interval) == probe_interval; }

TEST(backoff_trust, is_given_in_advance_and_that_is_all_zero_bits) {
  unsigned char zeros[sizeof(wait_history)] = {};
  wait_history history;
  EXPECT_EQ(std::memcmp(&history, zeros, sizeof history), 0);
  EXPECT_TRUE(is_trusted(history.spinning));
  EXPECT_TRUE(is_trusted(history.yielding));
}

TEST(backoff_trust, ends_with_the_fourth_failure_in_a_row) {
  backoff_trust trust;
  for (int failures = 1; failures < limit; ++failures) {
    trust.failed();
    EXPECT_TRUE(is_trusted(trust)) << failures;
  }
  trust.failed();
  EXPECT_FALSE(is_trusted(trust));
}

TEST(backoff_trust, ends_from_any_state_with_four_failures_and_more_change_nothing) {
  for (state s : all_states()) {
    for (int i = 0; i < limit; ++i) s.trust.failed();
    EXPECT_FALSE(is_trusted(s.trust)) << s.name;
    for (int i = 0; i < 1000; ++i) s.trust.failed();
    EXPECT_FALSE(is_trusted(s.trust)) << s.name;
    s.trust.paid();
    EXPECT_TRUE(is_trusted(s.trust))
        << s.name << ": a long past of failures is forgiven as a short one";
  }
}

TEST(backoff_trust, ends_from_any_state_with_one_bad_failure) {
  for (state s : all_states()) {
    s.trust.failed_badly();
    EXPECT_FALSE(is_trusted(s.trust)) << s.name;
  }
}

TEST(backoff_trust, is_restored_from_any_state_by_one_success) {
  for (state s : all_states()) {
    s.trust.paid();
    EXPECT_TRUE(is_trusted(s.trust)) << s.name;
    s.trust.failed();
    EXPECT_TRUE(is_trusted(s.trust)) << s.name << ": one failure later";
  }
}

TEST(backoff_trust, that_one_success_restored_ends_with_the_second_failure) {
  backoff_trust trust;
  trust.failed_badly();
  trust.paid();
  trust.failed();
  EXPECT_TRUE(is_trusted(trust));
  trust.failed();
  EXPECT_FALSE(is_trusted(trust));
}

TEST(backoff_trust, that_successes_restored_in_full_takes_four_failures_again) {
  for (state s : all_states()) {
    for (int i = 0; i < 3; ++i) s.trust.paid();
    for (int i = 1; i < limit; ++i) s.trust.failed();
    EXPECT_TRUE(is_trusted(s.trust)) << s.name;
  }
}

TEST(backoff_trust, probes_exactly_once_an_interval_while_there_is_none) {
  for (const state& s : all_states()) {
    if (is_trusted(s.trust)) continue;
    for (int shift = 0; shift < probe_interval; ++shift) {
      backoff_trust trust = s.trust;
      for (int i = 0; i < shift; ++i) trust.asks();
      EXPECT_EQ(tries_in(trust, probe_interval), 1) << s.name << ", after " << shift;
    }
  }
}

TEST(backoff_trust, first_probes_at_the_end_of_an_interval) {
  backoff_trust trust;
  trust.failed_badly();
  EXPECT_EQ(tries_in(trust, probe_interval - 1), 0);
  EXPECT_EQ(tries_in(trust, probe_interval), 1);
}

TEST(this_thread_history, is_each_thread_s_own_and_begins_without_doubt) {
  lockstep::detail::this_thread_history().on_words.spinning.failed_badly();
  EXPECT_EQ(&lockstep::detail::this_thread_history(), &lockstep::detail::this_thread_history());
  std::thread([] {
    EXPECT_TRUE(lockstep::detail::this_thread_history().on_words.spinning.asks());
  }).join();
  EXPECT_FALSE(lockstep::detail::this_thread_history().on_words.spinning.asks());
}

}  // namespace
