// SPDX-License-Identifier: MIT
// tests/fork/locks_test.cpp -- locks that others queue for when their process forks
//
// The pattern of pthread_atfork: the thread that forks holds the lock, and frees it in the child. No thread waits
// there, whatever the object's word says. A child that hangs is ended by its alarm.
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "fault/child_process.hpp"
#include "platform/process_fence.hpp"
#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "wait/parking_lot.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::test::in_child;
using lockstep::test::watched_thread;

/// Threads of the parent that sleep in `body` when the constructor returns.
class sleepers {
 public:
  template <class Body>
  sleepers(std::size_t count, Body body) : watched_(count) {
    for (watched_thread& each : watched_) {
      threads_.emplace_back([&each, body] {
        each.enter();
        body();
      });
      each.wait_until_asleep();
    }
  }
  ~sleepers() {
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::deque<watched_thread> watched_;
  std::vector<std::thread> threads_;
};

/// Two threads that take turns, more often than a lock lets others overtake (4096).
template <class Take, class Give>
int contend(Take take, Give give) {
  constexpr int turns = 10000;
  int held = 0;  // plain: written under the lock
  const auto work = [&] {
    for (int i = 0; i < turns; ++i) {
      take();
      ++held;
      if (i % 100 == 0) std::this_thread::yield();  // the other one queues up
      give();
    }
  };
  std::thread other(work);
  work();
  other.join();
  return held == 2 * turns ? 0 : 1;
}

/// As in_child(), with an alarm for what hangs.
template <class Body>
int in_child_in_time(Body body) {
  return in_child([&] {
    alarm(60);
    return body();
  });
}

class fork_locks : public testing::TestWithParam<wait_policy> {};
INSTANTIATE_TEST_SUITE_P(policies, fork_locks,
                         testing::Values(wait_policy::block(), wait_policy()));

template <class Lock>
void a_lock_that_others_queue_for_works_in_the_child(wait_policy policy) {
  Lock lock(policy);
  lock.lock();
  {
    sleepers all(3, [&] { const std::lock_guard<Lock> guard(lock); });
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(in_child_in_time([&] {
                  lock.unlock();
                  return contend([&] { lock.lock(); }, [&] { lock.unlock(); });
                }),
                0);
    }
    lock.unlock();
  }
  EXPECT_TRUE(lock.try_lock()) << "the parent's is as it was";
  lock.unlock();
}

TEST_P(fork_locks, a_mutex_that_others_queue_for_works_in_the_child) {
  a_lock_that_others_queue_for_works_in_the_child<lockstep::mutex>(GetParam());
}
TEST_P(fork_locks, a_recursive_mutex_that_others_queue_for_works_in_the_child) {
  a_lock_that_others_queue_for_works_in_the_child<lockstep::recursive_mutex>(GetParam());
}
TEST_P(fork_locks, a_shared_mutex_that_writers_queue_for_works_in_the_child) {
  a_lock_that_others_queue_for_works_in_the_child<lockstep::shared_mutex>(GetParam());
}

