// SPDX-License-Identifier: MIT
// tests/trace/stuck_report_test.cpp -- what the report makes of what was seen: which threads are missing, which wait in
// a ring
#include "trace/stuck_report.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include <lockstep/named_object.hpp>

namespace {

using namespace lockstep::detail;
using lockstep::call_site;

constexpr std::uint32_t region = 7;
const int team = 0, other_team = 0;
const int lock_a = 0, lock_b = 0;

/// Ticks are milliseconds here.
class world {
 public:
  world() {
    all.now = 10000;
    all.ticks_per_second = 1000;
  }

  seen_thread& thread(const char* label) {
    seen_thread one;
    std::snprintf(one.label, sizeof one.label, "thread '%s'", label);
    one.number = all.threads.size() + 1;
    all.threads.push_back(one);
    return all.threads.back();
  }
  /// Invalidates what thread() has returned before.
  seen_thread& member(std::uint32_t rank, std::uint32_t size) {
    seen_thread& one = thread(("member " + std::to_string(rank)).c_str());
    one.part = {&team, region, rank, size, 1000, 0, 0, false};
    return one;
  }
  std::string report() const { return stuck_report(all, "why"); }
  std::vector<std::size_t> ring() const { return all.find_ring(); }
  std::vector<std::uint32_t> missing(std::size_t of) const {
    const attendance found = all.at_phase(all.threads[of]);
    EXPECT_FALSE(found.come.empty()) << "it waits in no phase";
    return found.missing;
  }

  stuck_snapshot all;
};

construct_visit visit_of(const seen_thread& one, const char* kind, unsigned line,
                         std::uint32_t phase, std::uint64_t came) {
  construct_visit visit = construct_visit();
  visit.kind = kind;
  visit.where = call_site{"solver.cpp", line};
  visit.team = one.part.team;
  visit.region = one.part.region;
  visit.rank = one.part.rank;
  visit.size = one.part.size;
  visit.phase = phase;
  visit.came = came;
  return visit;
}
void meets(seen_thread& one, const char* kind, unsigned line, std::uint32_t phase,
           std::uint64_t came, std::uint64_t released) {
  construct_visit visit = visit_of(one, kind, line, phase, came);
  visit.arrived = came + 1;
  visit.released = released;
  one.visits[one.visit_count++] = visit;
}
void waits(seen_thread& one, wait_kind kind, const void* object, std::uint64_t since,
           std::uint32_t awaited = wait_subject::nobody) {
  wait_subject what = {};
  what.kind = kind;
  what.object = object;
  what.awaited = awaited;
  one.waits[one.wait_count++] = shown_wait{what, since};
}
/// In a barrier since `came`.
void is_stuck_in(seen_thread& one, const char* kind, unsigned line, std::uint32_t phase,
                 std::uint64_t came) {
  meets(one, kind, line, phase, came, 0);
  waits(one, wait_kind::of_construct, &team, came + 2);
}
void holds(seen_thread& one, const void* lock) { one.held.objects[one.held.count++] = lock; }

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in\n" << text;
}
testing::AssertionResult has_not(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' in\n" << text;
}

TEST(stuck_report, nobody_and_nothing) {
  EXPECT_EQ(world().report(), "why\n");
  EXPECT_TRUE(world().ring().empty());
}

TEST(stuck_report, names_of_objects_stand_with_waits_locks_and_rings) {
  world w;
  lockstep::name_object(&lock_a, "first");
  lockstep::name_object(&lock_b, "second");
  seen_thread& one = w.thread("one");
  waits(one, wait_kind::mutex, &lock_a, 8000);
  one.waits[0].what.where = call_site{"solver.cpp", 12};
  holds(one, &lock_b);
  seen_thread& two = w.thread("two");
  waits(two, wait_kind::mutex, &lock_b, 8000);
  holds(two, &lock_a);
  char where[40];
  std::snprintf(where, sizeof where, "%p", static_cast<const void*>(&lock_a));
  const std::string text = w.report(), at = where;
  EXPECT_TRUE(
      has(text, "for lockstep::mutex 'first' at " + at + " (solver.cpp:12), spinning; held by"));
  EXPECT_TRUE(has(text, "; holds the lock at " + at + " 'first'\n"));
  EXPECT_TRUE(has(text, "    thread 'one' waits for lockstep::mutex 'first' at " + at));
  for (const int* const each : {&lock_a, &lock_b}) lockstep::name_object(each, nullptr);
}

