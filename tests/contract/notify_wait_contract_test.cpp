// SPDX-License-Identifier: MIT
// tests/contract/notify_wait_contract_test.cpp -- what every notify/wait primitive promises
//
// One typed suite over event, fan_out, fan_in and fan_in_out, each under every policy, from the first
// phase and from just below wrap-around. A hole in the ordering is a wrong value here and a report under
// ThreadSanitizer (the cells are plain data); a lost wake-up is a ctest timeout.
#include <lockstep/event.hpp>
#include <lockstep/fan.hpp>
#include "platform/system.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "support/policies.hpp"
#include "support/starting_at.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::starting_at;

// Each adapter gives one primitive the same face: ranks for both sides, a first phase for wrap-around.

struct event_face {
  static constexpr std::size_t notifiers = 1, waiters = 1;
  starting_at<lockstep::event> object;
  event_face(wait_policy policy, std::uint32_t first) : object(first, policy) {}
  void notify(std::size_t) { object.notify(); }
  bool wait(std::size_t) { return object.wait(); }
  bool try_wait(std::size_t) { return object.try_wait(); }
  wait_status wait_for(std::size_t, std::chrono::nanoseconds t) { return object.wait_for(t); }
};

template <std::size_t Waiters>
struct fan_out_face {
  static constexpr std::size_t notifiers = 1, waiters = Waiters;
  starting_at<lockstep::fan_out> object;
  fan_out_face(wait_policy policy, std::uint32_t first) : object(first, Waiters, policy) {}
  void notify(std::size_t) { object.notify(); }
  bool wait(std::size_t rank) { return object.wait(rank); }
  bool try_wait(std::size_t rank) { return object.try_wait(rank); }
  wait_status wait_for(std::size_t r, std::chrono::nanoseconds t) { return object.wait_for(r, t); }
};

template <std::size_t Notifiers>
struct fan_in_face {
  static constexpr std::size_t notifiers = Notifiers, waiters = 1;
  starting_at<lockstep::fan_in> object;
  fan_in_face(wait_policy policy, std::uint32_t first) : object(first, Notifiers, policy) {}
  void notify(std::size_t rank) { object.notify(rank); }
  bool wait(std::size_t) { return object.wait(); }
  bool try_wait(std::size_t) { return object.try_wait(); }
  wait_status wait_for(std::size_t, std::chrono::nanoseconds t) { return object.wait_for(t); }
};

template <std::size_t Notifiers, std::size_t Waiters>
struct fan_in_out_face {
  static constexpr std::size_t notifiers = Notifiers, waiters = Waiters;
  starting_at<lockstep::fan_in_out> object;
  fan_in_out_face(wait_policy policy, std::uint32_t first)
      : object(first, Notifiers, Waiters, policy) {}
  void notify(std::size_t rank) { object.notify(rank); }
  bool wait(std::size_t rank) { return object.wait(rank); }
  bool try_wait(std::size_t rank) { return object.try_wait(rank); }
  wait_status wait_for(std::size_t r, std::chrono::nanoseconds t) { return object.wait_for(r, t); }
};

template <class Face>
class notify_wait_contract : public testing::Test {
 protected:
  static constexpr std::size_t threads = Face::notifiers + Face::waiters;

  /// Pure spinning makes a crowded hand-over last a time slice, so it gets few rounds.
  static std::uint64_t rounds(wait_policy policy, std::uint64_t plenty) {
    const bool slow = policy.is_spin() && threads > lockstep::detail::usable_cpus();
    return slow ? plenty / 100 + 2 : plenty;
  }

  template <class Body>
  void for_all_policies_and_phases(Body body) {
    for (const lockstep::test::named_policy& named : lockstep::test::all_policies()) {
      for (const std::uint32_t first : {0u, 0xFFFFFFFEu, 0x3FFFFFFEu, 0x7FFFFFFEu}) {
        SCOPED_TRACE(testing::Message() << named.name << " from phase " << first);
        Face face(named.policy, first);
        body(face, named.policy);
        if (this->HasFatalFailure()) return;
      }
    }
  }

  void notify_all(Face& face) {
    for (std::size_t rank = 0; rank < Face::notifiers; ++rank) face.notify(rank);
  }
};

using faces = testing::Types<event_face, fan_out_face<1>, fan_out_face<3>, fan_out_face<8>,
                             fan_in_face<1>, fan_in_face<3>, fan_in_face<8>, fan_in_out_face<1, 1>,
                             fan_in_out_face<2, 3>, fan_in_out_face<4, 4>>;
TYPED_TEST_SUITE(notify_wait_contract, faces);

