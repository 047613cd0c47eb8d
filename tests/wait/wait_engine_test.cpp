// SPDX-License-Identifier: MIT
// tests/wait/wait_engine_test.cpp -- which stage follows which, on the scripted system
#include "wait/wait_engine.hpp"
#include "platform/system.hpp"
#include "wait/member_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "platform/cpus.hpp"
#include "support/policies.hpp"

namespace {

using lockstep::deadline;
using lockstep::wait_policy;
using lockstep::detail::wait_engine;
using lockstep::detail::wait_history;
using lockstep::detail::wait_pulse;
using lockstep::test::call;
using lockstep::test::scripted_system;
using lockstep::test::stranded;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t yield_limit = lockstep::detail::waitable::usual_yield_limit;
constexpr std::uint64_t spin_budget = 2000, long_yield = 2000000;
/// From the end of a spin's budget to the end of the first yield: 16 pauses before the clock is first looked
/// at and 16 after the last look, the looks themselves, and the yield.
constexpr std::uint64_t two_polls_and_a_yield = 2 * 16 * 26 + 4 * 25 + 500;

/// Ready by itself once `ready_when` says so; counts what is done to it.
struct waitable : lockstep::detail::waitable {
  scripted_system& system = scripted_system::instance();
  std::function<bool()> ready_when;
  std::function<void()> on_sleep;
  std::size_t looks = 0;
  std::size_t sleeps = 0, looks_before_sleep = 0, yields_before_sleep = 0;
  std::uint64_t last_until = 0;

  bool ready() override {
    if (++looks > 1000000) throw lockstep::test::stranded("polls for ever");
    return ready_when && ready_when();
  }
  void sleep(std::uint64_t until) override {
    if (++sleeps == 1) {
      looks_before_sleep = looks;
      yields_before_sleep = system.count(call::yield);
    }
    last_until = until;
    if (on_sleep) return on_sleep();
    if (until == lockstep::detail::no_deadline) throw stranded("asleep for ever");
    system.now = std::max(system.now, until);
  }
};

class wait_engine_test : public testing::Test {
 protected:
  wait_engine_test() { lockstep::detail::this_thread_history().woke_at = 0; }
  bool wait(wait_policy policy, deadline until = deadline::never(),
            std::uint64_t yield_time = waitable::shared_yield_time) {
    system_.calls.clear();
    what_.looks = what_.sleeps = 0;
    what_.yield_time = yield_time;
    return wait_engine::wait(what_, policy, history_, until.nanoseconds());
  }
  void is_ready_once_asleep() {
    what_.ready_when = [this] { return what_.sleeps > 0; };
    what_.on_sleep = [] {};
  }
  /// The next wait ends at its first yield; says whether it polled before that.
  bool spins_before_yielding(wait_policy policy) {
    std::size_t looks = 0;
    system_.on_yield = [&] { looks = what_.looks; };
    what_.ready_when = [this] { return system_.count(call::yield) > 0; };
    EXPECT_TRUE(wait(policy));
    system_.on_yield = nullptr;
    return looks > 1;
  }
  bool linger(wait_policy policy, deadline until = deadline::never()) {
    system_.calls.clear();
    what_.looks = what_.sleeps = 0;
    what_.yield_time = waitable::single_yield_time;
    return what_.ready() || wait_engine::wait_slowly(what_, policy, history_, until.nanoseconds(),
                                                     wait_engine::rung::yield);
  }
  std::size_t yields() const { return system_.count(call::yield); }

