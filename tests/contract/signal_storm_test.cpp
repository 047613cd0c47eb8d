// SPDX-License-Identifier: MIT
// tests/contract/signal_storm_test.cpp -- signals end no wait, whatever the object and the policy
//
// The seven situations of Argobots' pull request 306 (join, mutex, condition, barrier, rwlock, eventual,
// future), each with a team of threads that gets at least 10 000 signals meanwhile, uncrowded and crowded,
// and the rest of the family; in brief 300 signals each. A wait that a signal ended shows as a wrong value or a
// broken order.
#include <lockstep/lockstep.hpp>
#include <lockstep/toolbox.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <vector>

#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/ranked_barriers.hpp"
#include "support/signal_storm.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::wait_policy;
using lockstep::test::named_policy;
using lockstep::test::signal_storm;
using lockstep::test::start_gate;

using parameters = std::tuple<named_policy, std::size_t>;

class signal_storm_test : public testing::TestWithParam<parameters> {
 protected:
  static wait_policy policy() { return std::get<0>(GetParam()).policy; }
  static std::size_t threads() { return std::get<1>(GetParam()); }

  /// Runs body(rank) on all threads, under signals.
  void run(const std::function<void(std::size_t)>& body) {
    lockstep::test::run_threads(threads(), [&](std::size_t rank) {
      const signal_storm::target self(storm_);
      body(rank);
    });
    EXPECT_TRUE(storm_.is_over());
  }
  /// Runs body(rank, round) round by round, until all signals have come. After each round one thread calls `between`.
  void run_rounds(
      const std::function<void(std::size_t, int)>& body,
      const std::function<void()>& between = [] {}) {
    start_gate gate(threads());
    bool over = false;
    run([&](std::size_t rank) {
      for (int round = 0; !over; ++round) {
        body(rank, round);
        gate.arrive_and_wait();
        if (rank == 0) {
          between();
          over = storm_.is_over();
        }
        gate.arrive_and_wait();
      }
    });
  }
  /// Runs a barrier: each thread writes its cell before arrive(rank) and reads all cells after it.
  void expect_separated_phases(const std::function<void(std::size_t)>& arrive) {
    std::vector<std::vector<long>> cells(2, std::vector<long>(threads()));
    bool over = false;
    std::atomic<int> wrong{0};
    run([&](std::size_t rank) {
      for (long phase = 1;; ++phase) {
        std::vector<long>& now = cells[static_cast<std::size_t>(phase % 2)];
        now[rank] = phase;
        if (rank == 0 && phase % 2 == 0) over = is_over();
        arrive(rank);
        for (const long each : now) wrong += each != phase;
        if (phase % 2 == 0 && over) return;
      }
    });
    EXPECT_EQ(wrong.load(), 0);
  }
  bool is_over() const { return storm_.is_over(); }

 private:
  signal_storm storm_;
};

std::vector<parameters> all_parameters() {
  std::vector<parameters> all;
  if (lockstep::test::is_brief()) {  // sleeps at once in a crowd; first spins, then sleeps
    all.emplace_back(named_policy{"block", wait_policy::block()}, 6);
    for (const std::size_t count : {2u, 6u})
      all.emplace_back(named_policy{"default", wait_policy()}, count);
    return all;
  }
  for (const named_policy& each : lockstep::test::all_policies()) all.emplace_back(each, 2);
  for (const named_policy& each : lockstep::test::crowd_safe_policies()) all.emplace_back(each, 6);
  return all;
}
std::string name_of(const testing::TestParamInfo<parameters>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::to_string(std::get<1>(info.param));
}
INSTANTIATE_TEST_SUITE_P(policies, signal_storm_test, testing::ValuesIn(all_parameters()), name_of);

TEST_P(signal_storm_test, join_returns_only_when_the_thread_has_ended) {
  std::atomic<int> early{0};
  run([&](std::size_t) {
    while (!is_over()) {
      int done = 0;  // plain
      lockstep::joinable_thread thread(policy(), [&] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
        while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
        done = 1;
      });
      thread.join();
      early += done != 1;
    }
  });
  EXPECT_EQ(early.load(), 0);
}

TEST_P(signal_storm_test, mutex_excludes) {
  lockstep::mutex mutex(policy());
  long sum = 0;
  std::atomic<long> taken{0};
  run([&](std::size_t rank) {
    for (int i = 0; !is_over(); ++i) {
      if (rank % 2 == 1 && i % 2 == 1) {
        if (!mutex.try_lock_for(std::chrono::microseconds(i % 100))) continue;
      } else {
        mutex.lock();
      }
      ++sum;
      mutex.unlock();
      ++taken;
    }
  });
  EXPECT_EQ(sum, taken.load());
}

