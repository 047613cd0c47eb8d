// SPDX-License-Identifier: MIT
// tests/toolbox/mailbox_test.cpp -- calls posted to a thread run once, in order, and none leaks
//
// Posted calls and posters share *plain* data: a hole in the ordering is a ThreadSanitizer report, a
// lost wake-up a ctest timeout, a call lost or run twice a wrong count.
#include <lockstep/mailbox.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "support/asleep.hpp"
#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::mailbox;
using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::starting_at;

static_assert(!std::is_copy_constructible<mailbox>::value, "not copyable");
static_assert(!std::is_move_constructible<mailbox>::value, "not movable");

// Positions have 31 bits: from the second value on they wrap after three.
constexpr std::uint32_t first_positions[] = {0u, 0x7FFFFFFDu, 0x3FFFFFFDu};

class mailbox_with_policy : public testing::TestWithParam<lockstep::test::named_policy> {
 protected:
  wait_policy policy() const { return GetParam().policy; }
};
INSTANTIATE_TEST_SUITE_P(policies, mailbox_with_policy,
                         testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);

TEST(mailbox, MAILBOX_1_MAILBOX_2_it_takes_as_many_calls_as_its_capacity_at_every_position) {
  for (const std::uint32_t first : first_positions) {
    for (const std::size_t capacity : {1u, 2u, 3u, 4u, 8u}) {
      starting_at<mailbox> box(first, capacity, wait_policy());
      EXPECT_GE(box.capacity(), capacity);
      EXPECT_EQ(box.capacity() & (box.capacity() - 1), 0u);
      std::vector<std::size_t> run, expected;
      for (std::size_t lap = 0; lap < 10; ++lap) {
        for (std::size_t i = 0; i < box.capacity(); ++i) {
          expected.push_back(100 * lap + i);
          ASSERT_TRUE(box.post([&run, lap, i] { run.push_back(100 * lap + i); }));
        }
        EXPECT_FALSE(box.post([&run] { run.push_back(0); })) << "full";
        EXPECT_EQ(box.run_pending(), box.capacity());
        EXPECT_EQ(box.run_pending(), 0u);
      }
      EXPECT_EQ(run, expected);
    }
  }
}

TEST(mailbox, absurd_capacities_are_refused_by_name) {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{65537}, ~std::size_t{0}}) {
    try {
      mailbox refused(capacity);
      ADD_FAILURE() << capacity;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("lockstep::mailbox"), std::string::npos);
    }
  }
}

TEST(mailbox, a_sleeping_owner_is_woken_by_a_post_and_by_terminate) {
  for (const auto& named : {wait_policy::block(), wait_policy()}) {
    mailbox box(2, named);
    int run = 0;
    lockstep::test::watched_thread watched;
    lockstep::test::run_threads(2, [&](std::size_t rank) {
      if (rank == 0) {
        watched.enter();
        EXPECT_TRUE(box.serve_until([&] { return run == 1; }));
        EXPECT_FALSE(box.wait_and_run());
        return;
      }
      watched.wait_until_asleep();
      EXPECT_TRUE(box.post([&run] { ++run; }));
      watched.wait_until_asleep();
      box.terminate();
    });
    EXPECT_EQ(run, 1);
  }
}

TEST_P(mailbox_with_policy, a_timed_wait_runs_what_comes_in_time_and_else_nothing) {
  mailbox box(4, policy());
  int run = 0;
  EXPECT_EQ(box.wait_and_run_for(std::chrono::microseconds(30)), wait_status::timed_out);
  EXPECT_EQ(box.wait_and_run_for(std::chrono::nanoseconds(-1)), wait_status::timed_out);
  EXPECT_EQ(box.wait_and_run_until(std::chrono::steady_clock::now()), wait_status::timed_out);
  box.post([&run] { ++run; });
  box.post([&run] { ++run; });
  EXPECT_EQ(box.wait_and_run_for(std::chrono::nanoseconds(0)), wait_status::ready);
  EXPECT_EQ(run, 2);
  box.terminate();
  EXPECT_EQ(box.wait_and_run_for(std::chrono::hours(1)), wait_status::terminated);
}

TEST_P(mailbox_with_policy,
       MAILBOX_3_after_terminate_no_post_succeeds_and_earlier_calls_still_run) {
  for (const std::uint32_t first : first_positions) {
    starting_at<mailbox> box(first, 4u, policy());
    int run = 0;
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(box.post([&run] { ++run; }));
    EXPECT_FALSE(box.terminated());
    box.terminate();
    EXPECT_TRUE(box.terminated());
    EXPECT_FALSE(box.post([&run] { ++run; }));
    EXPECT_TRUE(box.wait_and_run());
    EXPECT_EQ(run, 4);
    EXPECT_FALSE(box.post([&run] { ++run; }));
    EXPECT_FALSE(box.wait_and_run());
    EXPECT_FALSE(box.serve_until([] { return false; }));
    EXPECT_TRUE(box.serve_until([] { return true; }));
    EXPECT_EQ(run, 4);
  }
}