  scripted_system& system_ = scripted_system::reset();
  wait_history history_;
  waitable what_;
};

class every_policy : public wait_engine_test,
                     public testing::WithParamInterface<lockstep::test::named_policy> {};
class sleeping_policy : public every_policy {};
INSTANTIATE_TEST_SUITE_P(policies, every_policy, testing::ValuesIn(lockstep::test::all_policies()),
                         lockstep::test::policy_name);
INSTANTIATE_TEST_SUITE_P(policies, sleeping_policy,
                         testing::ValuesIn(lockstep::test::crowd_safe_policies()),
                         lockstep::test::policy_name);

TEST_P(every_policy, what_is_ready_at_once_costs_one_look_and_no_call) {
  what_.ready_when = [] { return true; };
  EXPECT_TRUE(wait(GetParam().policy));
  EXPECT_TRUE(wait(GetParam().policy, deadline::after(nanoseconds(0))));
  EXPECT_EQ(what_.looks, 1u);
  EXPECT_TRUE(system_.calls.empty());
}

TEST_P(every_policy, WAIT_1_a_wait_ends_as_ready_in_whatever_look_that_is) {
  what_.on_sleep = [] {};
  for (std::size_t look = 1; look < 300; ++look) {
    history_ = wait_history();
    what_.ready_when = [&] { return what_.looks >= look; };
    ASSERT_TRUE(wait(GetParam().policy));
    ASSERT_EQ(what_.looks, look) << "went on after it was ready";
  }
}

TEST_P(every_policy, WAIT_1_a_wait_that_timed_out_lasted_to_its_deadline_and_was_not_ready) {
  for (std::int64_t time : {1, 100, 1999, 2100, 10000, 34000, 1000000}) {
    history_ = wait_history();
    const deadline until = deadline::after(nanoseconds(time));
    EXPECT_FALSE(wait(GetParam().policy, until));
    EXPECT_GE(system_.now, until.nanoseconds());
    EXPECT_LE(system_.now, until.nanoseconds() + 1000) << "went on after the deadline of " << time;
  }
}

TEST_P(every_policy, WAIT_1_what_is_ready_at_the_deadline_is_no_timeout) {
  for (std::int64_t time : {1, 100, 1999, 2100, 10000, 34000, 1000000}) {
    history_ = wait_history();
    const deadline until = deadline::after(nanoseconds(time));
    what_.ready_when = [&] { return system_.now >= until.nanoseconds(); };
    EXPECT_TRUE(wait(GetParam().policy, until)) << time;
  }
}

TEST_P(every_policy, a_deadline_in_the_past_is_answered_without_a_sleep_and_without_a_yield) {
  EXPECT_FALSE(wait(GetParam().policy, deadline::after(nanoseconds(-5))));
  EXPECT_EQ(what_.sleeps, 0u);
  EXPECT_EQ(yields(), 0u);
}

TEST_P(sleeping_policy, a_wait_that_lasts_sleeps_with_its_deadline) {
  const deadline until = deadline::after(seconds(1));
  EXPECT_FALSE(wait(GetParam().policy, until));
  EXPECT_EQ(what_.sleeps, 1u);
  EXPECT_EQ(what_.last_until, until.nanoseconds());
}

TEST_P(sleeping_policy, WAIT_2_spurious_returns_from_a_sleep_stay_inside) {
  what_.on_sleep = [] {};
  what_.ready_when = [&] { return what_.sleeps == 100; };
  EXPECT_TRUE(wait(GetParam().policy));
  EXPECT_EQ(what_.sleeps, 100u);
}

TEST_P(sleeping_policy, spurious_returns_from_a_sleep_do_not_extend_the_deadline) {
  const deadline until = deadline::after(microseconds(500));
  what_.on_sleep = [&] { system_.now += 1000; };
  EXPECT_FALSE(wait(GetParam().policy, until));
  EXPECT_GE(system_.now, until.nanoseconds());
  EXPECT_LE(system_.now, until.nanoseconds() + 2000);
}

TEST_P(sleeping_policy, a_wait_without_a_deadline_sleeps_without_one) {
  EXPECT_THROW(wait(GetParam().policy), stranded);
  EXPECT_EQ(what_.last_until, lockstep::detail::no_deadline);
}

/// Gives the calling thread a pulse.
struct with_pulse {
  explicit with_pulse(std::function<void()> call,
                      std::chrono::nanoseconds interval = std::chrono::milliseconds(1))
      : call_(call),
        pulse_{[](void* self) { static_cast<with_pulse*>(self)->call_(); }, this, interval} {
    wait_pulse::of_this_thread() = &pulse_;
  }
  ~with_pulse() { wait_pulse::of_this_thread() = nullptr; }
  std::function<void()> call_;
  wait_pulse pulse_;
};

TEST_P(every_policy, WAIT_4_a_pulse_beats_once_an_interval_and_not_in_a_shorter_wait) {
  std::size_t beats = 0;
  const std::uint64_t begin = system_.now;
  const with_pulse pulse([&] { ++beats; });
  what_.ready_when = [&] { return system_.now - begin > 500000; };
  what_.on_sleep = [&] { system_.now += 300000; };
  EXPECT_TRUE(wait(GetParam().policy, deadline::after(seconds(1))));
  EXPECT_EQ(beats, 0u);
  what_.ready_when = [&] { return beats == 7; };
  EXPECT_TRUE(wait(GetParam().policy, deadline::after(seconds(1))));
  EXPECT_GE(system_.now - begin, 7500000u);
}

TEST_P(every_policy, WAIT_4_a_wait_with_a_pulse_keeps_its_deadline) {
  std::size_t beats = 0;
  const with_pulse pulse([&] { ++beats; });
  const deadline until = deadline::after(nanoseconds(3500000));
  EXPECT_FALSE(wait(GetParam().policy, until));
  EXPECT_GE(system_.now, until.nanoseconds());
  EXPECT_EQ(beats, 3u);
}

TEST_P(every_policy, WAIT_4_a_wait_that_a_pulse_begins_has_none) {
  std::size_t beats = 0;
  const with_pulse pulse([&] {
    ++beats;
    waitable other;
    EXPECT_FALSE(wait_engine::wait(other, GetParam().policy, history_,
                                   deadline::after(nanoseconds(5000000)).nanoseconds()));
  });
  what_.ready_when = [&] { return beats == 2; };
  EXPECT_TRUE(wait(GetParam().policy, deadline::after(seconds(1))));
  EXPECT_EQ(beats, 2u);
}

TEST_F(wait_engine_test, spin_makes_no_call_however_long_it_lasts) {
  what_.ready_when = [&] { return what_.looks == 100000; };
  EXPECT_TRUE(wait(wait_policy::spin()));
  EXPECT_TRUE(system_.calls.empty());
  EXPECT_EQ(what_.sleeps, 0u);
}

TEST_F(wait_engine_test, spin_with_a_deadline_looks_at_the_clock_but_neither_yields_nor_sleeps) {
  EXPECT_FALSE(wait(wait_policy::spin(), deadline::after(microseconds(100))));
  EXPECT_EQ(system_.count(call::clock), system_.calls.size());
  EXPECT_EQ(what_.sleeps, 0u);
}

TEST_F(wait_engine_test, block_sleeps_without_polling_yielding_or_asking_the_clock) {
  is_ready_once_asleep();
  EXPECT_TRUE(wait(wait_policy::block()));
  EXPECT_EQ(what_.sleeps, 1u);
  EXPECT_LE(what_.looks_before_sleep, 2u);
  EXPECT_TRUE(system_.calls.empty());
}

TEST_F(wait_engine_test, hybrid_polls_for_its_time_then_yields_64_times_then_sleeps) {
  for (std::uint64_t time : {0u, 1u, 500u, 2000u, 100000u}) {
    system_.on_yield = [&, start = system_.now] {
      if (yields() > 1) return;
      EXPECT_GE(system_.now, start + time) << "gave up polling too early";
      EXPECT_LE(system_.now, start + time + two_polls_and_a_yield) << "polled for too long";
    };
    what_.ready_when = [&] { return what_.sleeps > 0; };
    what_.on_sleep = [] {};
    EXPECT_TRUE(wait(wait_policy::hybrid(nanoseconds(time))));
    EXPECT_EQ(what_.yields_before_sleep, yield_limit);
    EXPECT_EQ(what_.sleeps, 1u);
  }
}

TEST_F(wait_engine_test, hybrid_polls_in_every_wait_however_often_that_failed) {
  const wait_policy policy = wait_policy::hybrid(microseconds(2));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(spins_before_yielding(policy)) << i;
}

TEST_F(wait_engine_test, what_gets_ready_in_a_yield_is_not_slept_for) {
  for (const wait_policy policy : {wait_policy(), wait_policy::hybrid(microseconds(1))}) {
    for (std::size_t last = 1; last <= yield_limit; ++last) {
      what_.ready_when = [&] { return yields() == last; };
      EXPECT_TRUE(wait(policy));
      EXPECT_EQ(what_.sleeps, 0u) << last;
    }
  }
}

TEST_F(wait_engine_test, default_yields_64_times_then_sleeps) {
  is_ready_once_asleep();
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(what_.yields_before_sleep, yield_limit);
  EXPECT_EQ(what_.sleeps, 1u);
}

TEST_F(wait_engine_test, default_when_crowded_never_polls) {
  const wait_policy crowded = wait_policy().when_crowded(true);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(spins_before_yielding(crowded)) << i;
}

TEST_F(wait_engine_test,
       a_crowd_sure_of_its_yields_measures_one_wait_in_8_and_finds_a_stranger_in_that) {
  const wait_policy crowded = wait_policy().when_crowded(true);
  what_.on_sleep = [] {};
  what_.ready_when = [&] { return yields() + what_.sleeps > 0; };
  const auto looks_at_clock = [&] {
    EXPECT_TRUE(wait(crowded));
    return system_.count(call::clock) > 0;
  };
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(looks_at_clock()) << i;
  for (int i = 1; i <= 80; ++i) EXPECT_EQ(looks_at_clock(), i % 8 == 0) << i;
  system_.yield_cost = long_yield + 1;
  for (int i = 1; i <= 8; ++i) EXPECT_EQ(looks_at_clock(), i == 8) << i;
  EXPECT_TRUE(wait(crowded));
  EXPECT_EQ(what_.sleeps, 1u) << "it was a stranger who had the CPU";
  EXPECT_EQ(yields(), 0u);
}

TEST_F(wait_engine_test, a_crowd_sure_of_its_yields_keeps_to_its_deadline) {
  const wait_policy crowded = wait_policy().when_crowded(true);
  what_.ready_when = [&] { return yields() > 0; };
  for (int i = 0; i < 17; ++i) EXPECT_TRUE(wait(crowded));
  what_.ready_when = nullptr;
  const deadline until = deadline::after(microseconds(10));
  EXPECT_FALSE(wait(crowded, until));
  EXPECT_GE(system_.now, until.nanoseconds());
}

/// The default policy polls only where another CPU can make ready what it polls for.
TEST_F(wait_engine_test, hybrid_polls_for_its_time_but_not_when_crowded) {
  const wait_policy hybrid = wait_policy::hybrid(microseconds(5));
  EXPECT_TRUE(spins_before_yielding(hybrid));
  EXPECT_FALSE(spins_before_yielding(hybrid.when_crowded(true)));
}

class uncrowded_default : public wait_engine_test {
 protected:
  void SetUp() override {
    if (lockstep::detail::usable_cpus() < 2) GTEST_SKIP() << "needs two CPUs";
  }
  void fail_to_spin(int times) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(spins_before_yielding(wait_policy())) << i;
  }
  /// A wait that is ready at the second poll; says whether there was such a poll.
  bool spins_with_success() {
    what_.ready_when = [&] { return what_.looks == 3 || yields() > 0; };
    EXPECT_TRUE(wait(wait_policy()));
    return yields() == 0;
  }
};