/// Waits at an object as one of `expected` threads.
void meets_at(seen_thread& one, const void* object, std::uint32_t rank, std::uint32_t expected,
              std::uint64_t come, std::uint32_t phase = 4) {
  waits(one, wait_kind::ranked_barrier, object, 8000 + rank);
  wait_subject& what = one.waits[one.wait_count - 1].what;
  what.rank = rank;
  what.expected = expected;
  what.come = come;
  what.phase = phase;
}

TEST(stuck_report, ranks_that_wait_or_were_seen_have_come_to_a_barrier_and_the_others_are_missing) {
  world w;
  meets_at(w.thread("a"), &lock_a, 0, 5, 0);
  meets_at(w.thread("b"), &lock_a, 3, 5, 1u << 4);
  meets_at(w.thread("of the next phase"), &lock_a, 1, 5, 0, 5);
  meets_at(w.thread("of another barrier"), &lock_b, 2, 3, 0);
  const attendance found = w.all.at_object(w.all.threads[0]);
  EXPECT_EQ(found.come, (std::vector<std::uint32_t>{0, 3, 4}));
  EXPECT_EQ(found.missing, (std::vector<std::uint32_t>{1, 2}));
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "phase 4, as rank 3 of 5, spinning\n"));
  EXPECT_TRUE(
      has(text, ", phase 4: 2 wait; 3 of 5 have come: ranks 0, 3, 4; missing: ranks 1, 2\n"));
  EXPECT_TRUE(has(text, ", phase 5: 1 waits; 1 of 5 have come: rank 1; missing: ranks 0, 2-4\n"));
  EXPECT_EQ(text.find("2 wait;"), text.rfind("2 wait;")) << "once for each phase\n" << text;
}

TEST(stuck_report, the_thread_that_was_the_missing_rank_before_is_told_but_closes_no_ring) {
  world w;
  meets_at(w.thread("a"), &lock_a, 0, 2, 1);
  holds(w.all.threads[0], &lock_b);
  seen_thread& late = w.thread("late");
  late.met.count = 2;
  late.met.all[0] = {&lock_b, 0, 1};
  late.met.all[1] = {&lock_a, 1, 3};
  waits(late, wait_kind::mutex, &lock_b, 8100);
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "    missing: rank 1, who was last thread 'late': waits 1.9 s for "));
  EXPECT_TRUE(w.ring().empty()) << "it need not be that rank now";
}

TEST(stuck_report, notifiers_that_lack_are_named_and_waiters_are_none_of_them) {
  world w;
  meets_at(w.thread("a"), &lock_a, wait_subject::nobody, 3, 1u << 1);
  meets_at(w.thread("b"), &lock_a, wait_subject::nobody, 3, 1u << 1 | 1u << 2);
  EXPECT_TRUE(has(w.report(), ": 2 wait; 2 of 3 have notified: ranks 1, 2; missing: rank 0\n"));
  EXPECT_TRUE(has_not(w.report(), ", as rank"));
}

TEST(stuck_report, where_only_a_number_is_known_that_of_the_last_waiter_counts) {
  world w;
  waits(w.thread("a"), wait_kind::latch, &lock_a, 8000);
  w.all.threads[0].waits[0].what.left = 2;
  EXPECT_TRUE(has(w.report(), ": 1 waits; when the last one began to, 2 more were to come\n"));
  waits(w.thread("b"), wait_kind::latch, &lock_a, 8100);
  w.all.threads[1].waits[0].what.left = 1;
  EXPECT_TRUE(has(w.report(), ": 2 wait; when the last one began to, 1 more was to come\n"));
}

