// SPDX-License-Identifier: MIT
// tests/trace/trace_concurrent_test.cpp -- TRACE-3, RING-1, OBSERVE-1: what starts and stops while threads run
#include <lockstep/lockstep.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "observe/observers.hpp"
#include "support/effort.hpp"
#include "support/threads.hpp"
#include "trace/traced.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::trace_options;
using lockstep::test::effort;
using lockstep::test::scratch_file;
using lockstep::test::seen_event;
using lockstep::test::seen_trace;

/// Threads that do all that is observed, more of them than CPUs, as long as this lives.
class busy_threads {
 public:
  busy_threads() {
    threads_.emplace_back([this] {
      lockstep::mutex lock;
      while (!is_over_.load()) {
        LOCKSTEP_TRACE_SCOPE("other");
        std::thread([&] {
          const std::lock_guard<lockstep::mutex> held(lock);
          lockstep::trace_mark("short");
        }).join();
        lockstep::trace_counter("x", 1);
      }
    });
    threads_.emplace_back([this] {
      while (!is_over_.load()) {
        LOCKSTEP_TRACE_SCOPE("caller");
        workers.run([](member& me) {
          me.sync_threads();
          static_cast<void>(me.sync_sum(1));
          lockstep::sub_team half = me.split(me.rank() % 2);
          half->sync_threads();
          me.for_each(0, 64, [](std::size_t) {}, lockstep::dynamic_schedule(4));
        });
        workers.for_each(0, 64, [](std::size_t) {});
        rounds_.fetch_add(1);
      }
    });
    threads_.emplace_back([this] {
      team two(2);
      lockstep::graph flow;
      const auto load = flow.node("load", [] {});
      const auto left = flow.node("left", [] {}), right = flow.node("right", [] {});
      flow.edge(load, left).edge(load, right);
      lockstep::plan plan(flow, two);
      while (!is_over_.load()) plan.run(5);
    });
  }
  ~busy_threads() {
    is_over_ = true;
    for (std::thread& each : threads_) each.join();
  }
  /// Returns when regions have begun and ended since the call.
  void await_regions() const {
    const unsigned before = rounds_.load();
    while (rounds_.load() - before < 2) std::this_thread::yield();
  }

  team workers{4};

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<unsigned> rounds_{0};
  std::vector<std::thread> threads_;
};

TEST(trace, TRACE_3_RING_1_traces_start_stop_and_are_written_while_threads_run_and_rings_overflow) {
  const busy_threads here;
  const scratch_file to;
  std::uint64_t lost = 0;
  for (int i = 0; i < 3 * effort(2); ++i) {
    ASSERT_TRUE(lockstep::start_trace(trace_options(std::size_t{16} << i % 3)));
    here.await_regions();
    ASSERT_TRUE(lockstep::write_trace(to.path()));
    const seen_trace early(to.read());
    if (i % 3 == 0) static_cast<void>(lockstep::trace_summary());
    ASSERT_TRUE(lockstep::stop_trace(to.path()));
    const seen_trace seen(to.read());
    lost += seen.file().at("otherData").at("dropped").get<std::uint64_t>();
    for (const seen_event& each : seen.of("part"))
      EXPECT_TRUE(each.all.at("args").contains("rank"));
    for (const seen_event& each : seen.of("construct"))
      EXPECT_TRUE(each.all.at("args").contains("phase"));
    here.await_regions();
  }
  EXPECT_GT(lost, 0u) << "written over";
}

TEST(trace, OBSERVE_1_all_observers_are_switched_while_threads_run) {
  busy_threads here;
  const std::uint32_t others = lockstep::detail::observers();
  for (int i = 1; i < 16; ++i) {
    if (i & 1) {
      ASSERT_TRUE(lockstep::start_trace(trace_options(64)));
    }
    if (i & 2) {
      const auto never = lockstep::watchdog_options().after(std::chrono::hours(1));
      ASSERT_TRUE(lockstep::start_watchdog(never));
    }
    if (i & 4) here.workers.keep_ledger(true), here.workers.reset_ledger();
    if (i & 8) lockstep::detail::begin_to_observe(lockstep::detail::observer::delays);
    for (int k = 0; k < 20; ++k) {  // while it is made
      if (i & 2) static_cast<void>(lockstep::who_waits());
      if (i & 4) static_cast<void>(here.workers.ledger());
    }
    here.await_regions();
    if (i & 2) {
      EXPECT_FALSE(lockstep::who_waits().empty());
    }
    if (i & 4) {
      EXPECT_FALSE(here.workers.ledger().constructs.empty());
    }
    if ((i & 8) && (others & lockstep::detail::observer::delays) == 0)
      lockstep::detail::end_to_observe(lockstep::detail::observer::delays);
    if (i & 4) here.workers.keep_ledger(false);
    if (i & 2) lockstep::stop_watchdog();
    if (i & 1) {
      EXPECT_TRUE(lockstep::stop_trace());
    }
    here.await_regions();
  }
  EXPECT_EQ(lockstep::detail::observers(), others);
}

}  // namespace
