// SPDX-License-Identifier: MIT
// tests/trace/thread_log_test.cpp -- what the log of a thread shows of its waits, constructs, parts, node and locks
#include "trace/thread_log.hpp"
#include "observe/hooks.hpp"
#include "observe/observers.hpp"
#include "region/group.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
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
    const observed_wait outer(waits_for{"outer"}.subject());
    {
      const observed_wait inner(waits_for{"inner"}.subject());
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
  const observed_wait a(waits_for{"a"}.subject()), b(waits_for{"b"}.subject()),
      c(waits_for{"c"}.subject()), d(waits_for{"d"}.subject());
  {
    const observed_wait e(waits_for{"e"}.subject());
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
    const observed_wait before(waits_for{"before"}.subject());
  }
  one_ledger_more();
  {
    const observed_wait unseen(waits_for{"unseen"}.subject());
    const watched here(observer::watches);
    EXPECT_STREQ(kind_at(0), "none");
    const observed_wait inner(waits_for{"inner"}.subject());
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

const int team = 0, inner_team = 0;

/// The log of this thread, as if it were a new one.
class watched_log : public testing::Test {
 protected:
  watched_log() { log.reset(); }
  ~watched_log() override { log.reset(); }
  open_part part() const {
    open_part found = {};
    EXPECT_TRUE(log.part.read(found));
    return found;
  }
  std::uint32_t visits_so_far() const { return log.visit_count.load(std::memory_order_relaxed); }
  std::set<const void*> held() const {
    held_locks found = {};
    EXPECT_TRUE(log.locks.read(found));
    return std::set<const void*>(found.objects, found.objects + found.count);
  }
  static construct_visit visit(std::uint64_t came, std::uint64_t arrived) {
    construct_visit made = construct_visit();
    made.kind = "sync_threads";
    made.team = &team;
    made.came = came;
    made.arrived = arrived;
    return made;
  }
  void show(const construct_visit& visit) {
    log.here = visit;
    log.show_visit();
  }
  open_part& begin(const void* of, std::uint32_t region, std::uint64_t began) {
    return *log.part_begins({of, region, 0, 2, began, 0, 0, false}, true);
  }

  thread_log& log = *log_of_this_thread();
};

TEST_F(watched_log, a_visit_is_one_from_when_it_came_to_when_it_leaves) {
  show(visit(10, 0));
  show(visit(10, 11));
  EXPECT_EQ(visits_so_far(), 1u);
  construct_visit last;
  ASSERT_TRUE(log.visits[0].read(last));
  EXPECT_EQ(last.arrived, 11u);
  show(visit(20, 0));
  EXPECT_EQ(visits_so_far(), 2u);
  ASSERT_TRUE(log.visits[1].read(last));
  EXPECT_EQ(last.came, 20u);
}

TEST_F(watched_log, the_last_visits_are_kept) {
  for (std::uint64_t came = 1; came <= 20; ++came) show(visit(came, 0));
  EXPECT_EQ(visits_so_far(), 20u);
  std::set<std::uint64_t> found;
  for (const auto& each : log.visits) {
    construct_visit one;
    ASSERT_TRUE(each.read(one));
    found.insert(one.came);
  }
  EXPECT_EQ(found, (std::set<std::uint64_t>{13, 14, 15, 16, 17, 18, 19, 20}));
}

TEST_F(watched_log, locks_may_be_given_up_in_any_order) {
  const int a = 0, b = 0, c = 0;
  for (const int* each : {&a, &b, &c}) log.lock_taken(each);
  EXPECT_EQ(held(), (std::set<const void*>{&a, &b, &c}));
  log.lock_left(&a);
  EXPECT_EQ(held(), (std::set<const void*>{&b, &c}));
  log.lock_left(&a);  // taken before anybody watched
  log.lock_left(&c);
  EXPECT_EQ(held(), (std::set<const void*>{&b}));
}

TEST_F(watched_log, more_locks_than_there_is_room_for_are_not_known) {
  const int locks[held_locks::most + 2] = {};
  for (const int& each : locks) log.lock_taken(&each);
  EXPECT_EQ(held().size(), std::size_t{held_locks::most});
  EXPECT_EQ(held().count(&locks[held_locks::most]), 0u);
  for (const int& each : locks) log.lock_left(&each);
  EXPECT_TRUE(held().empty());
}

TEST_F(watched_log, an_inner_part_is_shown_until_its_region_has_ended_then_the_outer_one) {
  open_part& outer = begin(&team, 1, 100);
  open_part& inner = begin(&inner_team, 5, 200);
  EXPECT_EQ(part().region, 5u);
  EXPECT_EQ(part().ended, 0u);
  log.part_ends(inner, 300, true);
  EXPECT_EQ(part().region, 5u);
  EXPECT_EQ(part().ended, 300u);
  wait_subject what = {};
  what.kind = wait_kind::end_of_part;
  log.wait_begins({what, 310}, true);
  EXPECT_EQ(part().region, 5u) << "its caller waits for the others";
  log.wait_ends(true);
  EXPECT_EQ(part().region, 1u);
  EXPECT_EQ(part().ended, 0u);
  log.part_ends(outer, 400, true);
  EXPECT_EQ(part().region, 1u);
  EXPECT_EQ(part().ended, 400u);
}

TEST_F(watched_log, a_region_without_a_wait_is_over_with_the_next_hook) {
  begin(&team, 1, 100);
  log.part_ends(begin(&inner_team, 5, 200), 300, true);
  show(visit(310, 0));
  EXPECT_EQ(part().region, 1u);
}

TEST_F(watched_log, parts_deeper_than_there_is_room_for_are_not_known) {
  open_part* innermost = nullptr;
  for (std::uint32_t i = 1; i <= thread_log::most_parts; ++i) innermost = &begin(&team, i, i);
  EXPECT_EQ(log.part_begins({&team, 100, 0, 2, 100, 0, 0, false}, true), nullptr);
  EXPECT_EQ(part().region, thread_log::most_parts);
  while (innermost != log.parts) log.part_ends(*innermost--, 100, true);
  show(visit(310, 0));
  EXPECT_EQ(part().region, 1u);
  EXPECT_EQ(part().ended, 0u);
}

TEST_F(watched_log, a_node_is_kept_by_a_copy_of_its_name_that_is_cut) {
  const std::string name(100, 'n');
  log.node_begins(name.c_str(), 7);
  node_visit found = {};
  ASSERT_TRUE(log.node.read(found));
  EXPECT_EQ(found.name, std::string(sizeof found.name - 1, 'n'));
  EXPECT_EQ(found.began, 7u);
  EXPECT_EQ(found.ended, 0u);
  log.node_ends(9);
  ASSERT_TRUE(log.node.read(found));
  EXPECT_EQ(found.ended, 9u);
}

}  // namespace