TEST_P(mailbox_with_policy, MAILBOX_3_every_post_that_races_terminate_is_run_or_refused) {
  for (int round = 0; round < (policy().is_spin() ? 20 : 300); ++round) {
    mailbox box(64, policy());
    long run = 0, accepted = 0;
    lockstep::test::run_threads(3, [&](std::size_t rank) {
      if (rank == 0) {
        while (box.wait_and_run()) continue;
      } else if (rank == 1) {
        for (int i = 0; i < 20; ++i) accepted += box.post([&run] { ++run; });
      } else {
        box.terminate();
      }
    });
    ASSERT_EQ(run, accepted);
  }
}

TEST(mailbox, MAILBOX_3_calls_never_run_are_destroyed_with_it) {
  const auto token = std::make_shared<int>(0);
  {
    mailbox box(4);
    for (int i = 0; i < 3; ++i) box.post([token] { ++*token; });
    EXPECT_EQ(token.use_count(), 4);
    box.terminate();
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(*token, 0);
}

TEST(mailbox, MAILBOX_4_a_call_that_posts_again_runs_at_the_next_time) {
  for (const std::uint32_t first : first_positions) {
    starting_at<mailbox> box(first, 2u, wait_policy());
    int run = 0;
    struct again {
      mailbox* box;
      int* run;
      void operator()() const {
        ++*run;
        EXPECT_TRUE(box->post(*this));
      }
    };
    box.post(again{&box, &run});
    box.post(again{&box, &run});  // full: each call has left its slot when it posts
    for (int i = 1; i <= 6; ++i) {
      EXPECT_EQ(box.run_pending(), 2u);
      EXPECT_EQ(run, 2 * i);
    }
  }
}

TEST(mailbox, MAILBOX_4_an_exception_leaves_with_its_call_and_the_others_stay) {
  mailbox box(4);
  const auto token = std::make_shared<int>(0);
  box.post([token] { ++*token; });
  box.post([token] { throw std::runtime_error("second"); });
  box.post([token] { *token += 10; });
  EXPECT_THROW(box.run_pending(), std::runtime_error);
  EXPECT_EQ(*token, 1);
  EXPECT_EQ(token.use_count(), 2) << "the call that threw is gone";
  EXPECT_EQ(box.run_pending(), 1u);
  EXPECT_EQ(*token, 11);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(mailbox, MAILBOX_4_a_call_may_run_the_calls_behind_it) {
  for (const std::uint32_t first : first_positions) {
    starting_at<mailbox> box(first, 4u, wait_policy());
    std::string order;
    box.post([&] {
      order += "a";
      EXPECT_EQ(box.run_pending(), 2u);
      order += "d";
    });
    box.post([&] { order += "b"; });
    box.post([&] { order += "c"; });
    EXPECT_EQ(box.run_pending(), 1u);
    EXPECT_EQ(order, "abcd");
    EXPECT_TRUE(box.post([&] { order += "e"; }));
    EXPECT_EQ(box.run_pending(), 1u);
    EXPECT_EQ(order, "abcde");
  }
}

TEST(mailbox, serve_until_stops_behind_the_call_that_ends_it) {
  mailbox box(4);
  int run = 0;
  for (int i = 0; i < 3; ++i) box.post([&run] { ++run; });
  EXPECT_TRUE(box.serve_until([&] { return run == 2; }));
  EXPECT_EQ(run, 2);
  EXPECT_EQ(box.run_pending(), 1u);
}

TEST(mailbox, a_refused_closure_is_as_it_was_and_large_and_move_only_ones_fit) {
  mailbox box(2);
  int run = 0;
  std::array<char, 40> large = {};
  large[39] = 7;
  EXPECT_TRUE(box.post([large, &run] { run += large[39]; }));  // 48 bytes
  auto one = std::make_unique<int>(1);
  auto call = [owned = std::move(one), &run] { run += *owned; };
  mailbox full(2);
  full.post([] {});
  full.post([] {});
  EXPECT_FALSE(full.post(std::move(call)));
  EXPECT_TRUE(box.post(std::move(call)));
  EXPECT_EQ(box.run_pending(), 2u);
  EXPECT_EQ(run, 8);
}

TEST(mailbox, a_copy_that_throws_leaves_no_hole) {
  struct reluctant {
    bool* refuses;
    int* run;
    reluctant(bool* r, int* n) : refuses(r), run(n) {}
    reluctant(const reluctant& other) : refuses(other.refuses), run(other.run) {
      if (*refuses) throw std::runtime_error("no copy");
    }
    reluctant(reluctant&&) noexcept = default;
    void operator()() const { ++*run; }
  };
  bool refuses = true;
  int run = 0;
  const reluctant call(&refuses, &run);
  mailbox box(2);
  EXPECT_THROW(box.post(call), std::runtime_error);
  refuses = false;
  EXPECT_TRUE(box.post(call));
  EXPECT_TRUE(box.post(call));
  EXPECT_EQ(box.run_pending(), 2u);
  EXPECT_EQ(run, 2);
}

}  // namespace