TEST(stuck_report, a_watchdog_that_was_stopped_excuses_waits_once) {
  constexpr std::uint64_t limit = 1000000000, ms = 1000000;
  stop_excuse excuse;
  EXPECT_FALSE(excuse.is_due(limit, limit, limit));
  EXPECT_FALSE(excuse.is_due(limit, limit, limit + limit / 2));
  EXPECT_FALSE(excuse.is_due(limit, limit, limit / 3)) << "woken early";
  EXPECT_TRUE(excuse.is_due(limit, limit, limit + limit / 2 + 2 * ms));
  EXPECT_FALSE(excuse.is_due(limit, limit / 4, 2 * limit)) << "twice in a row";
  EXPECT_TRUE(excuse.is_due(limit, 1 * ms, 60 * limit)) << "the next stop";
  EXPECT_FALSE(excuse.is_due(limit, limit / 4, limit / 4));
  EXPECT_TRUE(excuse.is_due(limit, 0, limit));
  // With a short limit, a sleep that ends late is not taken for a stop.
  EXPECT_FALSE(stop_excuse().is_due(ms, ms, ms + ms));
  EXPECT_GT(stop_excuse::time_of(1), 0u);
  EXPECT_LE(stop_excuse::time_of(limit), limit / 2);
}

TEST(stuck_report, the_member_that_has_not_come_is_missing_with_the_place_where_it_was_last) {
  world w;
  is_stuck_in(w.member(0, 3), "sync_threads", 42, 12, 8000);
  is_stuck_in(w.member(1, 3), "sync_threads", 42, 12, 8100);
  seen_thread& late = w.member(2, 3);
  meets(late, "for_range", 38, 11, 6000, 6500);
  late.state = 'R';
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{2});
  EXPECT_EQ(w.missing(1), std::vector<std::uint32_t>{2});
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "thread 'member 0', rank 0 of 3 in region 7"));
  EXPECT_TRUE(has(text, "waits 2 s for sync_threads (solver.cpp:42), phase 12, spinning\n"));
  EXPECT_TRUE(has(text,
                  "  sync_threads (solver.cpp:42), phase 12: come: ranks 0, 1; missing: rank 2\n"
                  "    missing: rank 2, thread 'member "
                  "2': waits for nothing that lockstep knows (it runs on a CPU); it was last "
                  "in for_range (solver.cpp:38), phase 11, and left it 3.5 s ago"));
  EXPECT_TRUE(has(text, "its part of the region began 9 s ago"));
  EXPECT_TRUE(has_not(text, "deadlock"));
  EXPECT_TRUE(has_not(text, "different places"));
}

TEST(stuck_report, a_phase_is_said_to_miss_a_member_once) {
  world w;
  is_stuck_in(w.member(0, 3), "sync_threads", 42, 12, 8000);
  is_stuck_in(w.member(1, 3), "sync_threads", 42, 12, 8100);
  w.member(2, 3);
  const std::string text = w.report();
  const std::size_t first = text.find("missing: rank 2\n");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("missing: rank 2\n", first + 1), std::string::npos) << text;
}

TEST(stuck_report, a_member_that_came_to_a_later_phase_is_not_missing) {
  // It was seen later than the others, and has gone on meanwhile.
  for (const std::uint32_t phase : {12u, 0xFFFFFFFFu}) {
    world w;
    is_stuck_in(w.member(0, 2), "sync_threads", 42, phase, 8000);
    is_stuck_in(w.member(1, 2), "sync_threads", 42, phase + 2, 8100);
    EXPECT_TRUE(w.missing(0).empty());
    EXPECT_EQ(w.missing(1), std::vector<std::uint32_t>{0});
  }
}

TEST(stuck_report, a_member_of_another_region_or_team_has_not_come) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  seen_thread& old = w.member(1, 2);
  old.part.region = region - 1;
  old.part.ended = 7000;
  is_stuck_in(old, "sync_threads", 42, 12, 6000);
  seen_thread& stranger = w.member(1, 2);
  stranger.part.team = &other_team;
  is_stuck_in(stranger, "sync_threads", 42, 12, 8000);
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{1});
}

