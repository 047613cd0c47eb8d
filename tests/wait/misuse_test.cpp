// SPDX-License-Identifier: MIT
// tests/wait/misuse_test.cpp -- each misuse ends the program and says which object and which threads
//
// Objects that are destroyed while a thread waits are in edges/object_misuse_test.cpp.
// Built with LOCKSTEP_DIAGNOSE_MISUSE=1. Death tests run in a program of their own each, so that the
// threads of one do not disturb the next.
#include <lockstep/detail/wait/misuse.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>
#include "platform/process.hpp"
#include "support/asleep.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::name_this_thread;
using lockstep::test::run_threads;
using lockstep::test::watched_thread;

static_assert(lockstep::detail::misuse::diagnosed, "this program is about the diagnosis");

class misuse_death : public testing::Test {
 protected:
  misuse_death() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// Runs both, the second after the first, each on a thread with a name.
void alice_then_bob(const std::function<void()>& alice, const std::function<void()>& bob) {
  run_threads(1, [&](std::size_t) {
    name_this_thread("alice");
    alice();
    run_threads(1, [&](std::size_t) {
      name_this_thread("bob");
      bob();
    });
  });
}

/// bob sleeps in `wait` when alice does `deed`.
void while_bob_waits(const std::function<void()>& wait, const std::function<void()>& deed) {
  watched_thread bob;
  run_threads(2, [&](std::size_t rank) {
    name_this_thread(rank == 0 ? "bob" : "alice");
    if (rank == 0) {
      bob.enter();
      wait();
    } else {
      bob.wait_until_asleep();
      deed();
    }
  });
}

TEST_F(misuse_death, a_lock_unlocked_by_a_stranger) {
  lockstep::mutex mutex;
  EXPECT_DEATH(alice_then_bob([&] { mutex.lock(); }, [&] { mutex.unlock(); }),
               "lockstep::mutex at 0x.*: unlocked by thread [0-9]+ 'bob' while thread [0-9]+ "
               "'alice' holds it");
  lockstep::recursive_mutex recursive;
  EXPECT_DEATH(alice_then_bob([&] { recursive.lock(); }, [&] { recursive.unlock(); }),
               "lockstep::recursive_mutex at .*'bob' while .*'alice' holds it");
  lockstep::shared_mutex shared;
  EXPECT_DEATH(alice_then_bob([&] { shared.lock(); }, [&] { shared.unlock(); }),
               "lockstep::shared_mutex at .*'bob' while .*'alice' holds it");
  EXPECT_DEATH(alice_then_bob([&] { shared.lock_shared(); }, [&] { shared.unlock_shared(); }),
               "lockstep::shared_mutex at .*unlocked as a reader by .*'bob' while .*'alice' "
               "holds it as a reader");
}

TEST_F(misuse_death, a_lock_unlocked_that_nobody_holds) {
  lockstep::mutex mutex;
  EXPECT_DEATH(mutex.unlock(),
               "lockstep::mutex at 0x.*: unlocked by thread [0-9]+.* while no thread holds it");
  EXPECT_DEATH(lockstep::recursive_mutex().unlock(), "lockstep::recursive_mutex at .*unlocked");
  lockstep::shared_mutex shared;
  EXPECT_DEATH(shared.unlock_shared(),
               "lockstep::shared_mutex .* while no thread holds it as a reader");
}

TEST_F(misuse_death, a_plain_lock_locked_again_by_its_holder) {
  const auto twice = [](auto& lock) {
    name_this_thread("alice");
    lock.lock();
    lock.lock();
  };
  lockstep::mutex mutex;
  EXPECT_DEATH(twice(mutex),
               "lockstep::mutex at 0x.*: locked by thread [0-9]+ 'alice' while the same thread "
               "holds it");
  lockstep::shared_mutex shared;
  EXPECT_DEATH(twice(shared), "lockstep::shared_mutex .* while the same thread holds it");
}

TEST_F(misuse_death, a_lock_destroyed_while_it_is_held) {
  std::optional<lockstep::mutex> mutex(std::in_place);
  EXPECT_DEATH(alice_then_bob([&] { mutex->lock(); }, [&] { mutex.reset(); }),
               "lockstep::mutex at 0x.*: destroyed by .*'bob' while .*'alice' holds it");
  std::optional<lockstep::recursive_mutex> recursive(std::in_place);
  EXPECT_DEATH(alice_then_bob([&] { recursive->lock(); }, [&] { recursive.reset(); }),
               "lockstep::recursive_mutex at .*destroyed by .*'bob' while .*'alice' holds it");
}

TEST_F(misuse_death, a_reader_that_locks_as_a_writer_is_told_so) {
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.lock();
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.try_lock_for(std::chrono::milliseconds(1));
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
}

TEST_F(misuse_death, a_reader_that_reads_again_behind_a_writer_is_told_so) {
  EXPECT_DEATH(
      {
        lockstep::shared_mutex lock;
        lock.lock_shared();
        lock.lock_shared();  // nobody in between
        watched_thread writer;
        std::thread([&] {
          writer.enter();
          lock.lock();
        }).detach();
        writer.wait_until_asleep();
        lock.lock_shared();
      },
      "lockstep::shared_mutex at .*while the same thread holds it as a reader");
}

TEST_F(misuse_death, a_wait_with_a_mutex_that_is_not_held_is_told_so) {
  lockstep::mutex lock;
  lockstep::condition_variable changed;
  EXPECT_DEATH(changed.wait(lock), "lockstep::mutex at .*unlocked by .* while no thread holds it");
}

TEST_F(misuse_death, a_semaphore_released_past_its_maximum) {
  lockstep::binary_semaphore semaphore(1);
  EXPECT_DEATH(alice_then_bob([] {}, [&] { semaphore.release(); }),
               "lockstep::counting_semaphore.*: release of 1 permits by thread [0-9]+ 'bob' "
               "while it has 1 of at most 1");
}

TEST_F(misuse_death, a_condition_waited_on_with_two_mutexes_at_a_time) {
  lockstep::condition_variable condition;
  lockstep::mutex first, second;
  const auto wait = [&](lockstep::mutex& mutex) {
    std::unique_lock<lockstep::mutex> lock(mutex);
    condition.wait(lock);
  };
  EXPECT_DEATH(
      while_bob_waits([&] { wait(first); },
                      [&] {
                        watched_thread carol;
                        run_threads(2, [&](std::size_t rank) {
                          if (rank == 0) {
                            carol.enter();
                            wait(second);
                          } else {
                            carol.wait_until_asleep();
                            condition.notify_all();
                          }
                        });
                      }),
      "lockstep::condition_variable at 0x.*: two threads wait on it with two different mutexes");
}

TEST(misuse, right_use_is_not_complained_of) {
  lockstep::mutex mutex;
  lockstep::recursive_mutex recursive;
  lockstep::shared_mutex shared;
  run_threads(4, [&](std::size_t) {
    for (int i = 0; i < 500; ++i) {
      const std::scoped_lock all(mutex, recursive, shared);
      recursive.lock();
      recursive.unlock();
    }
    for (int i = 0; i < 500; ++i) {
      shared.lock_shared();
      shared.unlock_shared();
    }
  });
}

}  // namespace
