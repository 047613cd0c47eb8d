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

TEST(mixed_standards, a_thread_of_the_older_unit_is_joined_here_and_has_no_stop_token) {
  calls = 0;
  joinable_thread worker = of_2011::start(count);
#if defined(__cpp_lib_jthread)
  EXPECT_FALSE(worker.get_stop_token().stop_possible());
  EXPECT_FALSE(worker.request_stop());
#endif
  worker.join();
  EXPECT_EQ(calls, 1);
  of_2011::start(count);
  EXPECT_EQ(calls, 2) << "the destructor has joined";
}

#if defined(__cpp_lib_jthread)

TEST(mixed_standards, the_older_unit_ends_a_thread_that_waits_for_a_stop) {
  std::atomic<bool> stopped{false};
  joinable_thread worker([&stopped](std::stop_token stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    stopped = true;
  });
  EXPECT_EQ(of_2011::join_for_a_moment(worker), wait_status::timed_out);
  of_2011::end(std::move(worker));
  EXPECT_TRUE(stopped);
}

TEST(mixed_standards, the_same_function_has_a_stop_source_where_this_unit_starts_it) {
  calls = 0;
  joinable_thread worker(&count);
  EXPECT_TRUE(worker.get_stop_token().stop_possible());
  of_2011::end(std::move(worker));
  EXPECT_EQ(calls, 1);
}

#endif

}  // namespace