TEST_P(fork_locks, a_shared_mutex_that_readers_and_writers_queue_for_works_in_the_child) {
  lockstep::shared_mutex lock(GetParam());
  lock.lock_shared();
  {
    sleepers writers(2, [&] { const std::lock_guard<lockstep::shared_mutex> guard(lock); });
    sleepers readers(2, [&] { const std::shared_lock<lockstep::shared_mutex> guard(lock); });
    EXPECT_EQ(in_child_in_time([&] {
                if (!lock.try_lock_shared()) return 2;  // no writer waits here
                lock.unlock_shared();
                lock.unlock_shared();
                return contend([&] { lock.lock(); }, [&] { lock.unlock(); });
              }),
              0);
    lock.unlock_shared();
  }
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST_P(fork_locks, a_semaphore_whose_permits_others_queue_for_works_in_the_child) {
  lockstep::semaphore permits(0, GetParam());
  {
    sleepers all(3, [&] { permits.acquire(); });
    EXPECT_EQ(in_child_in_time([&] {
                permits.release();
                return contend([&] { permits.acquire(); }, [&] { permits.release(); });
              }),
              0);
    permits.release(3);
  }
  EXPECT_FALSE(permits.try_acquire());
}

/// In the child: one waits, the other notifies, in turns; no thread of the parent is counted.
template <class Mutex>
int take_turns(Mutex& lock, lockstep::condition_variable& changed) {
  int turn = 0;  // plain: under the lock
  const auto work = [&](int mine) {
    for (int i = 0; i < 2000; ++i) {
      std::unique_lock<Mutex> guard(lock);
      changed.wait(guard, [&] { return turn == mine; });
      turn = 1 - mine;
      changed.notify_one();
    }
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  return turn;
}

template <class Mutex>
void a_condition_variable_works_in_the_child(wait_policy policy) {
  Mutex lock(policy);
  lockstep::condition_variable changed(policy);
  bool over = false;
  {
    sleepers all(3, [&] {
      std::unique_lock<Mutex> guard(lock);
      changed.wait(guard, [&] { return over; });
    });
    EXPECT_EQ(in_child_in_time([&] { return take_turns(lock, changed); }), 0);
    const std::lock_guard<Mutex> guard(lock);
    EXPECT_EQ(in_child_in_time([&] {
                changed.notify_all();
                lock.unlock();
                return take_turns(lock, changed);
              }),
              0);
    over = true;
    changed.notify_all();
    // They queue for the mutex now, or are woken in a chain.
    EXPECT_EQ(in_child_in_time([&] {
                lock.unlock();
                return take_turns(lock, changed);
              }),
              0);
  }
}

TEST_P(fork_locks, a_condition_variable_that_others_wait_on_works_in_the_child) {
  a_condition_variable_works_in_the_child<lockstep::mutex>(GetParam());
}
TEST_P(fork_locks, a_condition_variable_with_another_lock_works_in_the_child) {
  a_condition_variable_works_in_the_child<lockstep::shared_mutex>(GetParam());
}

TEST_P(fork_locks, a_fork_at_any_moment_of_a_hand_over_leaves_the_child_a_mutex_that_works) {
  lockstep::mutex lock(GetParam());
  std::atomic<bool> over{false};
  std::vector<std::thread> crowd;
  for (int i = 0; i < 6; ++i) {
    crowd.emplace_back([&, i] {
      while (!over) {
        if (i == 0) {
          if (lock.try_lock_for(std::chrono::microseconds(20))) lock.unlock();  // gives up at times
          continue;
        }
        const std::lock_guard<lockstep::mutex> guard(lock);
        if (i % 2 == 0) std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < (lockstep::test::is_brief() ? 12 : 300) && !HasFailure(); ++i) {
    lock.lock();
    EXPECT_EQ(in_child_in_time([&] {
                lock.unlock();
                for (unsigned n = 0; n < lockstep::mutex::bypass_limit + 10; ++n) {
                  if (!lock.try_lock()) return 2;
                  lock.unlock();
                }
                if (i % 8 != 0) return 0;
                // And a sleeper is woken.
                lock.lock();
                sleepers one(1, [&] { const std::lock_guard<lockstep::mutex> guard(lock); });
                lock.unlock();
                return 0;
              }),
              0);
    lock.unlock();
  }
  over = true;
  for (std::thread& each : crowd) each.join();
}

TEST_P(fork_locks, a_fork_while_others_wait_notify_and_time_out_ends_and_its_child_can_notify) {
  lockstep::mutex lock(GetParam());
  lockstep::condition_variable changed(GetParam());
  bool over = false;  // under the lock
  int turn = 0;
  std::vector<std::thread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([&, i] {
      std::unique_lock<lockstep::mutex> guard(lock);
      while (!over) {
        changed.wait_for(guard, std::chrono::microseconds(i % 2 == 0 ? 20 : 100000));
        ++turn;
        changed.notify_all();
      }
    });
  }
  for (int i = 0; i < lockstep::test::effort(100) && !HasFailure(); ++i) {
    EXPECT_EQ(in_child_in_time([&] {
                changed.notify_all();  // the lock may be held by a thread that is not there
                lockstep::mutex own(GetParam());
                return i % 10 == 0 ? take_turns(own, changed) : 0;
              }),
              0);
  }
  {
    const std::lock_guard<lockstep::mutex> guard(lock);
    over = true;
  }
  changed.notify_all();
  for (std::thread& each : crowd) each.join();
}

TEST(fork, PARKING4_waits_for_a_thread_that_changes_a_queue) {
  const lockstep::detail::wait_word word{0};
  std::atomic<bool> is_whole{false};
  watched_thread forks;
  int status = -1;
  std::thread parent;
  {
    using lockstep::detail::queue_key;
    const lockstep::detail::parking_lot::queue waiters(
        queue_key::of(word, lockstep::detail::wait_kind::mutex));
    parent = std::thread([&] {
      forks.enter();
      status = in_child_in_time([&] { return is_whole ? 0 : 1; });
    });
    forks.wait_until_asleep();  // on the queue's lock; without it, until the child has ended
    is_whole = true;
  }
  parent.join();
  EXPECT_EQ(status, 0);
}

TEST(fork, leaves_the_child_the_fence_of_all_its_threads) {
  EXPECT_TRUE(lockstep::detail::native::fence_heavy());
  EXPECT_EQ(in_child([] { return lockstep::detail::native::fence_heavy() ? 0 : 1; }), 0);
}

}  // namespace