TEST_F(uncrowded_default, polls_for_two_microseconds_before_it_yields) {
  const std::uint64_t start = system_.now;
  system_.on_yield = [&] {
    EXPECT_GE(system_.now, start + spin_budget);
    EXPECT_LE(system_.now, start + spin_budget + two_polls_and_a_yield);
  };
  what_.ready_when = [&] { return yields() > 0; };
  EXPECT_TRUE(wait(wait_policy()));
}

TEST_F(uncrowded_default, polls_for_200_microseconds_in_regions_of_more_than_8_members) {
  for (const std::size_t members : {std::size_t{2}, std::size_t{8}, std::size_t{9}}) {
    history_ = {};
    system_.calls.clear();
    const std::uint64_t budget = members > 8 ? 200000 : spin_budget, start = system_.now;
    system_.on_yield = [&] {
      EXPECT_GE(system_.now, start + budget) << members;
      EXPECT_LE(system_.now, start + budget + two_polls_and_a_yield) << members;
    };
    what_.ready_when = [&] { return yields() > 0; };
    EXPECT_TRUE(wait(wait_engine::for_region(wait_policy(), members)));
  }
  for (const wait_policy other :
       {wait_policy().when_crowded(true), wait_policy::spin(), wait_policy::block(),
        wait_policy::hybrid(microseconds(0)), wait_policy::hybrid(microseconds(3))}) {
    EXPECT_EQ(wait_engine::for_region(other, 9), other);
  }
}