TEST_P(signal_storm_test, condition_variable_wakes_for_notifications_only) {
  lockstep::mutex mutex(policy());
  lockstep::condition_variable condition(policy());
  std::size_t turn = 0;
  long notified = 0, woken = 0;
  run([&](std::size_t rank) {
    std::unique_lock<lockstep::mutex> lock(mutex);
    while (true) {
      while (turn % threads() != rank && !is_over()) {
        condition.wait(lock);
        ++woken;
      }
      ++turn;
      notified += static_cast<long>(threads()) - 1;
      condition.notify_all();
      if (is_over()) return;
    }
  });
  EXPECT_LE(woken, notified);
}

TEST_P(signal_storm_test, condition_variable_does_not_time_out_early) {
  lockstep::mutex mutex(policy());
  lockstep::condition_variable condition(policy());
  std::atomic<int> early{0};
  run([&](std::size_t) {
    while (!is_over()) {
      std::unique_lock<lockstep::mutex> lock(mutex);
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
      early += condition.wait_until(lock, end) != std::cv_status::timeout ||
               std::chrono::steady_clock::now() < end;
    }
  });
  EXPECT_EQ(early.load(), 0);
}

TEST_P(signal_storm_test, barrier_separates_phases) {
  lockstep::ranked_barrier barrier(threads(), policy());
  expect_separated_phases([&](std::size_t rank) { barrier.arrive_and_wait(rank); });
}

TEST_P(signal_storm_test, counted_barrier_separates_phases) {
  lockstep::barrier<> barrier(static_cast<std::ptrdiff_t>(threads()), {}, policy());
  expect_separated_phases([&](std::size_t) { barrier.arrive_and_wait(); });
}

TEST_P(signal_storm_test, barrier_by_tree_separates_phases) {
  lockstep::test::barrier_by_tree barrier(threads(), policy());
  expect_separated_phases([&](std::size_t rank) { barrier.arrive_and_wait(rank); });
}

TEST_P(signal_storm_test, shared_mutex_keeps_writers_alone) {
  lockstep::shared_mutex mutex(policy());
  long first = 0, second = 0;
  std::atomic<int> torn{0};
  run([&](std::size_t rank) {
    for (std::size_t i = rank; !is_over(); ++i) {
      if (i % 3 == 0) {
        const std::lock_guard<lockstep::shared_mutex> lock(mutex);
        ++first;
        ++second;
      } else {
        const std::shared_lock<lockstep::shared_mutex> lock(mutex);
        torn += first != second;
      }
    }
  });
  EXPECT_EQ(torn.load(), 0);
}

TEST_P(signal_storm_test, eventual_is_read_only_when_it_is_set) {
  lockstep::eventual<int> value(policy());
  std::atomic<int> wrong{0};
  run_rounds(
      [&](std::size_t rank, int round) {
        if (rank + 1 == threads()) {
          value.set_value(round);
        } else {
          wrong += value.get() != round;
        }
      },
      [&] { value.reset(); });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(signal_storm_test, future_set_is_ready_only_after_all_contributions) {
  const std::size_t contributors = (threads() + 1) / 2;
  std::atomic<int> called{0}, wrong{0};
  int rounds = 0;
  lockstep::future_set<int> future(contributors, [&](const auto&) { ++called; }, policy());
  run_rounds(
      [&](std::size_t rank, int round) {
        if (rank < contributors) {
          future.contribute(round);
        } else {
          for (const int each : future.get()) wrong += each != round;
        }
      },
      [&] {
        future.wait();
        future.reset();
        ++rounds;
      });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(called.load(), rounds);
}

TEST_P(signal_storm_test, semaphore_latch_and_events_let_nobody_through_early) {
  lockstep::semaphore permits(0, policy());
  lockstep::manual_reset_event open(policy());
  std::vector<lockstep::auto_reset_event> turns(threads());
  std::unique_ptr<lockstep::latch> latch;
  const auto renew = [&] {
    latch = std::make_unique<lockstep::latch>(static_cast<std::ptrdiff_t>(threads()), policy());
    open.reset();
  };
  renew();
  long written = 0;
  std::atomic<int> wrong{0};
  run_rounds(
      [&](std::size_t rank, int round) {
        if (rank == 0) {
          written = round;
          permits.release(static_cast<std::ptrdiff_t>(threads()) - 1);
          turns[1].notify();
        } else {
          permits.acquire();
          wrong += written != round;
          turns[rank].wait();
          if (rank + 1 < threads()) turns[rank + 1].notify();
        }
        latch->arrive_and_wait();
        if (rank == 0) open.notify();
        open.wait();
      },
      renew);
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
