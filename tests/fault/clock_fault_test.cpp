// SPDX-License-Identifier: MIT
// tests/fault/clock_fault_test.cpp -- clocks that are coarse, stand still, or jump by hours
//
// On faulty_system.hpp: the clock of all deadlines is the test's.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fault/workloads.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::wait_status;
using lockstep::test::faulty_system;
using clock_kind = faulty_system::clock_kind;

/// Waits on each class for something that does not happen.
struct timed_wait {
  const char* name;
  std::function<bool(std::chrono::nanoseconds)> times_out;
};

/// An object on which nothing happens, kept with the wait on it.
template <class Object, class... Arguments>
timed_wait on(const char* name, Arguments... arguments) {
  const auto object = std::make_shared<Object>(arguments...);
  return {name, [object](std::chrono::nanoseconds time) {
            return object->wait_for(time) == wait_status::timed_out;
          }};
}

template <class Object, class... Arguments>
timed_wait on_rank_0_of(const char* name, Arguments... arguments) {
  const auto object = std::make_shared<Object>(arguments...);
  return {name, [object](std::chrono::nanoseconds time) {
            return object->wait_for(0, time) == wait_status::timed_out;
          }};
}

/// A timed wait for a lock that the caller of this function holds: another thread waits.
template <class Lock>
timed_wait on_held(const char* name, wait_policy policy) {
  const auto lock = std::make_shared<Lock>(policy);
  return {name, [lock](std::chrono::nanoseconds time) {
            bool taken = false;
            lock->lock();
            lockstep::test::run_threads(1, [&](unsigned) { taken = lock->try_lock_for(time); });
            lock->unlock();
            return !taken;
          }};
}

timed_wait on_condition(wait_policy policy) {
  return {"condition_variable", [policy](std::chrono::nanoseconds time) {
            lockstep::mutex mutex(policy);
            lockstep::condition_variable never(policy);
            std::unique_lock<lockstep::mutex> lock(mutex);
            return never.wait_for(lock, time) == std::cv_status::timeout;
          }};
}

timed_wait on_semaphore(wait_policy policy) {
  return {"semaphore", [policy](std::chrono::nanoseconds time) {
            lockstep::semaphore none(0, policy);
            return !none.try_acquire_for(time);
          }};
}

timed_wait on_mailbox(wait_policy policy) {
  return {"mailbox", [policy](std::chrono::nanoseconds time) {
            lockstep::mailbox empty(2, policy);
            return empty.wait_and_run_for(time) == wait_status::timed_out;
          }};
}

timed_wait on_thread(wait_policy policy) {
  return {"joinable_thread", [policy](std::chrono::nanoseconds time) {
            lockstep::event end;
            lockstep::joinable_thread busy(policy, [&] { end.wait(); });
            const bool timed_out = busy.join_for(time) == wait_status::timed_out;
            end.notify();
            return timed_out;
          }};
}

timed_wait on_barrier(wait_policy policy) {
  return {"ranked_barrier", [policy](std::chrono::nanoseconds time) {
            lockstep::ranked_barrier two(2, policy);
            two.arrive(0);
            return two.wait_for(0, time) == wait_status::timed_out;
          }};
}

timed_wait on_counted_barrier(wait_policy policy) {
  return {"barrier", [policy](std::chrono::nanoseconds time) {
            lockstep::barrier<> two(2, {}, policy);
            return two.wait_for(two.arrive(), time) == wait_status::timed_out;
          }};
}

std::vector<timed_wait> all_timed_waits(wait_policy policy) {
  using namespace lockstep;
  const std::size_t two = 2;
  return {on<event>("event", policy),
          on<latch>("latch", 1, policy),
          on<manual_reset_event>("manual_reset_event", policy),
          on<auto_reset_event>("auto_reset_event", policy),
          on<eventual<int>>("eventual", policy),
          on<future_set<int>>("future_set", two, nullptr, policy),
          on<fan_in>("fan_in", two, policy),
          on_rank_0_of<fan_out>("fan_out", two, policy),
          on_rank_0_of<fan_in_out>("fan_in_out", two, two, policy),
          on_barrier(policy),
          on_counted_barrier(policy),
          on_held<mutex>("mutex", policy),
          on_held<recursive_mutex>("recursive_mutex", policy),
          on_held<shared_mutex>("shared_mutex", policy),
          on_semaphore(policy),
          on_condition(policy),
          on_mailbox(policy),
          on_thread(policy)};
}

struct named_clock {
  const char* name;
  clock_kind kind;

  friend std::ostream& operator<<(std::ostream& out, const named_clock& self) {
    return out << self.name;
  }
};

class clock_fault : public testing::TestWithParam<named_clock> {
 protected:
  clock_fault() {
    faulty_system::reset();
    faulty_system::clock = GetParam().kind;
  }
  ~clock_fault() override { faulty_system::reset(); }

  /// Every wait must time out, and not before its time by the faulty clock.
  static void expect_time_outs(std::chrono::nanoseconds time) {
    for (const auto& named : lockstep::test::all_policies()) {
      for (const timed_wait& each : all_timed_waits(named.policy)) {
        SCOPED_TRACE(std::string(each.name) + " " + named.name);
        const std::uint64_t start = faulty_system::now();
        EXPECT_TRUE(each.times_out(time));
        EXPECT_GE(faulty_system::now() - start, static_cast<std::uint64_t>(time.count()));
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(clocks, clock_fault,
                         testing::Values(named_clock{"native", clock_kind::native},
                                         named_clock{"coarse", clock_kind::coarse},
                                         named_clock{"standing", clock_kind::standing},
                                         named_clock{"jumping", clock_kind::jumping}),
                         testing::PrintToStringParamName());

TEST_P(clock_fault, a_wait_with_a_deadline_ends_and_not_before_it) {
  for (const int microseconds : {0, 50, 1500}) {
    expect_time_outs(std::chrono::microseconds(microseconds));
  }
}

TEST_P(clock_fault, a_wait_with_a_deadline_does_not_end_early_on_a_bad_futex_either) {
  faulty_system::futex_fails = true;
  expect_time_outs(std::chrono::microseconds(300));
}

class clock_that_jumps : public clock_fault {};
INSTANTIATE_TEST_SUITE_P(clocks, clock_that_jumps,
                         testing::Values(named_clock{"jumping", clock_kind::jumping}),
                         testing::PrintToStringParamName());

TEST_P(clock_that_jumps, ends_a_wait_whose_deadline_it_jumps_over) {
  expect_time_outs(std::chrono::hours(5));
  EXPECT_GT(faulty_system::jumps, 100);
}

TEST_P(clock_fault, nothing_is_lost_and_no_wait_without_a_deadline_ends_early) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    // A time to spin, however short, lasts until the clock moves. So hybrid gets no crowd.
    const std::size_t threads = named.policy.is_hybrid() ? 2 : 4;
    for (const auto& each : lockstep::test::all_workloads()) {
      SCOPED_TRACE(std::string(each.name) + " " + named.name);
      EXPECT_EQ(each.run({named.policy, threads, 40, {}}), 0);
    }
  }
}

}  // namespace