TEST_F(uncrowded_default, gives_up_polling_after_4_failures_and_probes_once_an_interval) {
  fail_to_spin(4);
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < 64; ++i) {
      EXPECT_FALSE(spins_before_yielding(wait_policy())) << round << ", " << i;
    }
    EXPECT_TRUE(spins_before_yielding(wait_policy())) << "no probe in round " << round;
  }
}

TEST_F(uncrowded_default, polls_again_after_a_probe_that_succeeded) {
  fail_to_spin(4);
  for (int i = 1; i < 64; ++i) EXPECT_FALSE(spins_with_success()) << i;
  EXPECT_TRUE(spins_with_success()) << "the probe";
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(spins_with_success()) << i;
}

TEST_F(uncrowded_default, keeps_polling_while_successes_and_failures_alternate) {
  for (int i = 0; i < 100; ++i) {
    fail_to_spin(2);
    EXPECT_TRUE(spins_with_success()) << i;
  }
}

TEST(wait_engine_on_one_cpu, default_never_polls) {
  // In a process of its own, because usable_cpus() is asked once.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        lockstep::detail::pin_this_thread(lockstep::detail::affinity().front());
        scripted_system& system = scripted_system::reset();
        waitable what;
        std::size_t looks_before_yield = 0;
        system.on_yield = [&] { looks_before_yield = what.looks; };
        what.ready_when = [&] { return system.count(call::yield) > 0; };
        wait_history history;
        wait_engine::wait(what, wait_policy(), history);
        std::exit(static_cast<int>(looks_before_yield));
      },
      testing::ExitedWithCode(1), "");
}

