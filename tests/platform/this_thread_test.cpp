// SPDX-License-Identifier: MIT
// tests/platform/this_thread_test.cpp -- the system confirms what was asked for
#include "platform/process.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "platform/native_system.hpp"
#include "support/threads.hpp"

#if defined(__linux__)
#include <pthread.h>
#endif

namespace {

using lockstep::detail::name_this_thread;
using lockstep::test::run_threads;

#if defined(__linux__)

std::string name() {
  char text[64] = {};
  EXPECT_EQ(pthread_getname_np(pthread_self(), text, sizeof text), 0);
  return text;
}

TEST(this_thread, a_name_is_what_the_system_shows_cut_to_15_characters) {
  run_threads(1, [&](unsigned) {
    EXPECT_TRUE(name_this_thread("worker 3"));
    EXPECT_EQ(name(), "worker 3");
    EXPECT_TRUE(name_this_thread("exactly 15 long"));
    EXPECT_EQ(name(), "exactly 15 long");
    EXPECT_TRUE(name_this_thread("one of 16 is cut"));
    EXPECT_EQ(name(), "one of 16 is cu");
    EXPECT_TRUE(name_this_thread(std::string(1000, 'x').c_str()));
    EXPECT_EQ(name(), std::string(15, 'x'));
    EXPECT_TRUE(name_this_thread(""));
    EXPECT_EQ(name(), "");
  });
}

#endif

TEST(this_thread, labels_tell_living_threads_apart_and_carry_their_names) {
  const lockstep::detail::thread_label mine = lockstep::detail::label_of_this_thread();
  EXPECT_EQ(mine.number, lockstep::detail::system_thread_number());
  std::thread([&] {
    const bool is_named = name_this_thread("fifteen letters");
    EXPECT_EQ(is_named, lockstep::detail::native_system::names_threads);
    const lockstep::detail::thread_label other = lockstep::detail::label_of_this_thread();
    EXPECT_NE(other.number, mine.number);
    EXPECT_EQ(std::string(other.text),
              "thread " + std::to_string(lockstep::detail::native_system::thread_number()) +
                  (is_named ? " 'fifteen letters'" : " ''"));
  }).join();
}

}  // namespace