TEST(stuck_report, a_member_whose_part_has_ended_is_said_to_have_ended_it) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  seen_thread& gone = w.member(1, 2);
  gone.part.ended = 8500;
  waits(gone, wait_kind::next_region, nullptr, 8501);
  const std::string text = w.report();
  EXPECT_TRUE(has(text,
                  "rank 1, thread 'member 1': idle, waits for the next region; its part of "
                  "the region ended 1.5 s ago"));
}

TEST(stuck_report, a_member_that_no_thread_has_been_is_said_to_be_nobody) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  EXPECT_TRUE(has(w.report(), "rank 1, which no thread is known to be"));
  world region_end;
  waits(region_end.member(0, 2), wait_kind::end_of_part, nullptr, 5000, 1);
  EXPECT_TRUE(has(region_end.report(), ": rank 1, which no thread is known to be\n"));
}

TEST(stuck_report, a_member_that_has_not_begun_is_the_thread_of_the_region_before) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  seen_thread& late = w.member(1, 2);
  late.part.region = region - 1;
  late.part.ended = 7000;
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(has(w.report(), "missing: rank 1, who has not begun: thread 'member 1': waits for"));
}

TEST(stuck_report, who_waits_after_its_part_is_in_no_construct_of_it) {
  world w;
  seen_thread& zero = w.member(0, 2);
  zero.visits[zero.visit_count++] = visit_of(zero, "for_range", 30, 0, 5000);
  zero.part.ended = 6000;
  waits(zero, wait_kind::end_of_part, nullptr, 6001, 1);
  w.member(1, 2);
  const std::string text = w.report();
  EXPECT_TRUE(has(text,
                  "waits 4 s for the end of a member's part of rank 1, spinning; that is up "
                  "to thread 'member 1'"));
}

TEST(stuck_report, members_that_met_at_different_places_are_named_with_the_first_such_phase) {
  world w;
  seen_thread& zero = w.member(0, 2);
  meets(zero, "sync_threads", 10, 11, 7000, 7100);
  meets(zero, "sync_threads", 20, 12, 7200, 7300);
  is_stuck_in(zero, "sync_threads", 30, 13, 7400);
  seen_thread& one = w.member(1, 2);
  meets(one, "sync_threads", 20, 11, 7000, 7100);
  meets(one, "sync_threads", 30, 12, 7200, 7300);
  one.part.ended = 7400;
  const std::string text = w.report();
  EXPECT_TRUE(has(text,
                  "different places in phase 11: rank 0 was at sync_threads (solver.cpp:10), "
                  "rank 1 at sync_threads (solver.cpp:20)"));
}

TEST(stuck_report, a_barrier_that_is_reached_as_two_constructs_is_named) {
  world w;
  is_stuck_in(w.member(0, 3), "sync_threads", 10, 11, 7000);
  is_stuck_in(w.member(1, 3), "sync_sum", 10, 11, 7000);
  w.member(2, 3);
  EXPECT_TRUE(has(w.report(),
                  "rank 0 was at sync_threads (solver.cpp:10), rank 1 at sync_sum "
                  "(solver.cpp:10)"));
}

TEST(stuck_report, two_threads_that_hold_what_the_other_wants_are_a_deadlock) {
  world w;
  seen_thread& first = w.thread("first");
  holds(first, &lock_a);
  waits(first, wait_kind::mutex, &lock_b, 5000);
  seen_thread& second = w.thread("second");
  holds(second, &lock_b);
  waits(second, wait_kind::mutex, &lock_a, 5100);
  w.thread("bystander");
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1}));
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "held by thread 'second'"));
  EXPECT_TRUE(has(text, "holds the lock at"));
  EXPECT_TRUE(has(text,
                  "deadlock: these wait for each other\n    thread 'first' waits for "
                  "lockstep::mutex at"));
  EXPECT_TRUE(has(text, "and so for thread 'first'\n"));
}

