// SPDX-License-Identifier: MIT
// tests/trace/wait_texts_test.cpp -- what people read for kinds of waits
#include "trace/thread_log.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using lockstep::detail::text_of;
using lockstep::detail::wait_kind;
using lockstep::detail::wait_subject;

TEST(wait_texts, each_kind_has_one_of_its_own) {
  std::set<std::string> texts;
  for (unsigned i = 1; i < static_cast<unsigned>(wait_kind::how_many); ++i) {
    const char* const text = text_of(static_cast<wait_kind>(i));
    ASSERT_NE(text, nullptr) << i;
    EXPECT_TRUE(texts.insert(text).second) << text;
  }
}

TEST(wait_texts, a_wait_of_no_kind_is_called_as_the_construct_that_the_thread_is_in) {
  wait_subject what = {};
  EXPECT_EQ(text_of(what), nullptr);
  what.construct = "sync_threads";
  EXPECT_STREQ(text_of(what), "sync_threads");
  what.kind = wait_kind::mutex;
  EXPECT_STREQ(text_of(what), "lockstep::mutex");
}

}  // namespace