TYPED_TEST(notify_wait_contract, a_notification_before_the_wait_is_not_lost) {
  this->for_all_policies_and_phases([&](TypeParam& face, wait_policy) {
    this->notify_all(face);
    this->notify_all(face);
    for (std::size_t rank = 0; rank < TypeParam::waiters; ++rank) {
      EXPECT_TRUE(face.wait(rank));
      EXPECT_TRUE(face.try_wait(rank));
      EXPECT_FALSE(face.try_wait(rank)) << "two notifications must not serve three waits";
    }
  });
}

TYPED_TEST(notify_wait_contract, a_fast_notifier_does_not_stand_in_for_a_slow_one) {
  this->for_all_policies_and_phases([&](TypeParam& face, wait_policy) {
    constexpr std::size_t last = TypeParam::notifiers - 1;
    for (std::size_t rank = 0; rank < last; ++rank) {
      for (int i = 0; i < 5; ++i) face.notify(rank);
    }
    for (std::size_t rank = 0; rank < TypeParam::waiters; ++rank) {
      EXPECT_FALSE(face.try_wait(rank));
      EXPECT_EQ(face.wait_for(rank, std::chrono::microseconds(50)), wait_status::timed_out);
    }
    face.notify(last);
    for (std::size_t rank = 0; rank < TypeParam::waiters; ++rank) {
      EXPECT_TRUE(face.wait(rank));
      EXPECT_FALSE(face.try_wait(rank));
    }
  });
}

TYPED_TEST(notify_wait_contract, a_timeout_takes_nothing) {
  this->for_all_policies_and_phases([&](TypeParam& face, wait_policy) {
    for (std::size_t rank = 0; rank < TypeParam::waiters; ++rank) {
      EXPECT_EQ(face.wait_for(rank, std::chrono::nanoseconds(-5)), wait_status::timed_out);
      EXPECT_EQ(face.wait_for(rank, std::chrono::nanoseconds(0)), wait_status::timed_out);
      EXPECT_EQ(face.wait_for(rank, std::chrono::microseconds(30)), wait_status::timed_out);
    }
    this->notify_all(face);
    for (std::size_t rank = 0; rank < TypeParam::waiters; ++rank) {
      EXPECT_EQ(face.wait_for(rank, std::chrono::nanoseconds(0)), wait_status::ready)
          << "what is there is taken even when the time is over";
      EXPECT_FALSE(face.try_wait(rank));
    }
  });
}

TYPED_TEST(notify_wait_contract, what_happens_before_notify_happens_before_the_return_of_wait) {
  using face_type = TypeParam;
  this->for_all_policies_and_phases([&](face_type& face, wait_policy policy) {
    const auto rounds = static_cast<std::size_t>(this->rounds(policy, 600));
    // Round i writes plain cell i: nobody writes what somebody may still read.
    std::vector<std::vector<std::uint64_t>> cells(face_type::notifiers,
                                                  std::vector<std::uint64_t>(rounds));
    std::atomic<std::uint64_t> wrong{0};
    lockstep::test::run_threads(this->threads, [&](std::size_t thread) {
      if (thread < face_type::notifiers) {
        for (std::size_t i = 0; i < rounds; ++i) {
          cells[thread][i] = i + 1;
          face.notify(thread);
        }
        return;
      }
      for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t rank = thread - face_type::notifiers;
        // A far deadline changes nothing.
        wrong += i % 2 == 0 ? !face.wait(rank)
                            : face.wait_for(rank, std::chrono::hours(24)) != wait_status::ready;
        for (const auto& row : cells) wrong += row[i] != i + 1;
      }
    });
    EXPECT_EQ(wrong.load(), 0u);
  });
}

TYPED_TEST(notify_wait_contract, terminate_releases_every_waiter_and_later_waits_return_at_once) {
  using face_type = TypeParam;
  this->for_all_policies_and_phases([&](face_type& face, wait_policy) {
    std::atomic<unsigned> released{0};
    lockstep::test::run_threads(face_type::waiters + 1, [&](std::size_t thread) {
      if (thread == face_type::waiters) {
        face.object.terminate();
      } else {
        released += !face.wait(thread);
      }
    });
    EXPECT_EQ(released.load(), face_type::waiters);
    EXPECT_TRUE(face.object.terminated());
    this->notify_all(face);
    for (std::size_t rank = 0; rank < face_type::waiters; ++rank) {
      EXPECT_FALSE(face.wait(rank)) << "even with a notification there";
      EXPECT_FALSE(face.try_wait(rank));
      EXPECT_EQ(face.wait_for(rank, std::chrono::hours(1)), wait_status::terminated);
    }
  });
}

}  // namespace
