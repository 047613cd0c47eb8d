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
#include <string>
#include <vector>

#include "fault/workloads.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"
#include "support/waited.hpp"

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

std::vector<timed_wait> all_timed_waits(wait_policy policy) {
  using namespace lockstep;
  using test::waited;
  std::vector<timed_wait> all = {on_held<mutex>("mutex", policy),
                                 on_held<recursive_mutex>("recursive_mutex", policy),
                                 on_held<shared_mutex>("shared_mutex", policy)};
  test::faces<test::face_list, waited<semaphore>, waited<condition_variable>,
              waited<joinable_thread>>::for_each_type([&](auto type) {
    using face = typename decltype(type)::type;
    all.push_back({face::name, [policy](std::chrono::nanoseconds time) {
                     return face(policy).wait_for(time) == wait_status::timed_out;
                   }});
  });
  return all;
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
