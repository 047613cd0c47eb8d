// SPDX-License-Identifier: MIT
// tests/trace/arrows_test.cpp -- VIEW-3 for waits that end while the waiter polls: which thread let it go
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "trace/thread_log.hpp"
#include "trace/traced.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::team_options;
using lockstep::wait_policy;
using lockstep::detail::shown_wait;
using lockstep::detail::thread_log;
using lockstep::test::seen_event;
using lockstep::test::seen_trace;
using lockstep::test::trace_of;

/// Whether a thread waits for a thing of that name now.
bool is_awaited(const std::string& kind) {
  for (const thread_log* at = thread_log::first(); at != nullptr; at = at->next()) {
    shown_wait seen;
    if (!at->is_alive() || !at->wait_at(0, seen)) continue;
    const char* const text = lockstep::detail::text_of(seen.what);
    if (text != nullptr && kind == text) return true;
  }
  return false;
}
void wait_until_awaited(const std::string& kind) {
  while (!is_awaited(kind)) std::this_thread::yield();
}

/// The arrows of a name from one thread to another.
std::size_t arrows_between(const seen_trace& seen, const std::string& name, const std::string& from,
                           const std::string& to) {
  std::size_t found = 0;
  for (const auto& [sent, came] : seen.arrows(name)) {
    found += seen.tracks(from).count(sent.track) != 0 && seen.tracks(to).count(came.track) != 0;
  }
  return found;
}

/// The slices of the category that are around the event, on its track.
std::vector<seen_event> around(const seen_trace& seen, const std::string& category,
                               const seen_event& at) {
  std::vector<seen_event> found;
  for (const seen_event& each : seen.of(category)) {
    if (each.track == at.track && each.begin <= at.begin && at.begin <= each.end)
      found.push_back(each);
  }
  return found;
}

/// wait() on a thread that polls, let_go() on another as soon as it is in its wait; then a third one lets go once more.
void expect_notify(const std::string& kind, const std::function<void()>& wait,
                   const std::function<void()>& let_go,
                   bool is_noted = lockstep::detail::diagnoses_misuse) {
  SCOPED_TRACE(kind);
  const seen_trace seen = trace_of([&] {
    std::thread waiter([&] {
      lockstep::name_this_thread("waiter");
      wait();
    });
    std::thread notifier([&] {
      lockstep::name_this_thread("notifier");
      wait_until_awaited(kind);
      let_go();
    });
    waiter.join();
    notifier.join();
  });
  EXPECT_EQ(arrows_between(seen, "notify", "notifier", "waiter"), is_noted ? 1u : 0u);
  EXPECT_EQ(seen.of("arrow").size(), is_noted ? 2u : 0u) << "two ends";
  for (const auto& [from, to] : seen.arrows("notify")) {
    const std::vector<seen_event> waits = around(seen, "wait", to);
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].argument("for"), kind);
    EXPECT_GE(from.begin, waits[0].begin);
    EXPECT_GE(to.begin, waits[0].end - 1);
  }
}

TEST(arrows, VIEW_3_an_arrow_comes_from_the_thread_that_let_a_polling_one_go) {
  lockstep::test::faces<lockstep::test::face_list>::for_each(wait_policy::spin(), [](auto& one) {
    expect_notify(lockstep::test::kind_of(one), [&] { one.wait(); }, [&] { one.notify(); });
  });
}

TEST(arrows, VIEW_3_the_last_of_several_threads_is_the_one_that_opened_a_latch) {
  if (!lockstep::detail::diagnoses_misuse) GTEST_SKIP();
  lockstep::latch object(3, wait_policy::spin());
  const seen_trace seen = trace_of([&] {
    std::thread waiter([&] {
      lockstep::name_this_thread("waiter");
      object.wait();
    });
    wait_until_awaited("lockstep::latch");
    for (const char* name : {"first", "second", "third"}) {
      std::thread([&] {
        lockstep::name_this_thread(name);
        object.count_down();
      }).join();
    }
    waiter.join();
  });
  EXPECT_EQ(arrows_between(seen, "notify", "third", "waiter"), 1u);
  EXPECT_EQ(seen.of("arrow").size(), 2u);
}

