// SPDX-License-Identifier: MIT
#include <thread_synchronizer.h>

#include <gtest/gtest.h>

#include <functional>

#include "compat/threads.hpp"

namespace {

using compat_test::counter;
using compat_test::crew;
using compat_test::let_others_run;
using compat_test::two_buffers;
using std::size_t;

// The classes behind one face: `participants` is the number on the side that may have several.
struct one_to_one {
  explicit one_to_one(int) {}
  static int notifiers(int) { return 1; }
  static int waiters(int) { return 1; }
  void wait(int) { object.wait(); }
  WaitNotifySingle object;
};
struct one_to_many {
  explicit one_to_many(int participants) : object(participants) {}
  static int notifiers(int) { return 1; }
  static int waiters(int participants) { return participants; }
  void wait(int id) { object.wait(id); }
  WaitNotifyMultipleWaiters object;
};
struct many_to_one {
  explicit many_to_one(int participants) : object(participants) {}
  static int notifiers(int participants) { return participants; }
  static int waiters(int) { return 1; }
  void wait(int) { object.wait(); }
  WaitNotifyMultipleNotifiers object;
};
struct many_to_many {
  explicit many_to_many(int participants) : object(participants) {}
  static int notifiers(int participants) { return participants; }
  static int waiters(int participants) { return participants; }
  void wait(int id) { object.wait(id); }
  WaitNotifyNxN object;
};

constexpr int phases = 100;

template <class Class>
class handshake : public testing::Test {
 protected:
  /// 8 participants are more than the CPUs of most machines that run the tests.
  static void for_each_count(const std::function<void(int)>& test) {
    for (const int count : {1, 2, 3, 8}) {
      SCOPED_TRACE(testing::Message() << count << " participants");
      test(count);
    }
  }
};
using handshake_classes = testing::Types<one_to_one, one_to_many, many_to_one, many_to_many>;
TYPED_TEST_SUITE(handshake, handshake_classes);

// COMPAT-2 towards the waiter, and COMPAT-1: the third write goes to the buffer of the first. The notifier may
// do that only because its second notify() returns when all waiters are done with the first.
TYPED_TEST(handshake, each_wait_sees_its_phase_of_all_notifiers_in_two_plain_buffers) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    two_buffers written(TypeParam::notifiers(count));
    crew threads;
    threads.start(TypeParam::notifiers(count), [&](int id) {
      for (int phase = 1; phase <= phases; ++phase) {
        written.write(id, phase);
        gate.object.notify();
      }
    });
    threads.start(TypeParam::waiters(count), [&](int id) {
      // No ASSERT: a thread that left the loop would strand the others.
      bool all = true;
      for (int phase = 1; phase <= phases; ++phase) {
        gate.wait(id);
        all = all && written.all_hold(phase);
      }
      EXPECT_TRUE(all);
    });
  });
}

// COMPAT-1 and COMPAT-2 towards the notifier.
TYPED_TEST(handshake, each_notify_returns_after_all_waiters_have_come) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    two_buffers come(TypeParam::waiters(count));
    crew threads;
    threads.start(TypeParam::notifiers(count), [&](int) {
      bool all = true;
      for (int phase = 1; phase <= phases; ++phase) {
        gate.object.notify();
        all = all && come.all_hold(phase);
      }
      EXPECT_TRUE(all);
    });
    let_others_run();
    threads.start(TypeParam::waiters(count), [&](int id) {
      for (int phase = 1; phase <= phases; ++phase) {
        come.write(id, phase);
        gate.wait(id);
      }
    });
  });
}

TYPED_TEST(handshake, a_second_notify_waits_until_the_last_waiter_has_taken_the_first) {
  this->for_each_count([](int count) {
    constexpr int rounds = 5;
    const int notifiers = TypeParam::notifiers(count);
    const int waiters = TypeParam::waiters(count);
    TypeParam gate(count);
    counter returned;
    std::vector<counter> allowed(static_cast<size_t>(waiters));
    crew threads;
    threads.start(notifiers, [&](int) {
      for (int phase = 1; phase <= rounds; ++phase) {
        gate.object.notify();
        returned.add_one();
      }
    });
    threads.start(waiters, [&](int id) {
      for (int phase = 1; phase <= rounds; ++phase) {
        allowed[static_cast<size_t>(id)].wait_for(phase);
        gate.wait(id);
      }
    });
    for (int phase = 1; phase <= rounds; ++phase) {
      for (auto& permission : allowed) {
        let_others_run();
        EXPECT_EQ(returned.value(), notifiers * (phase - 1));
        permission.add_one();
      }
      returned.wait_for(notifiers * phase);
    }
  });
}

TYPED_TEST(handshake, terminate_releases_notifiers_that_no_waiter_comes_for) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    counter returned;
    crew threads;
    threads.start(TypeParam::notifiers(count), [&](int) {
      gate.object.notify();
      EXPECT_TRUE(gate.object.isTerminating());
      returned.add_one();
    });
    let_others_run();
    EXPECT_EQ(returned.value(), 0);
    EXPECT_FALSE(gate.object.isTerminating());
    gate.object.terminate();
    threads.join();
    EXPECT_EQ(returned.value(), TypeParam::notifiers(count));
  });
}

TYPED_TEST(handshake, terminate_releases_waiters_that_nobody_notifies) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    counter returned;
    crew threads;
    threads.start(TypeParam::waiters(count), [&](int id) {
      gate.wait(id);
      EXPECT_TRUE(gate.object.isTerminating());
      returned.add_one();
    });
    let_others_run();
    EXPECT_EQ(returned.value(), 0);
    gate.object.terminate();
    threads.join();
    EXPECT_EQ(returned.value(), TypeParam::waiters(count));
  });
}

