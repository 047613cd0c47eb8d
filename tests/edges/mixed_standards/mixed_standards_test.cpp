// SPDX-License-Identifier: MIT
// tests/edges/mixed_standards/mixed_standards_test.cpp -- a joinable_thread goes from C++20 to C++11 and back
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "unit_of_2011.hpp"

namespace {

using lockstep::joinable_thread;
using lockstep::wait_status;

std::atomic<int> calls{0};
void count() { ++calls; }

TEST(mixed_standards, a_thread_of_the_older_unit_is_joined_here) {
  calls = 0;
  joinable_thread worker = of_2011::start(count);
  worker.join();
  EXPECT_EQ(calls, 1);
  of_2011::start(count);
  EXPECT_EQ(calls, 2) << "the destructor has joined";
}

TEST(mixed_standards, the_older_unit_joins_a_thread_of_this_one) {
  std::atomic<bool> may_end{false}, ends{false};
  joinable_thread worker([&] {
    while (!may_end) std::this_thread::yield();
    ends = true;
  });
  EXPECT_EQ(of_2011::join_for_a_moment(worker), wait_status::timed_out);
  may_end = true;
  of_2011::end(std::move(worker));
  EXPECT_TRUE(ends);
}

}  // namespace