TEST_F(wait_engine_test, a_yield_to_a_stranger_ends_in_a_sleep_and_later_waits_do_not_yield) {
  is_ready_once_asleep();
  system_.yield_cost = long_yield + 1;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(what_.yields_before_sleep, 1u);
  EXPECT_EQ(what_.sleeps, 1u);
  for (int round = 0; round < 3; ++round) {
    for (int i = 1; i < 64; ++i) {
      EXPECT_TRUE(wait(wait_policy()));
      EXPECT_EQ(yields(), 0u) << round << ", " << i;
    }
    EXPECT_TRUE(wait(wait_policy()) && yields() == 1) << "no probe in round " << round;
  }
}

TEST_F(wait_engine_test, a_yield_to_a_stranger_ends_in_a_sleep_however_long_yields_may_take) {
  is_ready_once_asleep();
  system_.yield_cost = long_yield + 1;
  EXPECT_TRUE(wait(wait_policy(), deadline::never(), 100 * long_yield));
  EXPECT_EQ(yields(), 1u);
}

TEST_F(wait_engine_test, a_yield_to_a_stranger_during_hybrid_ends_in_a_sleep) {
  is_ready_once_asleep();
  system_.yield_cost = long_yield + 1;
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(wait(wait_policy::hybrid(microseconds(1))));
    EXPECT_EQ(yields(), 1u) << "hybrid does not learn";
  }
}

TEST_F(wait_engine_test, yields_end_in_a_sleep_after_the_time_that_the_object_gives_them) {
  is_ready_once_asleep();
  system_.yield_cost = 10000;
  for (const wait_policy policy : {wait_policy(), wait_policy::hybrid(microseconds(1))}) {
    for (const std::uint64_t time : {waitable::single_yield_time, waitable::shared_yield_time}) {
      history_ = wait_history();
      EXPECT_TRUE(wait(policy, deadline::never(), time));
      EXPECT_EQ(yields(), time / system_.yield_cost);
      EXPECT_EQ(what_.sleeps, 1u);
    }
  }
}

