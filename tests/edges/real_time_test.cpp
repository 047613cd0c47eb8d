// SPDX-License-Identifier: MIT
// tests/edges/real_time_test.cpp -- a thread of real-time priority that waits lets ordinary ones run
//
// All threads share one CPU. While a SCHED_FIFO thread does not sleep, no thread of lower priority runs: sched_yield()
// gives it nothing. Skipped where the system does not grant such priorities. The limit on real-time CPU without a sleep
// ends a program that polls, before it disturbs the machine.
#include <thread_synchronizer.h>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <functional>
#include <memory>

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include "support/asleep.hpp"
#include "support/waited.hpp"

namespace {

using lockstep::test::watched_thread;

class one_cpu : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sched_getaffinity(0, sizeof cpus_, &cpus_), 0);
    ASSERT_EQ(getrlimit(RLIMIT_RTTIME, &limit_), 0);
    rlimit sooner = limit_;
    sooner.rlim_cur = 300000;  // microseconds
    if (setrlimit(RLIMIT_RTTIME, &sooner) != 0) GTEST_SKIP() << "no limit on real-time CPU here";
    bool permitted = false;
    std::thread([&] { permitted = become_urgent(); }).join();
    if (!permitted) GTEST_SKIP() << "no right to real-time priority here";
    int first = 0;
    while (!CPU_ISSET(first, &cpus_)) ++first;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);  // threads inherit it
  }
  void TearDown() override {
    sched_setaffinity(0, sizeof cpus_, &cpus_);
    setrlimit(RLIMIT_RTTIME, &limit_);
  }

  /// A thread which is asleep in `body` when this returns.
  static std::thread start_asleep(const std::function<void()>& body, bool urgent) {
    const auto watched = std::make_shared<watched_thread>();
    std::thread thread([body, urgent, watched] {
      if (urgent) become_urgent();
      watched->enter();
      body();
    });
    watched->wait_until_asleep();
    return thread;
  }
  static std::thread urgent(const std::function<void()>& body) { return start_asleep(body, true); }

 private:
  static bool become_urgent() {
    sched_param lowest = {};
    lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
    return sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  }

  cpu_set_t cpus_;
  rlimit limit_;
};

TEST_F(one_cpu, a_notifier_without_a_place_sleeps_until_one_is_given_back) {
  WaitNotifyMultipleNotifiers object(1);
  std::thread first = start_asleep([&] { object.notify(); }, false);
  std::thread second = urgent([&] { object.notify(); });
  std::thread third = urgent([&] { object.notify(); });
  for (int i = 0; i < 3; ++i) object.wait();
  first.join();
  second.join();
  third.join();
}

TEST_F(one_cpu, terminate_releases_notifiers_without_a_place) {
  WaitNotifyNxN object(1);
  std::thread first = start_asleep([&] { object.notify(); }, false);
  std::thread second = urgent([&] { object.notify(); });
  object.terminate();
  first.join();
  second.join();
  EXPECT_TRUE(object.isTerminating());
}

TEST_F(one_cpu, the_default_policy_sleeps_in_every_wait) {
  using all =
      lockstep::test::faces<lockstep::test::face_list, lockstep::test::waited<lockstep::semaphore>>;
  all::for_each({}, [](auto& one) {
    std::thread waiter = urgent([&] { one.wait(); });
    one.notify();
    waiter.join();
  });
  lockstep::mutex mutex;
  lockstep::shared_mutex shared;
  mutex.lock();
  shared.lock();
  std::thread one = urgent([&] { const std::lock_guard<lockstep::mutex> lock(mutex); });
  std::thread other = urgent([&] { const std::lock_guard<lockstep::shared_mutex> lock(shared); });
  mutex.unlock();
  shared.unlock();
  one.join();
  other.join();
}

TEST_F(one_cpu, a_region_of_an_urgent_caller_gets_its_ordinary_members_done) {
  lockstep::team team(3);
  int sum = 0;
  std::thread caller([&] {
    sched_param lowest = {};
    lowest.sched_priority = sched_get_priority_min(SCHED_FIFO);
    sched_setscheduler(0, SCHED_FIFO, &lowest);
    team.run([&](lockstep::member& me) {
      const int all = me.sync_sum(1);
      if (me.rank() == 0) sum = all;
    });
  });
  caller.join();
  EXPECT_EQ(sum, 3);
}

}  // namespace
