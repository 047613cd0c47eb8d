// SPDX-License-Identifier: MIT
// tests/trace/thread_log_test.cpp -- what the log of a thread shows of its waits
#include "trace/thread_log.hpp"
#include "observe/hooks.hpp"
#include "observe/observers.hpp"
#include "region/group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace {

using namespace lockstep::detail;

struct waits_for {
  const char* construct;
  wait_subject subject() const noexcept {
    wait_subject what = {};
    what.construct = construct;
    return what;
  }
};

/// Somebody watches as long as this lives.
class watched {
 public:
  explicit watched(observer::bit by) : by_(by) { begin_to_observe(by_); }
  ~watched() { end_to_observe(by_); }

 private:
  const observer::bit by_;
};

std::uint32_t depth() { return log_of_this_thread()->depth.load(std::memory_order_relaxed); }
const char* kind_at(std::uint32_t index) {
  shown_wait seen;
  return log_of_this_thread()->wait_at(index, seen) ? text_of(seen.what) : "none";
}

TEST(thread_log, waits_are_shown_one_inside_the_other) {
  const watched here(observer::watches);
  EXPECT_STREQ(kind_at(0), "none");
  {
    const observed_wait outer(waits_for{"outer"});
    {
      const observed_wait inner(waits_for{"inner"});
      EXPECT_STREQ(kind_at(0), "outer");
      EXPECT_STREQ(kind_at(1), "inner");
      EXPECT_STREQ(kind_at(2), "none");
    }
    EXPECT_STREQ(kind_at(0), "outer");
    EXPECT_STREQ(kind_at(1), "none");
  }
  EXPECT_EQ(depth(), 0u);
}

TEST(thread_log, more_waits_than_it_has_room_for_are_counted_and_not_shown) {
  const watched here(observer::watches);
  const observed_wait a(waits_for{"a"}), b(waits_for{"b"}), c(waits_for{"c"}), d(waits_for{"d"});
  {
    const observed_wait e(waits_for{"e"});
    EXPECT_EQ(depth(), 5u);
    EXPECT_STREQ(kind_at(3), "d");
    EXPECT_STREQ(kind_at(4), "none");
  }
  EXPECT_STREQ(kind_at(3), "d");
}

TEST(thread_log, a_wait_that_began_for_a_ledger_alone_is_not_taken_for_one_of_before) {
  if (observers() != 0) GTEST_SKIP() << "LOCKSTEP_DELAY is set: then all waits are shown";
  {
    const watched here(observer::watches);
    const observed_wait before(waits_for{"before"});
  }
  one_ledger_more();
  {
    const observed_wait unseen(waits_for{"unseen"});
    const watched here(observer::watches);
    EXPECT_STREQ(kind_at(0), "none");
    const observed_wait inner(waits_for{"inner"});
    EXPECT_STREQ(kind_at(0), "inner");
  }
  one_ledger_less();
  EXPECT_EQ(depth(), 0u);
  EXPECT_EQ(observers(), 0u);
}

TEST(thread_log, of_a_thread_that_has_ended_is_used_again_and_shows_nothing_of_it) {
  const watched here(observer::watches);
  const thread_log* first = nullptr;
  std::uint64_t number = 0;
  std::thread([&] {
    first = log_of_this_thread();
    number = first->thread();
    member_state self;
    member_comes(self, "sync_threads", {"file", 7}, 0);
  }).join();
  ASSERT_NE(first, nullptr);
  EXPECT_FALSE(first->is_alive());
  std::thread([&] {
    EXPECT_EQ(log_of_this_thread(), first);
    EXPECT_NE(first->thread(), number);
    EXPECT_EQ(first->here.kind, nullptr);
  }).join();
}

}  // namespace
