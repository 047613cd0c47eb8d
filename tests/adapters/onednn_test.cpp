// SPDX-License-Identifier: MIT
// Calls the interface as oneDNN does. Distributions build oneDNN with OpenMP: such a oneDNN does not call it.
#include <lockstep/adapters/onednn.hpp>

#include <cstddef>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <lockstep/member.hpp>

namespace {

using lockstep::adapters::onednn_threadpool;
using interface = dnnl::threadpool_interop::threadpool_iface;

/// As dnnl::impl::parallel(): on the pool, or as a plain loop if the thread is in a parallel part already.
void parallel(interface& pool, int count, const std::function<void(int, int)>& part) {
  if (pool.get_in_parallel()) {
    for (int i = 0; i < count; ++i) part(i, count);
  } else {
    pool.parallel_for(count, part);
  }
}

void expect_each_once(interface& pool, int count) {
  std::vector<int> runs(static_cast<std::size_t>(count), 0);
  parallel(pool, count, [&](int i, int of) {
    EXPECT_EQ(of, count);
    ++runs[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

TEST(adapters_onednn, runs_each_part_once_for_any_number_of_members) {
  for (const std::size_t members : {1u, 2u, 8u}) {
    lockstep::team team(members);
    onednn_threadpool pool(team);
    EXPECT_EQ(pool.get_num_threads(), static_cast<int>(members));
    EXPECT_EQ(pool.get_flags() & interface::ASYNCHRONOUS, 0u);
    for (const int count : {0, 1, 2, 7, 1000}) expect_each_once(pool, count);
  }
}

TEST(adapters_onednn, is_in_parallel_in_a_part_and_nowhere_else) {
  lockstep::team team(2), other_team(2);
  onednn_threadpool pool(team), other(other_team);
  EXPECT_FALSE(pool.get_in_parallel());
  pool.parallel_for(4, [&](int, int) {
    EXPECT_TRUE(pool.get_in_parallel());
    EXPECT_FALSE(other.get_in_parallel());
    expect_each_once(pool, 5);
    expect_each_once(other, 5);
    EXPECT_TRUE(pool.get_in_parallel());
  });
  EXPECT_FALSE(pool.get_in_parallel());
}

TEST(adapters_onednn, parts_that_ask_the_pool_again_wait_for_nobody) {
  lockstep::team team(2);
  onednn_threadpool pool(team);
  std::vector<int> runs(8 * 5, 0);
  pool.parallel_for(8, [&](int i, int) {
    pool.parallel_for(5, [&](int j, int) { ++runs[static_cast<std::size_t>(i * 5 + j)]; });
  });
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

TEST(adapters_onednn, members_of_a_region_run_all_parts_themselves) {
  lockstep::team team(4);
  onednn_threadpool pool(team);
  team.run([&](lockstep::member&) {
    const std::thread::id mine = std::this_thread::get_id();
    parallel(pool, 9, [&](int, int) { EXPECT_EQ(std::this_thread::get_id(), mine); });
    expect_each_once(pool, 9);
  });
}

TEST(adapters_onednn, two_threads_use_one_pool) {
  lockstep::team team(2);
  onednn_threadpool pool(team);
  const auto use = [&] {
    for (int i = 0; i < 200; ++i) expect_each_once(pool, 11);
  };
  std::thread other(use);
  use();
  other.join();
}

TEST(adapters_onednn, an_exception_of_a_part_reaches_the_caller) {
  lockstep::team team(2);
  onednn_threadpool pool(team);
  EXPECT_THROW(pool.parallel_for(10,
                                 [](int i, int) {
                                   if (i == 3) throw std::runtime_error("part 3");
                                 }),
               std::runtime_error);
  EXPECT_FALSE(pool.get_in_parallel());
  expect_each_once(pool, 10);
}

}  // namespace