/// The arrows from the thread that gave up a lock to the one that waited for it.
std::size_t arrows_of_a_lock() {
  lockstep::mutex object(wait_policy::spin());
  std::atomic<bool> is_held{false};
  const seen_trace seen = trace_of([&] {
    std::thread holder([&] {
      lockstep::name_this_thread("holder");
      const std::lock_guard<lockstep::mutex> held(object);
      is_held = true;
      wait_until_awaited("lockstep::mutex");
    });
    std::thread waiter([&] {
      lockstep::name_this_thread("waiter");
      while (!is_held) std::this_thread::yield();
      object.lock();
      object.unlock();
    });
    holder.join();
    waiter.join();
  });
  return arrows_between(seen, "notify", "holder", "waiter") +
         arrows_between(seen, "wake", "holder", "waiter");
}

// A wait for a lock has several stages, each a wait of its own, and the lock may be given up between two of them. Then
// no thread is known to have let the waiter go. So one try in many has to show an arrow.
TEST(arrows, VIEW_3_who_waited_for_a_lock_has_an_arrow_from_the_one_that_gave_it_up) {
  std::size_t found = 0;
  for (int attempt = 0; attempt < 50 && found == 0; ++attempt) found = arrows_of_a_lock();
  EXPECT_GE(found, 1u);
}

TEST(arrows, VIEW_3_the_caller_has_an_arrow_from_the_end_of_the_part_that_it_waited_for) {
  for (const wait_policy policy : {wait_policy::spin(), wait_policy()}) {
    team workers(team_options().members(2).policy(policy));
    const seen_trace seen = trace_of([&] {
      lockstep::name_this_thread("caller");
      for (int i = 0; i < 5; ++i) {
        workers.run([](member& me) {
          if (me.rank() == 1) wait_until_awaited("the end of a member's part");
        });
      }
    });
    std::size_t found = 0;
    for (const auto& [from, to] : seen.arrows("end of part")) {
      ++found;
      const std::vector<seen_event> parts = around(seen, "part", from),
                                    regions = around(seen, "region", to);
      ASSERT_EQ(parts.size(), 1u);
      EXPECT_EQ(parts[0].argument("rank"), 1);
      EXPECT_LE(parts[0].end - from.begin, 2) << "its end";
      ASSERT_EQ(regions.size(), 1u);
      EXPECT_EQ(regions[0].argument("region"), parts[0].argument("region"));
    }
    if (policy.is_spin()) {
      EXPECT_EQ(found, 5u);
      EXPECT_EQ(arrows_between(seen, "end of part", "lockstep 1", "caller"), 5u);
    }
  }
}

// In the two tests of steps the member that publishes returns late: its return lets others go by the same word, and
// would be the last that did so when a slow waiter looks.
TEST(arrows, VIEW_3_a_step_of_a_member_has_an_arrow_from_that_member) {
  team workers(team_options().members(3).policy(wait_policy::spin()));
  std::atomic<bool> is_seen{false};
  const seen_trace seen = trace_of([&] {
    lockstep::name_this_thread("caller");
    workers.run([&](member& me) {
      if (me.rank() == 1) wait_until_awaited("a step of another member");
      if (me.rank() == 1) me.publish(1);
      if (me.rank() == 2) me.await_step(1, 1);
      if (me.rank() == 2) is_seen = true;
      while (me.rank() == 1 && !is_seen) std::this_thread::yield();
    });
  });
  const char* const name = lockstep::detail::diagnoses_misuse ? "notify" : "step";
  EXPECT_EQ(arrows_between(seen, name, "lockstep 1", "lockstep 2"), 1u);
}

