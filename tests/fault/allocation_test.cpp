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
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "support/policies.hpp"
#include "support/threads.hpp"

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

/// What two threads do with an object in a round.
using exchange = std::function<void(std::size_t rank, int round)>;

struct use {
  const char* name;
  exchange (*prepare)(wait_policy);

  friend std::ostream& operator<<(std::ostream& out, const use& self) { return out << self.name; }
};

template <class Object, class... Arguments>
std::shared_ptr<Object> shared(Arguments... arguments) {
  return std::make_shared<Object>(arguments...);
}

template <class Barrier>
exchange pass_ranked(wait_policy policy) {
  return [all = shared<Barrier>(2u, policy)](std::size_t rank, int) { all->arrive_and_wait(rank); };
}

template <class Lock>
exchange lock_and_unlock(wait_policy policy) {
  return [lock = shared<Lock>(policy)](std::size_t, int) {
    lock->lock();
    std::this_thread::yield();
    lock->unlock();
    while (!lock->try_lock_for(std::chrono::microseconds(100))) continue;
    lock->unlock();
  };
}

exchange read_and_write(wait_policy policy) {
  return [lock = shared<lockstep::shared_mutex>(policy)](std::size_t rank, int round) {
    if ((rank + static_cast<std::size_t>(round)) % 2 == 0) {
      const std::lock_guard<lockstep::shared_mutex> hold(*lock);
    } else {
      lock->lock_shared();
      std::this_thread::yield();
      lock->unlock_shared();
    }
  };
}

/// Rank 0 notifies first and then waits; rank 1 waits first.
template <class Notifications>
exchange ping_pong(wait_policy policy) {
  return [ping = shared<Notifications>(policy), pong = shared<Notifications>(policy)](
             std::size_t rank, int) {
    if (rank == 0) {
      ping->notify();
      pong->wait();
    } else {
      ping->wait();
      pong->notify();
    }
  };
}

exchange give_permits(wait_policy policy) {
  return [ping = shared<lockstep::semaphore>(0, policy),
          pong = shared<lockstep::semaphore>(0, policy)](std::size_t rank, int) {
    if (rank == 0) {
      ping->release();
      pong->acquire();
    } else {
      ping->acquire();
      pong->release();
    }
  };
}

exchange fan_out_and_in(wait_policy policy) {
  return [out = shared<lockstep::fan_out>(1u, policy), in = shared<lockstep::fan_in>(1u, policy)](
             std::size_t rank, int) {
    if (rank == 0) {
      out->notify();
      in->wait();
    } else {
      out->wait(0);
      in->notify(0);
    }
  };
}

exchange meet(wait_policy policy) {
  return [all = shared<lockstep::fan_in_out>(2u, 2u, policy)](std::size_t rank, int) {
    all->notify(rank);
    all->wait(rank);
  };
}

exchange pass_split(wait_policy policy) {
  return
      [all = shared<lockstep::barrier<>>(2, policy)](std::size_t, int) { all->arrive_and_wait(); };
}

exchange take_turns(wait_policy policy) {
  struct state {
    lockstep::mutex mutex;
    lockstep::condition_variable changed;
    std::size_t turn = 0;
    explicit state(wait_policy by) : mutex(by), changed(by) {}
  };
  return [all = shared<state>(policy)](std::size_t rank, int) {
    std::unique_lock<lockstep::mutex> lock(all->mutex);
    all->changed.wait(lock, [&] { return all->turn % 2 == rank; });
    ++all->turn;
    all->changed.notify_all();
  };
}

exchange open_and_close(wait_policy policy) {
  struct state {
    lockstep::manual_reset_event gate;
    lockstep::ranked_barrier all;
    explicit state(wait_policy by) : gate(by), all(2, by) {}
  };
  return [all = shared<state>(policy)](std::size_t rank, int) {
    if (rank == 0) all->gate.notify();
    all->gate.wait();
    all->all.arrive_and_wait(rank);
    if (rank == 0) all->gate.reset();
    all->all.arrive_and_wait(rank);
  };
}

exchange post_and_answer(wait_policy policy) {
  struct state {
    lockstep::mailbox box;
    lockstep::event answer;
    explicit state(wait_policy by) : box(4, by), answer(by) {}
  };
  return [all = shared<state>(policy)](std::size_t rank, int) {
    if (rank == 0) {
      all->box.wait_and_run();
    } else {
      EXPECT_TRUE(all->box.post([&all = *all] { all.answer.notify(); }));
      all->answer.wait();
    }
  };
}

/// Both wait for the eventual and contribute to the set. Then rank 0 resets the two, between two barriers.
exchange set_and_get(wait_policy policy) {
  struct state {
    lockstep::eventual<int> value;
    lockstep::future_set<int> set;
    lockstep::ranked_barrier all;
    explicit state(wait_policy by) : value(by), set(2, nullptr, by), all(2, by) {}
  };
  return [all = shared<state>(policy)](std::size_t rank, int round) {
    if (rank == 0) all->value.set_value(round);
    EXPECT_EQ(all->value.get(), round);
    all->set.contribute(round);
    EXPECT_EQ(all->set.get()[0], round);
    all->all.arrive_and_wait(rank);
    if (rank == 0) all->value.reset();
    if (rank == 0) all->set.reset();
    all->all.arrive_and_wait(rank);
  };
}

/// Both run regions on one team.
exchange run_regions(wait_policy policy) {
  return [workers = shared<lockstep::team>(2u, policy)](std::size_t, int) {
    workers->run([](lockstep::member& self) { self.sync_threads(); });
    workers->for_each(0, 10, [](std::size_t) {});
  };
}

const use uses[] = {{"event", ping_pong<lockstep::event>},
                    {"auto_reset_event", ping_pong<lockstep::auto_reset_event>},
                    {"manual_reset_event", open_and_close},
                    {"mutex", lock_and_unlock<lockstep::mutex>},
                    {"recursive_mutex", lock_and_unlock<lockstep::recursive_mutex>},
                    {"shared_mutex", read_and_write},
                    {"semaphore", give_permits},
                    {"condition_variable", take_turns},
                    {"ranked_barrier", pass_ranked<lockstep::ranked_barrier>},
                    {"barrier", pass_split},
                    {"fan_out_and_fan_in", fan_out_and_in},
                    {"fan_in_out", meet},
                    {"mailbox", post_and_answer},
                    {"eventual_and_future_set", set_and_get},
                    {"team", run_regions}};

class steady_state : public testing::TestWithParam<use> {};
INSTANTIATE_TEST_SUITE_P(classes, steady_state, testing::ValuesIn(uses),
                         testing::PrintToStringParamName());

TEST_P(steady_state, allocates_nothing) {
  for (const auto& named : lockstep::test::crowd_safe_policies()) {
    SCOPED_TRACE(named.name);
    const exchange once = GetParam().prepare(named.policy);
    lockstep::test::start_gate gate(2);
    long before = 0, after = 0;
    lockstep::test::run_threads(2, [&](std::size_t rank) {
      for (int round = 0; round < 20; ++round) once(rank, round);
      gate.arrive_and_wait();
      if (rank == 0) before = memory::made;
      gate.arrive_and_wait();
      for (int round = 0; round < 300; ++round) once(rank, round);
      gate.arrive_and_wait();
      if (rank == 0) after = memory::made;
      gate.arrive_and_wait();
    });
    EXPECT_EQ(after - before, 0);
  }
}

}  // namespace
