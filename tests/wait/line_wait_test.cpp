// SPDX-License-Identifier: MIT
// tests/wait/line_wait_test.cpp -- when a wait uses the processor's own, and for how long, on the scripted system
#include "wait/wait_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <lockstep/event.hpp>
#include <lockstep/ranked_barrier.hpp>
#include "region/anticipation.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::detail::wait_engine;
using lockstep::detail::wait_history;
using lockstep::test::call;
using lockstep::test::scripted_system;
using lockstep::test::stranded;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t spin_budget = 2000, line_budget = 8000, longest_line_wait = 10000;
constexpr std::uint64_t shortest = 1000;
/// A poll by pauses and two looks at the clock: how much longer a stage may take than its time.
constexpr std::uint64_t one_poll = 16 * 26 + 2 * 25;

struct plain_waitable : lockstep::detail::waitable {
  std::function<bool()> ready_when;
  std::size_t looks = 0, sleeps = 0;

  bool ready() override {
    if (++looks > 100000) throw stranded("polls for ever");
    return ready_when && ready_when();
  }
  void sleep(deadline until) override {
    ++sleeps;
    if (until.is_never()) throw stranded("asleep for ever");
    scripted_system& system = scripted_system::instance();
    system.now = std::max(system.now, until.nanoseconds());
  }
};
/// The same, with a line.
struct watched_waitable : plain_waitable {
  std::uint32_t word = 0;
  const void* line() const noexcept override { return &word; }
};

class line_wait_test : public testing::Test {
 protected:
  void SetUp() override { system_.shortest_line_wait = shortest; }

  template <class Waitable>
  bool wait(Waitable& what, wait_policy policy, deadline until = deadline::never()) {
    system_.calls.clear();
    system_.armed.clear();
    system_.line_waits.clear();
    what.looks = what.sleeps = 0;
    return wait_engine::wait(what, policy, history_, until);
  }
  bool wait(wait_policy policy, deadline until = deadline::never()) {
    return wait(what_, policy, until);
  }
  std::size_t yields() const { return system_.count(call::yield); }
  std::size_t line_waits() const { return system_.line_waits.size(); }

  scripted_system& system_ = scripted_system::reset();
  wait_history history_;
  watched_waitable what_;
};

class spinning_default : public line_wait_test {
 protected:
  void SetUp() override {
    line_wait_test::SetUp();
    if (lockstep::detail::usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  }
};

TEST_F(spinning_default, WAIT_3_polls_for_its_time_then_waits_for_the_line_then_yields) {
  const std::uint64_t start = system_.now;
  std::uint64_t first_line_wait = 0, first_yield = 0;
  system_.on_line_wait = [&](std::uint64_t most) {
    if (first_line_wait == 0) first_line_wait = system_.now;
    system_.now += most;
  };
  system_.on_yield = [&] {
    if (first_yield == 0) first_yield = system_.now;
  };
  what_.ready_when = [&] { return yields() == 3; };
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_GE(first_line_wait, start + spin_budget);
  EXPECT_LE(first_line_wait, start + spin_budget + 2 * one_poll);
  EXPECT_GE(first_yield, start + spin_budget + line_budget);
  EXPECT_LE(first_yield, start + spin_budget + line_budget + 2 * one_poll + 500);
  EXPECT_EQ(system_.armed, std::vector<const void*>(line_waits(), what_.line()));
  EXPECT_EQ(what_.sleeps, 0u);
}

TEST_F(spinning_default, LINE_1_it_arms_then_looks_then_waits_then_looks) {
  std::size_t looks_at_arm = 0, looks_at_wait = 0;
  system_.on_arm = [&] { looks_at_arm = what_.looks; };
  system_.on_line_wait = [&](std::uint64_t) { looks_at_wait = what_.looks; };
  what_.ready_when = [&] { return line_waits() > 0; };
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(looks_at_wait, looks_at_arm + 1) << "a look between arming and waiting";
  EXPECT_EQ(what_.looks, looks_at_wait + 1) << "a look after the wait";
  EXPECT_EQ(yields(), 0u);
}

TEST_F(spinning_default, LINE_1_what_gets_ready_before_or_after_the_arming_is_not_waited_for) {
  bool is_ready = false;
  what_.ready_when = [&] { return is_ready; };
  system_.on_arm = [&] { is_ready = true; };  // the write came between the last look and this one
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(system_.armed.size(), 1u);
  EXPECT_EQ(line_waits(), 0u);
}

TEST_F(spinning_default, LINE_1_a_write_after_the_look_ends_the_wait) {
  bool is_ready = false;
  what_.ready_when = [&] {
    const bool was_ready = is_ready;
    if (!system_.armed.empty() && !is_ready) {
      is_ready = true;
      system_.write_line();
    }
    return was_ready;
  };
  const std::uint64_t start = system_.now;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(line_waits(), 1u);
  EXPECT_LE(system_.now, start + spin_budget + 3 * one_poll)
      << "it waited for a line that had changed";
}

TEST_F(spinning_default, LINE_3_waits_that_end_for_no_reason_go_on_to_the_end_of_the_budget) {
  const std::uint64_t start = system_.now;
  std::uint64_t first_yield = 0;
  system_.on_line_wait = [&](std::uint64_t) { system_.now += 40; };
  system_.on_yield = [&] {
    if (first_yield == 0) first_yield = system_.now;
  };
  what_.ready_when = [&] { return yields() > 0; };
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_GT(line_waits(), 20u);
  EXPECT_GE(first_yield, start + spin_budget + line_budget);
  EXPECT_LE(first_yield, start + spin_budget + line_budget + 2 * one_poll + 500);
}

TEST_F(spinning_default, waits_for_lines_that_fail_are_given_up_as_spins_are) {
  what_.ready_when = [&] { return yields() > 0; };
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(wait(wait_policy()));
    EXPECT_GT(line_waits(), 0u) << i;
  }
  for (int i = 1; i < 64; ++i) {
    EXPECT_TRUE(wait(wait_policy()));
    EXPECT_EQ(line_waits(), 0u) << i;
  }
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_GT(line_waits(), 0u) << "the probe";
}

