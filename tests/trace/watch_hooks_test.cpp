// SPDX-License-Identifier: MIT
// tests/trace/watch_hooks_test.cpp -- what the watchdog keeps of a thread: its visits, part, node, locks
#include "trace/watch_hooks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace {

using namespace lockstep::detail;

const int team = 0, inner_team = 0;

/// The log of this thread, as if it were a new one.
class watch_hooks_test : public testing::Test {
 protected:
  watch_hooks_test() {
    delete watch_hooks::of(log);
    log.watchdog.store(nullptr, std::memory_order_relaxed);
  }
  const watch_log& seen() const { return *watch_hooks::of(log); }
  region_part part() const {
    region_part found = {};
    EXPECT_TRUE(seen().part.read(found));
    return found;
  }
  std::set<const void*> held() const {
    held_locks found = {};
    EXPECT_TRUE(seen().locks.read(found));
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

  thread_log& log = *log_of_this_thread();
};

TEST_F(watch_hooks_test, a_visit_is_one_from_when_it_came_to_when_it_leaves) {
  watch_hooks::visit_changes(log, visit(10, 0));
  watch_hooks::visit_changes(log, visit(10, 11));
  EXPECT_EQ(seen().visits_so_far(), 1u);
  construct_visit last;
  ASSERT_TRUE(seen().visits[0].read(last));
  EXPECT_EQ(last.arrived, 11u);
  watch_hooks::visit_changes(log, visit(20, 0));
  EXPECT_EQ(seen().visits_so_far(), 2u);
  ASSERT_TRUE(seen().visits[1].read(last));
  EXPECT_EQ(last.came, 20u);
}

TEST_F(watch_hooks_test, the_last_visits_are_kept) {
  for (std::uint64_t came = 1; came <= 20; ++came) watch_hooks::visit_changes(log, visit(came, 0));
  EXPECT_EQ(seen().visits_so_far(), 20u);
  std::set<std::uint64_t> found;
  for (const auto& each : seen().visits) {
    construct_visit one;
    ASSERT_TRUE(each.read(one));
    found.insert(one.came);
  }
  EXPECT_EQ(found, (std::set<std::uint64_t>{13, 14, 15, 16, 17, 18, 19, 20}));
}

TEST_F(watch_hooks_test, locks_may_be_given_up_in_any_order) {
  const int a = 0, b = 0, c = 0;
  for (const int* each : {&a, &b, &c}) watch_hooks::lock_taken(log, each);
  EXPECT_EQ(held(), (std::set<const void*>{&a, &b, &c}));
  watch_hooks::lock_left(log, &a);
  EXPECT_EQ(held(), (std::set<const void*>{&b, &c}));
  watch_hooks::lock_left(log, &a);  // taken before anybody watched
  watch_hooks::lock_left(log, &c);
  EXPECT_EQ(held(), (std::set<const void*>{&b}));
}

TEST_F(watch_hooks_test, more_locks_than_there_is_room_for_are_not_known) {
  const int locks[held_locks::most + 2] = {};
  for (const int& each : locks) watch_hooks::lock_taken(log, &each);
  EXPECT_EQ(held().size(), std::size_t{held_locks::most});
  EXPECT_EQ(held().count(&locks[held_locks::most]), 0u);
  for (const int& each : locks) watch_hooks::lock_left(log, &each);
  EXPECT_TRUE(held().empty());
}

TEST_F(watch_hooks_test, an_inner_part_is_shown_until_its_region_has_ended_then_the_outer_one) {
  watch_hooks::part_begins(log, {&team, 1, 0, 2, 100, 0});
  watch_hooks::part_begins(log, {&inner_team, 5, 1, 2, 200, 0});
  EXPECT_EQ(part().region, 5u);
  EXPECT_EQ(part().ended, 0u);
  watch_hooks::part_ends(log, 300);
  EXPECT_EQ(part().region, 5u);
  EXPECT_EQ(part().ended, 300u);
  wait_subject what = {};
  what.kind = wait_kind::end_of_part;
  watch_hooks::wait_begins(log, what);
  EXPECT_EQ(part().region, 5u) << "its caller waits for the others";
  watch_hooks::wait_ends(log, what);
  EXPECT_EQ(part().region, 1u);
  EXPECT_EQ(part().ended, 0u);
  watch_hooks::part_ends(log, 400);
  EXPECT_EQ(part().region, 1u);
  EXPECT_EQ(part().ended, 400u);
}

TEST_F(watch_hooks_test, a_region_without_a_wait_is_over_with_the_next_hook) {
  watch_hooks::part_begins(log, {&team, 1, 0, 2, 100, 0});
  watch_hooks::part_begins(log, {&inner_team, 5, 0, 1, 200, 0});
  watch_hooks::part_ends(log, 300);
  watch_hooks::visit_changes(log, visit(310, 0));
  EXPECT_EQ(part().region, 1u);
}

TEST_F(watch_hooks_test, parts_deeper_than_there_is_room_for_are_counted) {
  constexpr std::uint32_t depth = watch_log::most_parts + 3;
  for (std::uint32_t i = 1; i <= depth; ++i) watch_hooks::part_begins(log, {&team, i, 0, 2, i, 0});
  EXPECT_EQ(part().region, depth);
  for (std::uint32_t i = depth; i > 1; --i) watch_hooks::part_ends(log, 100 + i);
  watch_hooks::visit_changes(log, visit(310, 0));
  EXPECT_EQ(part().region, 1u);
  watch_hooks::part_ends(log, 200);
  watch_hooks::part_ends(log, 201);  // began before anybody watched
  EXPECT_EQ(part().ended, 200u);
}

TEST_F(watch_hooks_test, a_node_is_kept_by_a_copy_of_its_name_that_is_cut) {
  const std::string name(100, 'n');
  watch_hooks::node_begins(log, name.c_str(), 7);
  node_visit found = {};
  ASSERT_TRUE(seen().node.read(found));
  EXPECT_EQ(found.name, std::string(sizeof found.name - 1, 'n'));
  EXPECT_EQ(found.began, 7u);
  EXPECT_EQ(found.ended, 0u);
  watch_hooks::node_ends(log, 9);
  ASSERT_TRUE(seen().node.read(found));
  EXPECT_EQ(found.ended, 9u);
}

}  // namespace
