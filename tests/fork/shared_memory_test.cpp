// SPDX-License-Identifier: MIT
// tests/fork/shared_memory_test.cpp -- objects of one word in memory that two processes share
//
// A sleeper is woken from its own process only. So between processes an object is made with spin(), or waited
// on for a limited time, again and again: a time-out looks once more before it is one.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <chrono>

#include "fault/child_process.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::wait_status;

/// All that is shared: no object has a pointer to anything outside itself.
struct shared_objects {
  explicit shared_objects(wait_policy policy)
      : there(policy),
        back(policy),
        gate(policy),
        one(policy),
        open(2, policy),
        phase(2, {}, policy) {}

  lockstep::event there, back;
  lockstep::manual_reset_event gate;
  lockstep::auto_reset_event one;
  lockstep::latch open;
  lockstep::barrier<> phase;
  int data = 0;  // handed to and fro: order is part of what is promised
};

/// `child` runs in a forked process, `parent` here; both get the same objects. Returns the child's verdict.
template <class Child, class Parent>
bool in_two_processes(wait_policy policy, Child child, Parent parent) {
  const lockstep::test::shared_with_child<shared_objects> objects(policy);
  lockstep::test::child_process process([&] { return child(*objects) ? 0 : 1; });
  parent(*objects);
  return process.wait() == 0;
}

/// With spin() for any time, else a millisecond at a time, because the notifier may be in the other process.
struct wait_by {
  wait_policy policy;

  template <class Object>
  void operator()(Object& object) const {
    if (policy.is_spin()) object.wait();
    while (!policy.is_spin() && object.wait_for(std::chrono::milliseconds(1)) != wait_status::ready)
      continue;
  }
  void operator()(lockstep::barrier<>& phase) const {
    if (policy.is_spin()) return phase.arrive_and_wait();
    const auto arrival = phase.arrive();
    while (phase.wait_for(arrival, std::chrono::milliseconds(1)) != wait_status::ready) continue;
  }
};

TEST(two_processes, hand_over_under_every_policy) {
  for (const wait_policy policy : {wait_policy::spin(), wait_policy(), wait_policy::block(),
                                   wait_policy::hybrid(std::chrono::microseconds(2))}) {
    const wait_by wait{policy};
    const int rounds = policy.is_spin() ? 30 : 300;
    EXPECT_TRUE(in_two_processes(
        policy,
        [=](shared_objects& at) {
          bool good = true;
          for (int round = 0; round < rounds; ++round) {
            wait(at.there);
            good = good && at.data == 2 * round;
            ++at.data;
            at.back.notify();
          }
          wait(at.gate);
          wait(at.one);
          at.open.count_down();
          wait(at.phase);
          return good;
        },
        [=](shared_objects& at) {
          for (int round = 0; round < rounds; ++round) {
            EXPECT_EQ(at.data, 2 * round);
            at.there.notify();
            wait(at.back);
            ++at.data;
          }
          at.gate.notify();
          at.one.notify();
          at.open.count_down();
          wait(at.open);
          wait(at.phase);
        }));
  }
}

}  // namespace
