// SPDX-License-Identifier: MIT
// tests/contract/opening_contract_test.cpp -- what the objects promise that open once for many threads
//
// One typed suite over latch, manual_reset_event, eventual and future_set, with and without values, under
// every policy. The cells are plain: a hole in the order is a report under ThreadSanitizer.
#include <lockstep/event.hpp>
#include <lockstep/eventual.hpp>
#include <lockstep/future_set.hpp>
#include <lockstep/latch.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::run_threads;

// Each adapter gives one object the same face: so many openers, each of which opens once.

struct latch_face {
  static constexpr std::size_t openers = 3;
  lockstep::latch object;
  explicit latch_face(wait_policy policy) : object(openers, policy) {}
  void open() { object.count_down(); }
  bool is_open() { return object.try_wait(); }
};
struct manual_face {
  static constexpr std::size_t openers = 1;
  lockstep::manual_reset_event object;
  explicit manual_face(wait_policy policy) : object(policy) {}
  void open() { object.notify(); }
  bool is_open() { return object.try_wait(); }
};
struct value_face {
  static constexpr std::size_t openers = 1;
  lockstep::eventual<int> object;
  explicit value_face(wait_policy policy) : object(policy) {}
  void open() { object.set_value(1); }
  bool is_open() { return object.try_wait(); }
};
struct void_face {
  static constexpr std::size_t openers = 1;
  lockstep::eventual<void> object;
  explicit void_face(wait_policy policy) : object(policy) {}
  void open() { object.set_value(); }
  bool is_open() { return object.try_wait(); }
};
struct values_face {
  static constexpr std::size_t openers = 3;
  lockstep::future_set<int> object;
  explicit values_face(wait_policy policy) : object(openers, {}, policy) {}
  void open() { object.contribute(1); }
  bool is_open() { return object.is_ready(); }
};
struct voids_face {
  static constexpr std::size_t openers = 3;
  lockstep::future_set<void> object;
  explicit voids_face(wait_policy policy) : object(openers, {}, policy) {}
  void open() { object.contribute(); }
  bool is_open() { return object.is_ready(); }
};

template <class Face>
class opening_contract : public testing::Test {
 protected:
  template <class Body>
  void for_all_policies(Body body) {
    for (const lockstep::test::named_policy& named : lockstep::test::all_policies()) {
      SCOPED_TRACE(named.name);
      body(named.policy);
      if (this->HasFatalFailure()) return;
    }
  }
};
using faces =
    testing::Types<latch_face, manual_face, value_face, void_face, values_face, voids_face>;
TYPED_TEST_SUITE(opening_contract, faces);

TYPED_TEST(opening_contract, is_closed_until_the_last_has_opened_it_and_open_from_then_on) {
  this->for_all_policies([](wait_policy policy) {
    TypeParam face(policy);
    for (std::size_t i = 0; i < TypeParam::openers; ++i) {
      EXPECT_FALSE(face.is_open());
      EXPECT_EQ(face.object.wait_for(std::chrono::seconds(-1)), wait_status::timed_out);
      EXPECT_EQ(face.object.wait_for(std::chrono::microseconds(50)), wait_status::timed_out);
      face.open();
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(face.is_open());
      face.object.wait();
      EXPECT_EQ(face.object.wait_for(std::chrono::seconds(-1)), wait_status::ready);
    }
  });
}

TYPED_TEST(opening_contract, all_waiters_return_and_see_what_came_before_the_opening) {
  this->for_all_policies([](wait_policy policy) {
    for (const std::size_t waiters : {1u, 2u, 12u}) {
      const bool crowded = waiters + TypeParam::openers > lockstep::detail::usable_cpus();
      const int rounds = policy.is_spin() && crowded ? 2 : 30;
      for (int round = 0; round < rounds; ++round) {
        TypeParam face(policy);
        std::vector<int> cells(TypeParam::openers);  // plain
        std::atomic<int> wrong{0};
        run_threads(TypeParam::openers + waiters, [&](std::size_t rank) {
          if (rank < TypeParam::openers) {
            cells[rank] = 1;
            face.open();
            return;
          }
          if (rank % 2 == 0) {
            face.object.wait();
          } else {
            while (face.object.wait_for(std::chrono::microseconds(20)) != wait_status::ready) {
            }
          }
          for (const int each : cells) wrong += each != 1;
        });
        ASSERT_EQ(wrong.load(), 0);
      }
    }
  });
}

}  // namespace
