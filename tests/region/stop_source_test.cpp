// SPDX-License-Identifier: MIT
// tests/region/stop_source_test.cpp -- STOP-1 to STOP-3: which region a request ends, and which sleepers are told
#include "region/stop_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "support/threads.hpp"

namespace {

using lockstep::detail::fence_payer;
using lockstep::detail::sleeper_mark;
using lockstep::detail::sleeping_places;
using lockstep::detail::stop_source;
using lockstep::detail::wait_word;

/// A place with two sleepers, as their marks say.
class asleep {
 public:
  explicit asleep(stop_source& of) : place_(&of, marks_, 2, fence_payer::both) { sleep(); }

  void sleep() {
    for (sleeper_mark& mark : marks_) word_of(mark).fetch_or(1, std::memory_order_relaxed);
  }
  /// How often both were woken.
  std::uint32_t told() {
    const std::uint32_t of_first = word_of(marks_[0]).load(std::memory_order_relaxed) / 2;
    EXPECT_EQ(word_of(marks_[1]).load(std::memory_order_relaxed) / 2, of_first);
    return of_first;
  }

 private:
  static wait_word& word_of(sleeper_mark& mark) { return reinterpret_cast<wait_word&>(mark); }

  sleeper_mark marks_[2];
  sleeping_places::place place_;
};

/// Regions [first, last], modulo 2^32 and without 0, as a team numbers them.
std::vector<std::uint32_t> regions_from(std::uint32_t first, int count) {
  std::vector<std::uint32_t> regions;
  for (std::uint32_t region = first; count > 0; ++region) {
    if (region == 0) continue;
    regions.push_back(region);
    --count;
  }
  return regions;
}

constexpr std::uint32_t starts[] = {1, 1000, (1u << 30) - 3, (1u << 31) - 3, 3u << 30, 0u - 4u};

/// A source as it is after many regions, the last of which was `region`.
void bring_to(stop_source& stop, std::uint32_t region) {
  const std::uint32_t stride = 1u << 29;
  std::uint32_t at = 1;
  while (region - at > stride) stop.keep_near(at += stride);
  stop.keep_near(region);
}

TEST(stop_source, STOP_1_a_request_stops_its_region_and_no_other) {
  for (const std::uint32_t first : starts) {
    stop_source stop;
    bring_to(stop, first);
    std::uint32_t last_stopped = 0;
    for (const std::uint32_t region : regions_from(first, 40)) {
      SCOPED_TRACE(region);
      stop.keep_near(region);
      EXPECT_FALSE(stop.requested(region));
      if (region % 3 != 0) continue;
      stop.request(region);
      EXPECT_TRUE(stop.requested(region));
      if (last_stopped != 0) {
        EXPECT_FALSE(stop.requested(last_stopped)) << "its region is over";
      }
      last_stopped = region;
    }
  }
}

TEST(stop_source, STOP_1_a_late_request_stops_nothing_and_takes_back_nothing) {
  for (const std::uint32_t first : starts) {
    stop_source stop;
    bring_to(stop, first);
    const std::vector<std::uint32_t> regions = regions_from(first, 40);
    for (std::size_t i = 3; i < regions.size(); ++i) {
      SCOPED_TRACE(regions[i]);
      stop.keep_near(regions[i]);
      stop.request(regions[i - 1]);
      stop.request(regions[i - 3]);
      EXPECT_FALSE(stop.requested(regions[i]));
      if (i % 2 == 0) continue;
      stop.request(regions[i]);
      for (std::size_t back = 1; back <= 3; ++back) stop.request(regions[i - back]);
      EXPECT_TRUE(stop.requested(regions[i])) << "taken back by a late one";
    }
  }
}

TEST(stop_source, STOP_3_after_any_number_of_regions_without_a_request_one_still_counts) {
  // 2^32 regions in steps: where the word stays behind by more than 2^31, a request would look late.
  for (const std::uint32_t stride :
       {1u << 28, (1u << 30) - 1, 1u << 30, (1u << 30) + 1, 1u << 31}) {
    stop_source stop;
    std::uint32_t region = 1;
    stop.keep_near(region);
    stop.request(region);
    for (int i = 0; i < 40; ++i) {
      SCOPED_TRACE(testing::Message() << "region " << region << ", stride " << stride);
      region += stride;
      if (region == 0) region = 1;
      stop.keep_near(region);
      ASSERT_FALSE(stop.requested(region)) << "stopped by nobody";
      if (i % 5 != 4) continue;
      stop.request(region);
      ASSERT_TRUE(stop.requested(region)) << "not stopped by a request";
    }
  }
}

TEST(stop_source, STOP_3_begin_moves_the_word_only_where_it_has_fallen_behind) {
  stop_source stop;
  stop.keep_near(5);
  stop.request(5);
  stop.keep_near(5 + (1u << 30));
  EXPECT_TRUE(stop.requested(5)) << "2^30 behind has a meaning still";
  stop.keep_near(6 + (1u << 30));
  EXPECT_FALSE(stop.requested(5));
  EXPECT_TRUE(stop.requested(5 + (1u << 30))) << "one behind the region, which is over";
}

TEST(stop_source, STOP_2_a_request_wakes_the_sleepers_of_every_place) {
  stop_source stop;
  stop.keep_near(7);
  asleep first(stop);
  {
    asleep second(stop);
    stop.request(7);
    EXPECT_EQ(first.told(), 1u);
    EXPECT_EQ(second.told(), 1u);
    first.sleep();
  }
  asleep third(stop);
  stop.request(7);
  EXPECT_EQ(first.told(), 2u);
  EXPECT_EQ(third.told(), 1u);
}

TEST(stop_source, places_leave_the_list_in_any_order) {
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    stop_source stop;
    std::vector<std::unique_ptr<asleep>> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      places.push_back(std::make_unique<asleep>(stop));
    }
    for (std::uint32_t gone = 0; gone < order.size(); ++gone) {
      places[order[gone]].reset();  // told no more: else a use after the end
      for (const auto& each : places) {
        if (each) each->sleep();
      }
      stop.keep_near(gone + 1);
      stop.request(gone + 1);
      for (const auto& each : places) {
        if (each == nullptr) continue;
        EXPECT_EQ(each->told(), gone + 1);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(stop_source, STOP_1_of_requests_for_several_regions_at_once_the_last_region_stays_stopped) {
  stop_source stop;
  std::uint32_t first = 0u - 200u;
  bring_to(stop, first);
  constexpr std::size_t threads = 4;
  for (int round = 0; round < 100; ++round, first += threads) {
    if (first + threads < threads + 1) first = threads;  // 0 is no region
    stop.keep_near(first);
    lockstep::test::start_gate gate(threads);
    lockstep::test::run_threads(threads, [&](std::size_t rank) {
      gate.arrive_and_wait();
      stop.request(first + static_cast<std::uint32_t>(rank));
    });
    EXPECT_TRUE(stop.requested(first + threads - 1)) << first;
  }
}

TEST(stop_source, places_may_come_and_go_while_others_request) {
  stop_source stop;
  stop.keep_near(1);
  asleep stays(stop);
  std::atomic<bool> over{false};
  std::thread requester([&] {
    do stop.request(1);
    while (!over.load(std::memory_order_relaxed));
  });
  for (int i = 0; i < 2000; ++i) {
    const asleep one(stop), other(stop);  // told no more once removed: else a use after the end
  }
  over = true;
  requester.join();
  EXPECT_GT(stays.told(), 0u);
}

TEST(stop_source, in_a_child_the_lock_is_free_whoever_held_it) {
  stop_source stop;
  stop.keep_near(1);
  asleep place(stop);
  // The lock is the first word of the places; a thread that is gone may have held it.
  wait_word& lock = reinterpret_cast<wait_word&>(static_cast<sleeping_places&>(stop));
  const std::uint32_t is_free = lock.load(std::memory_order_relaxed);
  lock.store(1, std::memory_order_relaxed);
  stop.forget_others();
  ASSERT_EQ(lock.load(std::memory_order_relaxed), is_free) << "another word than the lock";
  const asleep other(stop);
  stop.request(1);
  EXPECT_EQ(place.told(), 1u) << "the list stays";
  EXPECT_TRUE(stop.requested(1));
}

}  // namespace
