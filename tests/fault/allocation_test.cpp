// SPDX-License-Identifier: MIT
// tests/fault/allocation_test.cpp -- memory that runs out, and memory that must not be asked for
//
// Operator new of this program counts what lives, and refuses when it is told to.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <type_traits>

#include "support/policies.hpp"
#include "support/threads.hpp"
#include "support/waited.hpp"

namespace {

/// What operator new is to do, and what it has done.
struct memory {
  inline static std::atomic<long> living{0}, made{0};
  /// So many allocations succeed, the next one is refused, and all later ones succeed. Negative: all succeed.
  inline static std::atomic<long> until_refusal{-1};

  static void* allocate(std::size_t size) {
    if (until_refusal.load() >= 0 && until_refusal.fetch_sub(1) == 0) throw std::bad_alloc();
    void* const got = std::malloc(size != 0 ? size : 1);
    if (got == nullptr) throw std::bad_alloc();
    ++living;
    ++made;
    return got;
  }
  static void free(void* what) noexcept {
    if (what == nullptr) return;
    --living;
    std::free(what);
  }
};

}  // namespace

void* operator new(std::size_t size) { return memory::allocate(size); }
void* operator new[](std::size_t size) { return memory::allocate(size); }
void operator delete(void* what) noexcept { memory::free(what); }
void operator delete[](void* what) noexcept { memory::free(what); }
void operator delete(void* what, std::size_t) noexcept { memory::free(what); }
void operator delete[](void* what, std::size_t) noexcept { memory::free(what); }

namespace {

using lockstep::wait_policy;

/// The threads of this process.
std::ptrdiff_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// Whether so many are left. A thread that was joined may still be listed for a moment.
bool come_down_to(std::ptrdiff_t threads) {
  for (int look = 0; look < 100000; ++look) {
    if (count_threads() <= threads) return true;
    std::this_thread::yield();
  }
  return false;
}

/// Makes and destroys, or uses, an object; may throw what operator new throws.
struct attempt {
  const char* name;
  void (*run)();

  friend std::ostream& operator<<(std::ostream& out, const attempt& self) {
    return out << self.name;
  }
};

template <class Object, int... Counts>
void make() {
  [[maybe_unused]] Object object{Counts...};
}

void throw_in_a_region() {
  static const int error = 1;
  lockstep::team workers(3);
  for (int i = 0; i < 3; ++i) {
    try {
      workers.run([](lockstep::member& self) {
        if (self.rank() != 0) throw error;
        EXPECT_FALSE(self.sync_threads_unless_stopped());
      });
    } catch (const int&) {
    } catch (const std::bad_alloc&) {
      // The system allocates for the region's exception; the team must still work.
    }
    std::atomic<int> synced{0};
    workers.run([&](lockstep::member& self) { synced += self.sync_threads(); });
    EXPECT_EQ(synced, 3) << "an exception leaves the team usable";
  }
}

void keep_a_ledger() {
  lockstep::team workers(lockstep::team_options().members(2).ledger(true));
  for (int i = 0; i < 3; ++i) workers.run([](lockstep::member& self) { self.sync_threads(); });
}

const attempt attempts[] = {{"team_with_a_ledger", keep_a_ledger},
                            {"event", make<lockstep::event>},
                            {"latch", make<lockstep::latch, 2>},
                            {"manual_reset_event", make<lockstep::manual_reset_event>},
                            {"auto_reset_event", make<lockstep::auto_reset_event>},
                            {"mutex", make<lockstep::mutex>},
                            {"recursive_mutex", make<lockstep::recursive_mutex>},
                            {"shared_mutex", make<lockstep::shared_mutex>},
                            {"semaphore", make<lockstep::semaphore, 1>},
                            {"condition_variable", make<lockstep::condition_variable>},
                            {"eventual", make<lockstep::eventual<std::string>>},
                            {"barrier", make<lockstep::barrier<>, 3>},
                            {"fan_out", make<lockstep::fan_out, 3>},
                            {"fan_in", make<lockstep::fan_in, 3>},
                            {"fan_in_out", make<lockstep::fan_in_out, 3, 4>},
                            {"ranked_barrier", make<lockstep::ranked_barrier, 3>},
                            {"ranked_barrier_by_tree", make<lockstep::ranked_barrier, 20>},
                            {"mailbox", make<lockstep::mailbox, 5>},
                            {"future_set",
                             [] {
                               const std::string text(100,
                                                      'x');  // the callback's own copy allocates
                               lockstep::future_set<std::string> set(3, [text](const auto&) {});
                             }},
                            {"joinable_thread",
                             [] {
                               const std::string text(100, 'x');
                               lockstep::joinable_thread thread([text] {});
                             }},
                            {"team", make<lockstep::team, 5>},
                            {"exception_in_a_region", throw_in_a_region}};

class failing_allocation : public testing::TestWithParam<attempt> {};
INSTANTIATE_TEST_SUITE_P(classes, failing_allocation, testing::ValuesIn(attempts),
                         testing::PrintToStringParamName());

TEST_P(failing_allocation, of_each_in_turn_is_reported_and_leaves_nothing_behind) {
  static const std::ptrdiff_t threads = count_threads();  // before the first attempt
  GetParam().run();                                       // what is made once in a process
  const long living = memory::living;
  long refused = 0;
  for (bool done = false; !done; ++refused) {
    memory::until_refusal = refused;
    try {
      GetParam().run();
    } catch (const std::bad_alloc&) {
    }
    done = memory::until_refusal.exchange(-1) >= 0;
    ASSERT_EQ(memory::living, living) << "allocation " << refused;
    ASSERT_TRUE(come_down_to(threads)) << count_threads() << " threads, allocation " << refused;
  }
  std::printf("%ld allocations refused\n", refused - 1);
}

/// Calls once(rank, round) on two threads: after some rounds nobody allocates.
template <class Once>
void expect_no_allocation(const Once& once) {
  lockstep::test::start_gate gate(2);
  long before = 0, after = 0;
  lockstep::test::run_threads(2, [&](std::size_t rank) {
    for (std::size_t round = 0; round < 20; ++round) once(rank, round);
    gate.arrive_and_wait();
    if (rank == 0) before = memory::made;
    gate.arrive_and_wait();
    for (std::size_t round = 0; round < 300; ++round) once(rank, round);
    gate.arrive_and_wait();
    if (rank == 0) after = memory::made;
    gate.arrive_and_wait();
  });
  EXPECT_EQ(after - before, 0);
}

/// Calls test(policy) for each.
template <class Test>
void with_each_policy(const Test& test) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    test(named.policy);
  }
}