TYPED_TEST(handshake, after_terminate_every_call_returns_at_once) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    gate.object.terminate();
    gate.object.terminate();
    EXPECT_TRUE(gate.object.isTerminating());
    for (int repeat = 0; repeat < 3; ++repeat) {
      gate.object.notify();
      for (int id = 0; id < TypeParam::waiters(count); ++id) gate.wait(id);
    }
  });
}

TYPED_TEST(handshake, terminate_ends_any_traffic) {
  this->for_each_count([](int count) {
    for (int repeat = 0; repeat < 30; ++repeat) {
      TypeParam gate(count);
      counter notified;
      crew threads;
      threads.start(TypeParam::notifiers(count), [&](int) {
        while (!gate.object.isTerminating()) {
          gate.object.notify();
          notified.add_one();
        }
      });
      threads.start(TypeParam::waiters(count), [&](int id) {
        while (!gate.object.isTerminating()) gate.wait(id);
      });
      notified.wait_for(repeat % 5);
      gate.object.terminate();
    }
  });
}

template <class Class>
class many_notifiers : public handshake<Class> {};
using many_notifier_classes = testing::Types<many_to_one, many_to_many>;
TYPED_TEST_SUITE(many_notifiers, many_notifier_classes);

// COMPAT-4. With the original the second call of a fast thread ends the phase without the slow one.
TYPED_TEST(many_notifiers, a_fast_notifier_does_not_stand_in_for_a_slow_one) {
  for (const int count : {2, 3, 8}) {
    TypeParam gate(count);
    int slow_work = 0;
    counter slow_may_go;
    counter returned;
    crew threads;
    threads.start(TypeParam::waiters(count), [&](int id) {
      gate.wait(id);
      EXPECT_EQ(slow_work, 1);
      gate.wait(id);
      EXPECT_EQ(slow_work, 1);
    });
    threads.start(count - 1, [&](int) {
      gate.object.notify();
      returned.add_one();
      gate.object.notify();
      returned.add_one();
    });
    threads.start(1, [&](int) {
      slow_may_go.wait_for(1);
      slow_work = 1;
      gate.object.notify();
      gate.object.notify();
    });
    returned.wait_for(count - 1);
    let_others_run();
    EXPECT_EQ(returned.value(), count - 1) << "a second notify() returned in the first phase";
    slow_may_go.add_one();
  }
}

// COMPAT-4. Threads that end may leave their std::thread::id to the next one of the same phase.
TYPED_TEST(many_notifiers, the_threads_of_a_phase_may_be_new_and_may_follow_each_other) {
  this->for_each_count([](int count) {
    constexpr int rounds = 20;
    TypeParam gate(count);
    two_buffers written(count);
    crew waiters;
    waiters.start(TypeParam::waiters(count), [&](int id) {
      bool all = true;
      for (int phase = 1; phase <= rounds; ++phase) {
        gate.wait(id);
        all = all && written.all_hold(phase);
      }
      EXPECT_TRUE(all);
    });
    for (int phase = 1; phase <= rounds; ++phase) {
      const bool together = phase % 2 == 0;
      crew notifiers;
      for (int id = 0; id < count; ++id) {
        notifiers.start(1, [&written, &gate, id, phase](int) {
          written.write(id, phase);
          gate.object.notify();
        });
        if (!together) notifiers.join();
      }
    }
  });
}

TYPED_TEST(many_notifiers, more_threads_than_places_take_turns) {
  this->for_each_count([](int count) {
    TypeParam gate(count);
    counter notified;
    crew waiters;
    crew notifiers;
    notifiers.start(2 * count + 1, [&](int) {
      while (true) {
        gate.object.notify();
        if (gate.object.isTerminating()) break;
        notified.add_one();
      }
    });
    waiters.start(TypeParam::waiters(count), [&](int id) {
      for (int phase = 1; phase <= phases; ++phase) gate.wait(id);
    });
    waiters.join();
    gate.object.terminate();
    notifiers.join();
    // Each thread may have been late with its last count.
    EXPECT_GE(notified.value(), count * phases - (2 * count + 1));
    EXPECT_LE(notified.value(), count * phases);
  });
}

class sync_threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(counts, sync_threads, testing::Values(1, 2, 3, 8, 16));

TEST_P(sync_threads, everyone_sees_what_all_wrote_before) {
  const int count = GetParam();
  WaitNotifyEachOther group(count);
  two_buffers written(count);
  crew threads;
  threads.start(count, [&](int id) {
    bool all = true;
    for (int phase = 1; phase <= phases; ++phase) {
      written.write(id, phase);
      group.syncThreads(id);
      all = all && written.all_hold(phase);
    }
    EXPECT_TRUE(all);
  });
}

TEST_P(sync_threads, terminate_releases_all_who_wait_for_the_last) {
  const int count = GetParam();
  WaitNotifyEachOther group(count);
  counter returned;
  crew threads;
  threads.start(count - 1, [&](int id) {
    group.syncThreads(id);
    EXPECT_TRUE(group.isTerminating());
    returned.add_one();
  });
  let_others_run();
  EXPECT_EQ(returned.value(), 0);
  group.terminate();
  threads.join();
  EXPECT_EQ(returned.value(), count - 1);
  for (int repeat = 0; repeat < 3; ++repeat) group.syncThreads(count - 1);
}

}  // namespace
