// SPDX-License-Identifier: MIT
// [eigen]
#define EIGEN_USE_THREADS  // before Eigen's own headers
#include <lockstep/adapters/eigen.hpp>

// [/eigen]
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unsupported/Eigen/CXX11/Tensor>

#include <lockstep/event.hpp>
#include <lockstep/latch.hpp>
#include <lockstep/member.hpp>
#include <lockstep/team.hpp>

namespace {

using lockstep::adapters::eigen_pool;
using matrix = Eigen::Tensor<float, 2>;

matrix some_matrix(int rows, int columns, int seed) {
  matrix made(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j)
      made(i, j) = static_cast<float>((i * 7 + j * 3 + seed) % 11 - 5);
  }
  return made;
}

const Eigen::array<Eigen::IndexPair<int>, 1> product = {Eigen::IndexPair<int>(1, 0)};

/// The values are small whole numbers: sums have the same bits in any order.
bool are_equal(const matrix& a, const matrix& b) {
  const Eigen::Tensor<bool, 0> all = (a == b).all();
  return all();
}

template <class Device>
matrix multiplied(const Device& device, int seed) {
  const matrix a = some_matrix(150, 200, seed), b = some_matrix(200, 130, seed + 1);
  matrix c(150, 130);
  c.device(device) = a.contract(b, product);
  matrix d(150, 130);
  d.device(device) = c * c + c.constant(2.0F);
  return d;
}

matrix serial(int seed) { return multiplied(Eigen::DefaultDevice(), seed); }

TEST(adapters_eigen, tensors_equal_serial_ones_for_any_number_of_threads) {
  const matrix wanted = serial(3);
  for (const int threads : {1, 2, 8}) {
    eigen_pool pool(threads);
    EXPECT_EQ(pool.NumThreads(), threads);
    const Eigen::ThreadPoolDevice device(&pool, threads);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(are_equal(multiplied(device, 3), wanted)) << threads;
  }
}

TEST(adapters_eigen, contracts_as_on_the_page) {
  const matrix a = some_matrix(50, 60, 1), b = some_matrix(60, 40, 2);
  matrix c(50, 40), wanted(50, 40);
  // [eigen]
  lockstep::adapters::eigen_pool pool(2);
  Eigen::ThreadPoolDevice device(&pool, pool.NumThreads());
  c.device(device) = a.contract(b, product);  // as with Eigen::ThreadPool
  // [/eigen]
  wanted = a.contract(b, product);
  EXPECT_TRUE(are_equal(c, wanted));
}

TEST(adapters_eigen, runs_every_closure_once_before_it_ends) {
  for (const int threads : {1, 2, 8}) {
    std::vector<std::atomic<int>> runs(1000);
    {
      eigen_pool pool(threads);
      for (auto& each : runs) {
        pool.Schedule([&each] { each.fetch_add(1, std::memory_order_relaxed); });
      }
    }
    for (const auto& each : runs) ASSERT_EQ(each.load(), 1);
  }
}

TEST(adapters_eigen, one_thread_keeps_the_order_of_those_from_outside) {
  std::vector<int> order;
  {
    eigen_pool pool(1);
    for (int i = 0; i < 100; ++i) pool.Schedule([&order, i] { order.push_back(i); });
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(adapters_eigen, numbers_its_threads) {
  eigen_pool pool(4), other(1);
  EXPECT_EQ(pool.CurrentThreadId(), -1);
  lockstep::latch all_here(4), all_done(4);
  std::vector<std::atomic<int>> seen(4);
  for (int i = 0; i < 4; ++i) {
    pool.ScheduleWithHint(
        [&] {
          all_here.arrive_and_wait();  // so that each thread has one
          seen.at(static_cast<std::size_t>(pool.CurrentThreadId())).fetch_add(1);
          EXPECT_EQ(other.CurrentThreadId(), -1);
          all_done.count_down();
        },
        0, 4);
  }
  all_done.wait();
  for (const auto& each : seen) EXPECT_EQ(each.load(), 1);
}

TEST(adapters_eigen, closures_that_schedule_each_other_come_to_an_end) {
  for (const int threads : {1, 2}) {
    std::atomic<int> leaves(0);
    std::function<void(int)> split;  // outlives the pool
    {
      eigen_pool pool(threads);
      split = [&](int count) {
        for (; count > 1; count /= 2) pool.Schedule([&split, count] { split(count / 2); });
        leaves.fetch_add(1, std::memory_order_relaxed);
      };
      pool.Schedule([&] { split(1024); });
    }
    EXPECT_EQ(leaves.load(), 1024);
  }
}

TEST(adapters_eigen, a_thread_runs_what_it_scheduled_last_first) {
  std::vector<int> order;
  {
    eigen_pool pool(1);
    pool.Schedule([&] {
      for (int i = 0; i < 3; ++i) pool.Schedule([&order, i] { order.push_back(i); });
    });
    pool.Schedule([&] { order.push_back(9); });
  }
  EXPECT_EQ(order.size(), 4u);
  EXPECT_LT(std::find(order.begin(), order.end(), 2) - order.begin(),
            std::find(order.begin(), order.end(), 0) - order.begin());
}

TEST(adapters_eigen, members_of_a_region_use_the_pool_at_once) {
  eigen_pool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  lockstep::team team(4);
  std::vector<matrix> found(4);
  team.run([&](lockstep::member& me) {
    found[me.rank()] = multiplied(device, static_cast<int>(me.rank()));
  });
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(are_equal(found[static_cast<std::size_t>(rank)], serial(rank))) << rank;
  }
}

TEST(adapters_eigen, two_threads_use_one_pool) {
  eigen_pool pool(2);
  const Eigen::ThreadPoolDevice device(&pool, 2);
  const matrix wanted[] = {serial(0), serial(1)};
  const auto use = [&](int seed) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(are_equal(multiplied(device, seed), wanted[seed]));
  };
  std::thread other(use, 1);
  use(0);
  other.join();
}

TEST(adapters_eigen, cancel_drops_what_waits_and_lets_go_on_what_runs) {
  lockstep::manual_reset_event has_begun, may_end;
  std::atomic<int> runs(0);
  const auto kept = std::make_shared<int>(0);
  {
    eigen_pool pool(1);
    pool.Schedule([&] {
      has_begun.notify();
      may_end.wait();
      runs.fetch_add(1);
    });
    has_begun.wait();
    for (int i = 0; i < 10; ++i) pool.Schedule([&, kept] { runs.fetch_add(100); });
    pool.Cancel();
    EXPECT_EQ(kept.use_count(), 1) << "a dropped closure was not destroyed";
    pool.Schedule([&] { runs.fetch_add(100); });
    may_end.notify();
  }
  EXPECT_EQ(runs.load(), 1);
}

/// Calls `say` when it is destroyed.
struct parting_word {
  std::function<void()> say;
  ~parting_word() { say(); }
};

TEST(adapters_eigen, what_a_closure_holds_may_schedule_when_it_is_destroyed) {
  std::atomic<int> runs(0);
  {
    eigen_pool pool(2);
    for (int i = 0; i < 50; ++i) {
      const std::shared_ptr<parting_word> word(
          new parting_word{[&] { pool.Schedule([&] { runs.fetch_add(1); }); }});
      pool.Schedule([word] {});
    }
  }
  EXPECT_EQ(runs.load(), 50);
}

}  // namespace