TEST_F(wait_engine_test, yields_that_take_no_longer_than_that_are_all_tried) {
  is_ready_once_asleep();
  system_.yield_cost = waitable::shared_yield_time / yield_limit - system_.clock_cost;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(yields(), yield_limit);
}

TEST_F(wait_engine_test, without_a_limit_of_yields_their_time_is_the_limit) {
  is_ready_once_asleep();
  what_.yield_limit = waitable::no_yield_limit;
  system_.yield_cost = 1000 - system_.clock_cost;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(yields(), waitable::shared_yield_time / 1000 + 1);
  EXPECT_EQ(what_.sleeps, 1u);
}

TEST_F(wait_engine_test, who_has_woken_another_yields_for_two_milliseconds_until_that_one_comes) {
  is_ready_once_asleep();
  system_.yield_cost = 1000 - system_.clock_cost;
  std::uint64_t& woke_at = lockstep::detail::this_thread_history().woke_at;
  woke_at = system_.now;
  EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(yields(), long_yield / 1000 + 1);
  EXPECT_TRUE(wait(wait_policy())) << "2 ms later";
  EXPECT_EQ(yields(), yield_limit);
  woke_at = system_.now;
  what_.yield_limit = waitable::no_yield_limit;
  EXPECT_TRUE(wait(wait_policy(), deadline::never(), waitable::single_yield_time));
  EXPECT_EQ(yields(), waitable::single_yield_time / 1000 + 1) << "a wait with a time of its own";
}

TEST(wait_rungs_test, only_a_wait_that_yields_for_long_has_a_limit_of_yields) {
  struct never final : lockstep::detail::waitable {
    explicit never(std::uint64_t most) : lockstep::detail::waitable({}, most) {}
    bool ready() override { return false; }
  };
  EXPECT_EQ(never(never::shared_yield_time).yield_limit, unsigned{never::usual_yield_limit});
  EXPECT_EQ(never(never::single_yield_time).yield_limit, unsigned{never::no_yield_limit});
}

TEST_F(wait_engine_test, yields_that_took_their_time_are_tried_again_in_every_wait) {
  is_ready_once_asleep();
  system_.yield_cost = waitable::shared_yield_time + 1;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(wait(wait_policy()));
    EXPECT_EQ(yields(), 1u) << i;
  }
}

TEST_F(wait_engine_test, a_yield_of_just_the_limit_does_not_count_as_a_stranger) {
  is_ready_once_asleep();
  system_.yield_cost = long_yield - system_.clock_cost;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(wait(wait_policy()));
  EXPECT_EQ(yields(), 1u) << "one such yield must not stop those of the next wait";
}

TEST_P(every_policy, lingering_never_sleeps_and_ends_by_itself) {
  EXPECT_FALSE(linger(GetParam().policy));
  EXPECT_EQ(what_.sleeps, 0u);
  EXPECT_LE(yields(), yield_limit);
}

TEST_P(every_policy, lingering_ends_as_ready_in_whatever_look_that_is) {
  EXPECT_FALSE(linger(GetParam().policy));
  const std::size_t all = what_.looks;
  for (std::size_t look = 1; look <= all; ++look) {
    history_ = wait_history();
    what_.ready_when = [&] { return what_.looks >= look; };
    ASSERT_TRUE(linger(GetParam().policy));
    ASSERT_EQ(what_.looks, look) << "went on after it was ready";
  }
}

TEST_P(every_policy, lingering_ends_at_its_deadline) {
  const deadline until = deadline::after(nanoseconds(500));
  EXPECT_FALSE(linger(GetParam().policy, until));
  EXPECT_LE(system_.now, until.nanoseconds() + 1000);
}

TEST_F(wait_engine_test, lingering_with_block_looks_once_and_with_spin_makes_no_yield) {
  EXPECT_FALSE(linger(wait_policy::block()));
  EXPECT_EQ(what_.looks, 1u);
  EXPECT_TRUE(system_.calls.empty());
  EXPECT_FALSE(linger(wait_policy::spin()));
  EXPECT_GT(what_.looks, 1u);
  EXPECT_EQ(yields(), 0u);
}