TEST(stuck_report, a_wait_that_has_just_begun_closes_no_ring) {
  // What its thread holds may have been seen before it was given up.
  world w;
  seen_thread& first = w.thread("first");
  holds(first, &lock_a);
  waits(first, wait_kind::mutex, &lock_b, 5000);
  seen_thread& second = w.thread("second");
  holds(second, &lock_b);
  waits(second, wait_kind::mutex, &lock_a, w.all.now);
  EXPECT_TRUE(w.ring().empty());
}

TEST(stuck_report, members_that_wait_for_steps_of_each_other_are_a_deadlock) {
  world w;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    seen_thread& one = w.member(rank, 4);
    one.visits[one.visit_count++] = visit_of(one, "wait_for", 50 + rank, 0, 5000);
    waits(one, wait_kind::step_of_member, nullptr, 5001, (rank + 1) % 3);
  }
  w.member(3, 4);
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(has(w.report(), "up to thread 'member 1'"));
}

TEST(stuck_report, the_end_of_a_thread_is_up_to_that_thread_and_may_close_a_ring) {
  const int word = 0, other_word = 0;
  world w;
  for (const int* end : {&word, &other_word}) {
    seen_thread& one = w.thread(end == &word ? "one" : "two");
    one.held.end = end;
    waits(one, wait_kind::joinable_thread, end + 1, 1000);
    one.waits[0].what.sleeps_on = end == &word ? &other_word : &word;
  }
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1}));
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "; that is up to thread 'two'"));
  EXPECT_TRUE(has_not(text, "holds the lock"));
  w.all.threads[1].held.end = nullptr;
  EXPECT_TRUE(w.ring().empty()) << "it was started before the watchdog";
}

TEST(stuck_report, a_lock_and_a_barrier_may_be_one_ring) {
  world w;
  seen_thread& zero = w.member(0, 2);
  holds(zero, &lock_a);
  is_stuck_in(zero, "sync_threads", 42, 12, 5000);
  waits(w.member(1, 2), wait_kind::mutex, &lock_a, 5100);
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1}));
}

TEST(stuck_report, a_thread_may_wait_for_itself) {
  world w;
  seen_thread& one = w.thread("one");
  holds(one, &lock_a);
  waits(one, wait_kind::mutex, &lock_a, 5000);
  EXPECT_EQ(w.ring(), std::vector<std::size_t>{0});
}

TEST(stuck_report, a_chain_is_no_ring) {
  world w;
  waits(w.thread("a"), wait_kind::mutex, &lock_a, 5000);
  seen_thread& b = w.thread("b");
  holds(b, &lock_a);
  waits(b, wait_kind::event, &team, 5000);
  EXPECT_TRUE(w.ring().empty());
  EXPECT_TRUE(has_not(w.report(), "deadlock"));
}

TEST(stuck_report, a_ring_is_found_from_threads_that_lead_into_it) {
  world w;
  const int locks[4] = {};
  for (int i = 0; i < 4; ++i) {
    seen_thread& one = w.thread(std::to_string(i).c_str());
    if (i > 0) holds(one, &locks[i]);
    waits(one, wait_kind::mutex, &locks[i == 3 ? 1 : i + 1], 5000);
  }
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{1, 2, 3}));
}

TEST(stuck_report, two_ways_to_the_same_thread_are_no_ring) {
  world w;
  is_stuck_in(w.member(0, 3), "sync_threads", 42, 12, 5000);
  waits(w.member(1, 3), wait_kind::mutex, &lock_a, 5100);
  waits(w.member(2, 3), wait_kind::mutex, &lock_a, 5200);
  holds(w.thread("works on"), &lock_a);
  EXPECT_EQ(w.missing(0), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(w.ring().empty());
  const int lock_c = 0, lock_d = 0;
  for (int i = 0; i < 2; ++i) {
    seen_thread& one = w.thread("in a ring");
    holds(one, i == 0 ? &lock_c : &lock_d);
    waits(one, wait_kind::mutex, i == 0 ? &lock_d : &lock_c, 5000);
  }
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{4, 5})) << "which is found behind them";
}