TEST(arrows, VIEW_3_a_step_of_a_sub_team_has_an_arrow_from_that_member_or_none) {
  team workers(team_options().members(3).policy(wait_policy::spin()));
  std::atomic<bool> is_seen{false};
  const seen_trace seen = trace_of([&] {
    lockstep::name_this_thread("caller");
    workers.run([&](member& me) {
      lockstep::sub_team part = me.split(me.rank() == 1 ? 0 : 1);  // the ranks are others there
      if (me.rank() == 1) return;
      part->sync_threads();
      if (me.rank() == 0) wait_until_awaited("a step of another member");
      if (me.rank() == 0) part->publish(1);
      if (me.rank() == 2) part->await_step(0, 1);
      if (me.rank() == 2) is_seen = true;
      while (me.rank() == 0 && !is_seen) std::this_thread::yield();
    });
  });
  const char* const name = lockstep::detail::diagnoses_misuse ? "notify" : "step";
  EXPECT_EQ(arrows_between(seen, name, "caller", "lockstep 2"), 1u);
  EXPECT_EQ(arrows_between(seen, name, "lockstep 1", "lockstep 2"), 0u);
}

TEST(arrows, VIEW_3_a_wait_for_a_step_of_a_plan_has_an_arrow_from_the_member_that_made_it) {
  team workers(team_options().members(2).policy(wait_policy::spin()));
  lockstep::graph flow;
  // Whichever member runs it: the other one has nothing to do before it is over, and so waits.
  const auto left = flow.node("left", [] { wait_until_awaited("a step of a plan"); });
  const auto right = flow.node("right", [] {});
  const auto one = flow.node("one", [] {}), other = flow.node("other", [] {});
  flow.edge(left, one).edge(left, other).edge(right, one).edge(right, other);
  lockstep::plan plan(flow, workers);
  std::size_t found = 0;
  // A wait may also end because the member finds a step to take over: then nobody has let it go.
  for (int run = 0; run < 1000 && found == 0; ++run) {
    const seen_trace seen = trace_of([&] { plan.run(); });
    const auto lefts = seen.named("left");
    ASSERT_EQ(lefts.size(), 1u);
    const char* const name = lockstep::detail::diagnoses_misuse ? "notify" : "node";
    for (const auto& [from, to] : seen.arrows(name)) {
      const std::vector<seen_event> waits = around(seen, "wait", to);
      if (waits.empty() || waits.back().argument("for") != "a step of a plan") continue;
      if (from.track != lefts[0].track) continue;  // a wait after that
      ++found;
      EXPECT_NE(from.track, to.track);
      EXPECT_GE(from.begin, lefts[0].end - 2);
    }
  }
  EXPECT_GE(found, 1u);
}

TEST(arrows, VIEW_3_a_region_has_one_arrow_at_most_to_each_thread_and_to_its_first_part) {
  team workers(3);
  std::vector<double> values(200000);
  const seen_trace seen = trace_of([&] {
    for (int i = 0; i < lockstep::test::effort(20); ++i) {
      workers.for_each(0, values.size(), [&](std::size_t k) { values[k] = values[k] * 0.5 + 1; });
    }
  });
  std::set<std::pair<int, int>> told;  // region, track
  for (const auto& [from, to] : seen.arrows("region")) {
    const std::vector<seen_event> regions = around(seen, "region", from);
    ASSERT_FALSE(regions.empty());
    const int region = regions.back().argument("region");
    EXPECT_TRUE(told.insert({region, to.track}).second) << "region " << region;
    for (const seen_event& part : seen.of("part")) {
      if (part.track != to.track || part.argument("region") != region) continue;
      EXPECT_GE(part.begin, to.begin);
    }
  }
  const int caller = seen.of("region").front().track;
  for (const seen_event& part : seen.of("part")) {
    if (part.track == caller) continue;
    EXPECT_TRUE(told.count({part.argument("region"), part.track}));
  }
}

}  // namespace