TEST_F(wait_engine_test, a_long_yield_in_which_it_got_ready_ends_the_wait_but_not_the_next_ones) {
  system_.yield_cost = long_yield + 1;
  what_.on_sleep = [] {};
  what_.ready_when = [&] { return yields() + what_.sleeps > 0; };
  EXPECT_TRUE(wait(wait_policy().when_crowded(true)));
  EXPECT_EQ(what_.sleeps, 0u);
  EXPECT_TRUE(wait(wait_policy().when_crowded(true)));
  EXPECT_EQ(what_.sleeps, 1u) << "it was a stranger who had the CPU all the same";
}

/// Awaited by the caller of a crowd.
struct awaited_by_caller : waitable {
  lockstep::detail::round_pace pace;
  lockstep::detail::round_pace* rounds() noexcept override { return &pace; }
};

TEST(wait_engine, the_caller_of_a_crowd_polls_after_a_yield_for_as_long_as_it_took) {
  scripted_system& system = scripted_system::reset();
  system.yield_cost = 10000;
  awaited_by_caller what;
  wait_history history;
  const auto yields_until = [&](std::uint64_t time) {
    const std::uint64_t end = system.now + time;
    system.calls.clear();
    what.ready_when = [&system, end] { return system.now >= end; };
    EXPECT_TRUE(wait_engine::wait(what, wait_policy().when_crowded(true), history));
    EXPECT_LE(system.now, end + system.yield_cost);
    return system.count(call::yield);
  };
  for (int i = 0; i < 100; ++i) {
    what.pace.announced();
    ASSERT_EQ(yields_until(5000), 1u);
    ASSERT_EQ(yields_until(5000), 0u) << "the next one comes while it polls";
    what.pace.announced();
    ASSERT_EQ(yields_until(25000), 2u);
  }
}

/// Says where the thread is that makes it ready.
struct placed_waitable : waitable {
  bool elsewhere = true;
  std::size_t asked = 0;
  bool is_separated() noexcept override {
    ++asked;
    return elsewhere;
  }
};

TEST(wait_engine,
     where_yields_go_to_strangers_who_waits_for_another_cpu_never_probes_within_50_us) {
  for (const bool elsewhere : {true, false}) {
    scripted_system& system = scripted_system::reset();
    wait_history history;
    history.yielding.failed_badly();
    for (int i = 0; i < 200; ++i) {
      placed_waitable what;
      what.elsewhere = elsewhere;
      const std::uint64_t due = system.now + 20000;
      what.ready_when = [&system, due] { return system.now >= due; };
      what.on_sleep = [&] { system.now = due; };
      ASSERT_TRUE(wait_engine::wait(what, wait_policy(), history));
    }
    EXPECT_EQ(system.count(call::yield) == 0, elsewhere);
  }
}

TEST(wait_engine, where_yields_go_to_strangers_who_waits_for_another_cpu_polls_before_it_sleeps) {
  for (const bool elsewhere : {true, false}) {
    scripted_system& system = scripted_system::reset();
    wait_history history;
    history.yielding.failed_badly();
    placed_waitable what;
    what.elsewhere = elsewhere;
    const std::uint64_t begin = system.now;
    std::uint64_t polled = 0;
    what.on_sleep = [&] {
      polled = system.now - begin;
      what.ready_when = [] { return true; };
    };
    EXPECT_TRUE(wait_engine::wait(what, wait_policy(), history));
    EXPECT_EQ(what.asked, 1u);
    EXPECT_EQ(system.count(call::yield), 0u);
    EXPECT_GE(polled, spin_budget);
    EXPECT_EQ(polled >= 50000, elsewhere) << polled;
  }
}

TEST(wait_engine, who_is_crowded_or_ready_while_it_spins_is_not_asked_for_its_cpu) {
  scripted_system& system = scripted_system::reset();
  wait_history history;
  placed_waitable what;
  const std::uint64_t begin = system.now;
  what.ready_when = [&] { return system.now > begin + 1000; };
  EXPECT_TRUE(wait_engine::wait(what, wait_policy(), history));
  EXPECT_TRUE(wait_engine::wait(what, wait_policy().when_crowded(true), history));
  EXPECT_EQ(what.asked, 0u);
}

}  // namespace