TEST(steady_state, of_each_class_that_threads_wait_on_allocates_nothing) {
  using lockstep::test::waited;
  using all = lockstep::test::faces<lockstep::test::face_list, waited<lockstep::semaphore>,
                                    waited<lockstep::condition_variable>>;
  with_each_policy([](wait_policy policy) {
    all::for_each(policy, [policy](auto& ping) {
      SCOPED_TRACE(ping.name);
      std::remove_reference_t<decltype(ping)> pong(policy);
      expect_no_allocation([&](std::size_t rank, std::size_t) {
        if (rank == 0) {
          ping.notify();
          pong.wait();
        } else {
          ping.wait();
          pong.notify();
        }
      });
    });
  });
}

template <class Lock>
void expect_no_allocation_of(wait_policy policy) {
  Lock lock(policy);
  expect_no_allocation([&](std::size_t, std::size_t) {
    lock.lock();
    std::this_thread::yield();
    lock.unlock();
    while (!lock.try_lock_for(std::chrono::microseconds(100))) continue;
    lock.unlock();
  });
}

TEST(steady_state, of_each_lock_allocates_nothing) {
  with_each_policy([](wait_policy policy) {
    expect_no_allocation_of<lockstep::mutex>(policy);
    expect_no_allocation_of<lockstep::recursive_mutex>(policy);
    lockstep::shared_mutex lock(policy);
    expect_no_allocation([&](std::size_t rank, std::size_t round) {
      if ((rank + round) % 2 == 0) {
        const std::lock_guard<lockstep::shared_mutex> hold(lock);
      } else {
        lock.lock_shared();
        std::this_thread::yield();
        lock.unlock_shared();
      }
    });
  });
}

TEST(steady_state, of_a_team_whose_regions_two_threads_run_allocates_nothing) {
  with_each_policy([](wait_policy policy) {
    lockstep::team workers(2, policy);
    expect_no_allocation([&](std::size_t, std::size_t) {
      workers.run([](lockstep::member& self) { self.sync_threads(); });
      workers.for_each(0, 10, [](std::size_t) {});
    });
  });
}

}  // namespace