TEST_F(spinning_default, a_wait_that_ends_in_the_processor_speaks_for_spinning) {
  for (int i = 0; i < 100; ++i) {
    what_.ready_when = [&] { return line_waits() > 0; };
    EXPECT_TRUE(wait(wait_policy()));
    EXPECT_EQ(line_waits(), 1u) << i;
    what_.ready_when = [&] { return yields() > 0; };
    EXPECT_TRUE(wait(wait_policy()));
  }
}

TEST_F(spinning_default, what_takes_longer_than_the_budget_is_not_used) {
  system_.shortest_line_wait = 100000;  // WFE
  what_.ready_when = [&] { return yields() > 0; };
  const std::uint64_t start = system_.now;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(line_waits(), 0u);
  EXPECT_LE(system_.now, start + spin_budget + 2 * one_poll + 500);
}

TEST_F(spinning_default, what_has_no_line_polls_as_without) {
  plain_waitable lineless;
  lineless.ready_when = [&] { return yields() > 0; };
  const std::uint64_t start = system_.now;
  EXPECT_TRUE(wait(lineless, wait_policy()));
  EXPECT_TRUE(system_.armed.empty());
  EXPECT_LE(system_.now, start + spin_budget + 2 * one_poll + 500);
}

TEST_F(line_wait_test, WAIT_3_a_crowd_and_block_never_wait_so) {
  for (const wait_policy policy : {wait_policy().when_crowded(true), wait_policy::block(),
                                   wait_policy::hybrid(microseconds(90)).when_crowded(true)}) {
    what_.ready_when = [&] { return yields() > 10; };
    EXPECT_FALSE(wait(policy, deadline::after(microseconds(3)))) << "to the deadline";
    EXPECT_TRUE(system_.armed.empty());
  }
}

TEST_F(line_wait_test, WAIT_3_without_an_offer_no_line_is_armed) {
  system_.shortest_line_wait = lockstep::detail::no_deadline;
  for (const auto& each : lockstep::test::all_policies()) {
    history_ = wait_history();
    EXPECT_FALSE(wait(each.policy, deadline::after(microseconds(200))));
    EXPECT_TRUE(system_.armed.empty()) << each.name;
  }
}

TEST_F(line_wait_test, WAIT_3_no_wait_lasts_beyond_the_deadline) {
  for (const wait_policy policy :
       {wait_policy::spin(), wait_policy::hybrid(microseconds(500)), wait_policy()}) {
    for (std::int64_t time : {1, 999, 2100, 2999, 4000, 9000, 34000, 100000}) {
      history_ = wait_history();
      const deadline until = deadline::after(nanoseconds(time));
      system_.on_line_wait = [&](std::uint64_t most) {
        EXPECT_LE(system_.now + most, until.nanoseconds() + 25) << time;
        EXPECT_GT(most, shortest);
        system_.now += most;
      };
      EXPECT_FALSE(wait(policy, until));
      EXPECT_GE(system_.now, until.nanoseconds());
      EXPECT_LE(system_.now, until.nanoseconds() + 1000) << time;
    }
  }
}

TEST_F(line_wait_test, WAIT_3_hybrid_and_spin_wait_so_after_the_polls_and_in_turns_with_looks) {
  for (const wait_policy policy : {wait_policy::spin(), wait_policy::hybrid(microseconds(100))}) {
    const std::uint64_t start = system_.now;
    system_.on_line_wait = [&](std::uint64_t most) {
      EXPECT_GE(system_.now, start + spin_budget);
      EXPECT_LE(most, longest_line_wait) << "a stop on another line is not seen";
      system_.now += most;
    };
    what_.ready_when = [&] { return line_waits() == 5; };
    EXPECT_TRUE(wait(policy));
    EXPECT_EQ(yields(), 0u);
    EXPECT_EQ(system_.now - start < 60000, true);
  }
}

