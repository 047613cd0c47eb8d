// SPDX-License-Identifier: MIT
// tests/region/stop_source_test.cpp -- STOP-1 to STOP-3: which region a request ends, and who is told
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

using lockstep::detail::stop_source;

/// Counts how often its sleepers are told.
class counting_place final : public lockstep::detail::stoppable {
 public:
  explicit counting_place(const stop_source& of, std::uint32_t region = 0)
      : of_(of), region_(region) {}

  void notify_all_sleepers() override {
    told_.fetch_add(1, std::memory_order_relaxed);
    if (region_ != 0 && !of_.requested(region_)) early_.fetch_add(1, std::memory_order_relaxed);
  }
  int told() const noexcept { return told_.load(std::memory_order_relaxed); }
  /// How often it was told while the region that it looks at was not stopped yet.
  int early() const noexcept { return early_.load(std::memory_order_relaxed); }

 private:
  const stop_source& of_;
  const std::uint32_t region_;
  std::atomic<int> told_{0};
  std::atomic<int> early_{0};
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
      EXPECT_FALSE(stop.requested_relaxed(region));
      if (region % 3 != 0) continue;
      stop.request(region);
      EXPECT_TRUE(stop.requested(region));
      EXPECT_TRUE(stop.requested_relaxed(region));
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

TEST(stop_source, STOP_2_a_request_tells_every_place_in_the_list_after_its_change) {
  stop_source stop;
  stop.keep_near(7);
  counting_place first(stop, 7), second(stop, 7), third(stop, 7);
  stop.add(first);
  stop.add(second);
  stop.request(7);
  EXPECT_EQ(first.told(), 1);
  EXPECT_EQ(second.told(), 1);
  EXPECT_EQ(third.told(), 0) << "not in the list";
  stop.add(third);
  stop.remove(first);
  stop.request(7);
  EXPECT_EQ(first.told(), 1) << "not in the list any more";
  EXPECT_EQ(second.told(), 2);
  EXPECT_EQ(third.told(), 1);
  EXPECT_EQ(first.early() + second.early() + third.early(), 0);
}

TEST(stop_source, places_leave_the_list_in_any_order) {
  std::vector<std::size_t> order = {0, 1, 2, 3};
  do {
    stop_source stop;
    std::vector<std::unique_ptr<counting_place>> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      places.push_back(std::make_unique<counting_place>(stop));
      stop.add(*places[i]);
    }
    for (std::uint32_t gone = 0; gone < order.size(); ++gone) {
      stop.remove(*places[order[gone]]);
      stop.keep_near(gone + 1);
      stop.request(gone + 1);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(places[order[i]]->told(), static_cast<int>(i));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(stop_source, what_comes_before_a_request_is_seen_by_who_finds_the_region_stopped) {
  for (std::uint32_t region = 1; region <= 300; ++region) {
    stop_source stop;
    stop.keep_near(region);
    std::uint32_t plain = 0;
    std::thread other([&] {
      plain = region;
      stop.request(region);
    });
    while (!stop.requested(region)) std::this_thread::yield();
    EXPECT_EQ(plain, region);
    other.join();
  }
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
  counting_place stays(stop, 1);
  stop.add(stays);
  std::atomic<bool> over{false};
  std::thread requester([&] {
    do stop.request(1);
    while (!over.load(std::memory_order_relaxed));
  });
  for (int i = 0; i < 2000; ++i) {
    counting_place one(stop), other(stop);  // told no more once removed: else a use after the end
    stop.add(one);
    stop.add(other);
    stop.remove(one);
    stop.remove(other);
  }
  over = true;
  requester.join();
  EXPECT_GT(stays.told(), 0);
  EXPECT_EQ(stays.early(), 0);
}

TEST(stop_source, in_a_child_the_lock_is_free_whoever_held_it) {
  // A place that is told holds the lock meanwhile, as a thread that is gone may have.
  struct forgetting final : lockstep::detail::stoppable {
    stop_source& of;
    counting_place other;
    explicit forgetting(stop_source& stop) : of(stop), other(stop) {}
    void notify_all_sleepers() override {
      of.forget_others();
      of.add(other);  // takes the lock
      of.remove(other);
      was_told = true;
    }
    bool was_told = false;
  };
  stop_source stop;
  stop.keep_near(1);
  forgetting place(stop);
  stop.add(place);
  stop.request(1);
  EXPECT_TRUE(place.was_told);
  EXPECT_TRUE(stop.requested(1)) << "what was requested stays so";
}

}  // namespace