TEST(stuck_report, the_innermost_wait_of_a_thread_is_the_one_that_counts) {
  world w;
  seen_thread& first = w.thread("first");
  holds(first, &lock_a);
  waits(first, wait_kind::event, &team, 4000);
  waits(first, wait_kind::mutex, &lock_b, 5000);
  seen_thread& second = w.thread("second");
  holds(second, &lock_b);
  waits(second, wait_kind::mutex, &lock_a, 5100);
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1}));
}

TEST(stuck_report, a_member_of_a_sub_team_is_known_by_its_visits) {
  const int sub_team = 0;
  world w;
  seen_thread& zero = w.member(0, 4);
  holds(zero, &lock_a);
  is_stuck_in(zero, "sync_threads", 42, 3, 5000);
  seen_thread& two = w.member(2, 4);
  meets(two, "sync_threads", 42, 2, 4000, 4100);
  waits(two, wait_kind::mutex, &lock_a, 5100);
  for (seen_thread& each : w.all.threads) {
    each.visits[0].team = &sub_team;
    each.visits[0].rank = each.part.rank / 2;
    each.visits[0].size = 2;
  }
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{1});
  EXPECT_EQ(w.ring(), (std::vector<std::size_t>{0, 1}));
}

TEST(stuck_report, visits_of_another_region_of_the_team_do_not_count_STUCK_1) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  seen_thread& late = w.member(1, 2);
  meets(late, "sync_threads", 50, 13, 6000, 6100);
  late.visits[0].region = region - 1;
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{1});
  late.visits[0].phase = 12;
  EXPECT_TRUE(has_not(w.report(), "different places"));
}

TEST(stuck_report, a_member_has_come_when_it_has_arrived_STUCK_1) {
  world w;
  is_stuck_in(w.member(0, 2), "sync_threads", 42, 12, 8000);
  seen_thread& late = w.member(1, 2);
  late.visits[late.visit_count++] = visit_of(late, "sync_threads", 42, 12, 8100);
  EXPECT_EQ(w.missing(0), std::vector<std::uint32_t>{1});
}

TEST(stuck_report, a_node_that_runs_is_named) {
  world w;
  seen_thread& zero = w.member(0, 2);
  waits(zero, wait_kind::step_of_plan, nullptr, 5000, 1);
  seen_thread& one = w.member(1, 2);
  std::strcpy(one.node.name, "solve");
  one.node.began = 4000;
  EXPECT_TRUE(has(w.report(), "in node 'solve' for 6 s"));
  EXPECT_TRUE(has(w.report(), "up to thread 'member 1'"));
  w.all.threads[1].node.ended = 4500;
  EXPECT_TRUE(has_not(w.report(), "solve"));
}

TEST(stuck_report, members_whose_steps_a_third_runs_do_not_wait_for_each_other) {
  world w;
  waits(w.member(0, 3), wait_kind::step_of_plan, nullptr, 5000, 0);
  waits(w.member(1, 3), wait_kind::step_of_plan, nullptr, 5000, 0);
  w.member(2, 3).node.began = 4000;
  EXPECT_TRUE(w.ring().empty());
  EXPECT_TRUE(has_not(w.report(), "up to"));
  w.all.threads[0].node.began = 4000;
  EXPECT_TRUE(has(w.report(), "up to thread 'member 0'"));
}

TEST(stuck_report, many_missing_ranks_are_shown_as_ranges_and_the_first_of_them_in_full) {
  world w;
  is_stuck_in(w.member(0, 100), "sync_threads", 42, 12, 8000);
  const std::string text = w.report();
  EXPECT_TRUE(has(text, "come: rank 0; missing: ranks 1-99\n"));
  EXPECT_TRUE(has(text, "    missing: rank 16, which no thread is known to be"));
  EXPECT_TRUE(has(text, "    missing: 83 more\n"));
  EXPECT_TRUE(has_not(text, "rank 17"));
}

}  // namespace