TEST_F(line_wait_test, hybrid_is_not_longer_with_it) {
  const wait_policy policy = wait_policy::hybrid(microseconds(30));
  const std::uint64_t start = system_.now;
  what_.ready_when = [&] { return yields() > 0; };
  EXPECT_TRUE(wait(policy));
  EXPECT_GE(system_.now, start + 30000);
  EXPECT_LE(system_.now, start + 30000 + 2 * one_poll + 500);
}

TEST_F(line_wait_test, wfe_is_used_where_a_poll_is_as_long) {
  system_.shortest_line_wait = 100000;
  what_.ready_when = [&] { return line_waits() == 2; };
  EXPECT_TRUE(wait(wait_policy::hybrid(std::chrono::milliseconds(1))));
  EXPECT_EQ(line_waits(), 2u);
  EXPECT_FALSE(wait(wait_policy::hybrid(microseconds(99)), deadline::after(microseconds(300))));
  EXPECT_EQ(line_waits(), 0u);
}

/// Which words the objects of the library are watched by.
class watched_objects : public spinning_default {
 protected:
  template <class Object>
  bool is_watched_within(const Object& object) const {
    const char* const begin = reinterpret_cast<const char*>(&object);
    return !system_.armed.empty() &&
           std::all_of(system_.armed.begin(), system_.armed.end(), [&](const void* at) {
             const char* const word = static_cast<const char*>(at);
             return word >= begin && word < begin + sizeof(Object);
           });
  }
};

TEST_F(watched_objects, an_event_is_watched_by_its_word) {
  lockstep::auto_reset_event automatic;
  system_.on_line_wait = [&](std::uint64_t) { automatic.notify(); };
  automatic.wait();
  EXPECT_TRUE(is_watched_within(automatic));
  system_.armed.clear();
  system_.line_waits.clear();
  lockstep::manual_reset_event manual;
  system_.on_line_wait = [&](std::uint64_t) { manual.notify(); };
  manual.wait();
  EXPECT_TRUE(is_watched_within(manual));
}

TEST_F(watched_objects, a_barrier_is_watched_by_the_word_of_who_is_late) {
  lockstep::ranked_barrier all(2);
  bool has_come = false;
  system_.on_line_wait = [&](std::uint64_t) {
    if (!has_come) all.arrive(1);
    has_come = true;
  };
  EXPECT_TRUE(all.arrive_and_wait(0));
  EXPECT_TRUE(has_come);
  EXPECT_EQ(yields(), 0u);
  EXPECT_TRUE(all.wait(1));
}

/// A worker that knows when its next region is due.
struct due_region : watched_waitable {};

TEST_F(line_wait_test, an_anticipating_worker_waits_so_in_its_window_but_yields_as_often) {
  constexpr std::uint64_t gap = 100000;
  lockstep::detail::anticipating_wait anticipating;
  anticipating.expect(gap);
  due_region next;
  const std::uint64_t start = system_.now;
  std::uint64_t last_yield = 0;
  system_.on_yield = [&] { last_yield = system_.now; };
  system_.on_line_wait = [&](std::uint64_t most) {
    EXPECT_GE(system_.now, start + lockstep::detail::anticipation::shortest_gap);
    EXPECT_LE(most, 3000u);
    system_.now += most;
    if (last_yield != 0) {
      EXPECT_LE(system_.now - last_yield, 3000u + 2 * one_poll);
    }
  };
  next.ready_when = [&] { return system_.now >= start + gap; };
  anticipating.wait(next, wait_policy(), history_);
  EXPECT_GT(line_waits(), 10u);
  EXPECT_GT(yields(), 10u);
  EXPECT_EQ(next.sleeps, 0u);
  EXPECT_LE(system_.now, start + gap + 3000 + 2 * one_poll);
}

TEST_F(line_wait_test, an_anticipating_worker_falls_asleep_no_later_with_it) {
  const auto falls_asleep_after = [&](std::uint64_t gap, std::uint64_t offered) {
    scripted_system::reset();
    system_.shortest_line_wait = offered;
    lockstep::detail::anticipating_wait anticipating;
    anticipating.expect(gap);
    due_region never;
    const std::uint64_t start = system_.now;
    EXPECT_THROW(anticipating.wait(never, wait_policy(), history_), stranded);
    EXPECT_EQ(system_.armed.empty(), offered == lockstep::detail::no_deadline);
    return system_.now - start;
  };
  for (std::uint64_t gap = 100000; gap < 110000; gap += 500) {
    const std::uint64_t polling = falls_asleep_after(gap, lockstep::detail::no_deadline);
    EXPECT_LE(falls_asleep_after(gap, shortest), polling + 500 + one_poll) << gap;
  }
}

}  // namespace
