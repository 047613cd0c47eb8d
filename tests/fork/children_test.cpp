// SPDX-License-Identifier: MIT
// tests/fork/children_test.cpp -- children of a program that has threads, and teams, and waiters
//
// What a child makes for itself works there, whatever the threads of its parent did when it was made.
// Objects that the parent's threads use are not for the child: those threads are not there.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "fault/workloads.hpp"
#include "platform/process_fence.hpp"
#include "support/asleep.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::test::expect_in_child;
using lockstep::test::in_child;
using lockstep::test::watched_thread;

/// In the child: what it makes for itself.
int use_fresh_objects() {
  if (!lockstep::detail::native::fence_heavy()) return 2;
  long wrong = 0;
  for (const wait_policy policy : {wait_policy::block(), wait_policy()}) {
    for (const std::size_t threads : {2u, 5u}) {
      wrong += lockstep::test::run_all_workloads({policy, threads, 20, {}});
    }
  }
  return wrong == 0 ? 0 : 1;
}

/// Several children, one after the other.
void expect_children_to_work() {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(in_child(use_fresh_objects), 0);
}

TEST(fork, while_a_team_sleeps_leaves_the_child_able_to_work) {
  expect_in_child([] {
    constexpr std::size_t members = 4;
    lockstep::team workers(members, wait_policy::block());
    std::vector<watched_thread> threads(members);
    workers.run([&](lockstep::member& self) { threads[self.rank()].enter(); });
    for (std::size_t rank = 1; rank < members; ++rank) threads[rank].wait_until_asleep();
    expect_children_to_work();
    int calls = 0;
    workers.run([&](lockstep::member& self) {
      if (self.rank() == 1) ++calls;
    });
    EXPECT_EQ(calls, 1) << "the parent's team is as it was";
  });
}

TEST(fork, while_a_team_spins_leaves_the_child_able_to_work) {
  expect_in_child([] {
    lockstep::team workers(2, wait_policy::spin());
    workers.run([](lockstep::member&) {});
    expect_children_to_work();
    workers.run([](lockstep::member&) {});
  });
}

TEST(fork, while_a_team_runs_leaves_the_child_able_to_work) {
  expect_in_child([] {
    lockstep::team workers(3);
    std::atomic<bool> running{false}, over{false};
    lockstep::joinable_thread caller([&] {
      bool last = false;  // plain: rank 0's, between two barriers
      workers.run([&](lockstep::member& self) {
        while (!last) {
          self.sync_threads();
          if (self.rank() == 0) last = over;
          running = true;
          self.sync_threads();
        }
      });
    });
    while (!running) std::this_thread::yield();
    expect_children_to_work();
    over = true;
    caller.join();
  });
}

TEST(fork, while_threads_are_queued_for_locks_leaves_the_child_able_to_work) {
  expect_in_child([] {
    constexpr std::size_t count = 64;
    std::vector<std::unique_ptr<lockstep::mutex>> mutexes;
    std::vector<lockstep::joinable_thread> waiters;
    std::vector<watched_thread> threads(count);
    for (std::size_t i = 0; i < count; ++i) {
      mutexes.push_back(std::make_unique<lockstep::mutex>(wait_policy::block()));
      mutexes[i]->lock();
      waiters.emplace_back([&, i] {
        threads[i].enter();
        const std::lock_guard<lockstep::mutex> lock(*mutexes[i]);
      });
    }
    for (const watched_thread& each : threads) each.wait_until_asleep();
    expect_children_to_work();
    for (auto& each : mutexes) each->unlock();
  });
}

}  // namespace
