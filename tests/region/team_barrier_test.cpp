// SPDX-License-Identifier: MIT
// tests/region/team_barrier_test.cpp -- MEET-1 to MEET-6 and RANKED-1 by flags and by the tree, at wrap-around, in regions of
// changing sizes, and when the region is stopped
#include "region/team_barrier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "region/group.hpp"
#include "support/asleep.hpp"
#include "support/effort.hpp"
#include "support/policies.hpp"
#include "support/threads.hpp"

namespace {

using lockstep::detail::cell;
using lockstep::detail::member_state;
using lockstep::detail::stop_source;
using lockstep::detail::team_barrier;
using lockstep::test::run_threads;

struct parameters {
  lockstep::test::named_policy policy;
  std::size_t size;
  std::size_t most_flags;

  bool by_tree() const { return size > most_flags; }
  friend std::ostream& operator<<(std::ostream& out, const parameters& p) {
    return out << p.policy << (p.by_tree() ? "_tree_" : "_flags_") << p.size;
  }
};

std::vector<parameters> all_parameters() {
  constexpr std::size_t usual = team_barrier::usual_most_flags;
  std::vector<parameters> all;
  for (const auto& policy : lockstep::test::all_policies()) {
    all.push_back({policy, 2, usual});
    all.push_back({policy, 2, 1});
    if (policy.policy.is_spin()) continue;  // a crowd of spinners measures the scheduler only
    const bool is_brief = lockstep::test::is_brief() && std::string(policy.name) != "default";
    all.push_back({policy, 8, 1});
    all.push_back({policy, 8, usual});
    if (is_brief) continue;
    all.push_back({policy, 3, 1});
    all.push_back({policy, 17, usual});
    for (const std::size_t size : {3u, 9u, 33u}) all.push_back({policy, size, usual});
    all.push_back({policy, 17, 64});
  }
  return all;
}

/// What participant `rank` brings to a phase: fills the cell.
struct load {
  std::uint64_t rank, phase;
};
static_assert(sizeof(load) == cell::size, "fills the cell");

void put(cell& into, const load& value) { std::memcpy(into.bytes, &value, sizeof value); }
load get(const cell& from) {
  load value;
  std::memcpy(&value, from.bytes, sizeof value);
  return value;
}

/// A barrier with its participants' private state, for region after region.
struct setting {
  stop_source stop;
  team_barrier barrier;
  std::vector<member_state> places;

  setting(const parameters& p, std::size_t most)
      : barrier(most, p.policy.policy, stop, p.most_flags), places(most) {}
  explicit setting(const parameters& p) : setting(p, p.size) {}

  /// Between regions.
  void begin(std::uint32_t region, std::size_t size, std::uint32_t phase) {
    stop.keep_near(region);
    barrier.reset(phase);
    for (std::size_t rank = 0; rank < size; ++rank) {
      places[rank] = member_state();
      places[rank].belong_to(nullptr, nullptr, rank);
      places[rank].phase = phase;
      places[rank].enter(size, region);
    }
  }

  /// One phase of a participant: how many values were not those of this phase and their ranks.
  std::size_t wrong_values_of_a_phase(member_state& self) {
    const std::uint32_t phase = self.phase + 1;
    put(barrier.value_of(self.rank(), phase), {self.rank(), phase});
    cell out = {};
    const bool complete = barrier.meet(self, out, [&](cell& into) {
      load wrong = {0, phase};
      for (std::size_t rank = 0; rank < self.size(); ++rank) {
        const load value = get(barrier.value_of(rank, phase));
        wrong.rank += value.rank != rank || value.phase != phase;
      }
      put(into, wrong);
    });
    const load wrong = get(out);
    return wrong.rank + (wrong.phase != phase) + !complete + (self.phase != phase);
  }
};

class team_barrier_of : public testing::TestWithParam<parameters> {
 protected:
  std::size_t size() const { return GetParam().size; }
  /// In brief a quarter, but enough to pass the wrap-around, which is 20 phases after the first.
  std::uint32_t phases(std::uint32_t plenty) const {
    const std::uint32_t all = GetParam().policy.policy.is_spin() ? plenty / 5
                              : size() > 9                       ? plenty / 2
                                                                 : plenty;
    return lockstep::test::is_brief() ? std::max(all / 4, std::min(all, 24u)) : all;
  }
};

INSTANTIATE_TEST_SUITE_P(kinds, team_barrier_of, testing::ValuesIn(all_parameters()),
                         testing::PrintToStringParamName());

TEST_P(team_barrier_of, RANKED_1_MEET_1_MEET_2_phases_with_and_without_values_are_of_all) {
  for (const std::uint32_t first : {0u, 0u - 20u, (1u << 31) - 20u}) {
    setting the(GetParam());
    the.begin(1, size(), first);
    std::vector<std::uint32_t> slots(size());  // plain: ordered by the barrier
    std::atomic<std::size_t> wrong{0};
    run_threads(size(), [&](std::size_t rank) {
      for (std::uint32_t step = 1; step <= phases(200); ++step) {
        slots[rank] = step;
        wrong += !the.barrier.arrive_and_wait(the.places[rank]);
        for (const std::uint32_t slot : slots) wrong += slot != step;
        // Before the slots are written again; two phases with values in a row, or none.
        if (step % 3 == 0) wrong += !the.barrier.arrive_and_wait(the.places[rank]);
        if (step % 3 != 0) wrong += the.wrong_values_of_a_phase(the.places[rank]);
        if (step % 3 == 1) wrong += the.wrong_values_of_a_phase(the.places[rank]);
      }
    });
    EXPECT_EQ(wrong.load(), 0u);
  }
}

TEST_P(team_barrier_of, MEET_4_by_the_tree_one_participant_combines_by_flags_all_do) {
  setting the(GetParam());
  the.begin(1, size(), 7);
  std::atomic<std::size_t> combined{0};
  const std::uint32_t steps = phases(50);
  run_threads(size(), [&](std::size_t rank) {
    for (std::uint32_t step = 0; step < steps; ++step) {
      cell out = {};
      the.barrier.meet(the.places[rank], out, [&](cell& into) {
        ++combined;
        put(into, {0, step});
      });
      EXPECT_EQ(get(out).phase, step);
    }
  });
  EXPECT_EQ(combined.load(), GetParam().by_tree() ? steps : steps * size());
}

TEST_P(team_barrier_of, regions_of_changing_sizes_meet_their_own_members_only) {
  constexpr std::size_t most = 35;
  setting the(GetParam(), most);
  std::uint32_t phase = 0u - 10u, region = 0;
  for (const std::size_t members :
       {size(), std::size_t{2}, size(), std::size_t{1}, size() / 2 + 1, size()}) {
    the.begin(++region, members, phase);
    std::atomic<std::size_t> wrong{0};
    run_threads(members, [&](std::size_t rank) {
      for (std::uint32_t step = 0; step < phases(40); ++step) {
        wrong += the.wrong_values_of_a_phase(the.places[rank]);
      }
    });
    EXPECT_EQ(wrong.load(), 0u) << members;
    phase = the.places[0].phase;
  }
}

TEST_P(team_barrier_of, a_region_goes_on_where_the_one_before_has_ended_without_a_reset) {
  setting the(GetParam());
  the.begin(1, size(), 0u - 3u);
  for (std::uint32_t region = 1; region <= 10; ++region) {
    the.stop.keep_near(region);
    for (member_state& each : the.places) each.enter(each.size(), region);
    std::atomic<std::size_t> wrong{0};
    run_threads(size(),
                [&](std::size_t rank) { wrong += the.wrong_values_of_a_phase(the.places[rank]); });
    EXPECT_EQ(wrong.load(), 0u) << region;
  }
}

TEST_P(team_barrier_of, a_stop_lets_go_those_who_sleep_and_the_next_region_is_as_new) {
  if (GetParam().policy.policy.is_spin()) GTEST_SKIP() << "spinners do not sleep";
  setting the(GetParam());
  for (std::uint32_t region = 1; region <= 3; ++region) {
    the.begin(region, size(), region == 1 ? 0u - 2u : 0u);
    std::vector<lockstep::test::watched_thread> watched(size());
    std::vector<int> results(size());
    run_threads(size(), [&](std::size_t rank) {
      if (rank + 1 < size()) {
        watched[rank].enter();
        cell out = {};
        results[rank] = region % 2 != 0 ? the.barrier.arrive_and_wait(the.places[rank])
                                        : the.barrier.meet(the.places[rank], out, [](cell&) {});
      } else {
        for (std::size_t other = 0; other < rank; ++other) watched[other].wait_until_asleep();
        the.stop.request(region);
        results[rank] = the.barrier.arrive_and_wait(the.places[rank]);
      }
    });
    EXPECT_EQ(results, std::vector<int>(size(), 0)) << "nobody is told that all have arrived";
  }
  the.begin(9, size(), 0u - 4u);
  std::atomic<std::size_t> wrong{0};
  run_threads(size(), [&](std::size_t rank) {
    for (int step = 0; step < 10; ++step) wrong += the.wrong_values_of_a_phase(the.places[rank]);
  });
  EXPECT_EQ(wrong.load(), 0u);
}

/// Work to which participants that wait in the barrier are called: pieces that another one has put there.
struct pieces {
  std::atomic<std::uint32_t> left{0};
  std::atomic<std::size_t> done{0};

  void take_all() {
    std::uint32_t seen = left.load(std::memory_order_acquire);
    while (seen != 0) {
      if (!left.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel)) continue;
      done.fetch_add(1, std::memory_order_relaxed);
      seen = left.load(std::memory_order_acquire);
    }
  }
};
struct helping_arrival : lockstep::detail::usual_arrival {
  static constexpr bool may_be_called = true;

  pieces& work;

  bool is_called() const noexcept { return work.left.load(std::memory_order_acquire) != 0; }
  void help() { work.take_all(); }
};

TEST_P(team_barrier_of, MEET_6_those_who_sleep_are_called_to_help_and_go_on_with_the_others) {
  if (GetParam().policy.policy.is_spin()) GTEST_SKIP() << "spinners do not sleep";
  setting the(GetParam());
  the.begin(1, size(), 0u - 2u);
  pieces work;
  std::vector<lockstep::test::watched_thread> watched(size());
  std::vector<std::uint32_t> slots(size());  // plain: ordered by the barrier
  std::atomic<std::size_t> wrong{0};
  constexpr std::uint32_t steps = 3, calls = 4;
  run_threads(size(), [&](std::size_t rank) {
    watched[rank].enter();
    for (std::uint32_t step = 1; step <= steps; ++step) {
      helping_arrival arrival{{}, work};
      if (rank + 1 == size()) {
        for (std::uint32_t call = 1; call <= calls; ++call) {
          for (std::size_t other = 0; other < rank; ++other) watched[other].wait_until_asleep();
          work.left.fetch_add(1, std::memory_order_acq_rel);
          the.barrier.wake_all();
          // Only participants that wait in the barrier do it: without a call this never ends.
          while (work.left.load(std::memory_order_acquire) != 0) std::this_thread::yield();
        }
      }
      slots[rank] = step;
      wrong += !the.barrier.arrive_and_wait(the.places[rank], arrival);
      for (const std::uint32_t slot : slots) wrong += slot != step;
      wrong += !the.barrier.arrive_and_wait(the.places[rank], arrival);
    }
  });
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(work.done.load(), steps * calls);
}

TEST_P(team_barrier_of, MEET_6_who_is_called_again_and_again_is_through_only_with_all_others) {
  setting the(GetParam());
  the.begin(1, size(), 0u - 20u);
  pieces work;
  std::vector<std::uint32_t> slots(size());  // plain: ordered by the barrier
  std::atomic<std::size_t> wrong{0};
  const std::uint32_t steps = phases(200);
  run_threads(size(), [&](std::size_t rank) {
    helping_arrival arrival{{}, work};
    for (std::uint32_t step = 1; step <= steps; ++step) {
      slots[rank] = step;
      if (step % size() == rank) {
        work.left.fetch_add(3, std::memory_order_acq_rel);
        the.barrier.wake_all();
      }
      wrong += !the.barrier.arrive_and_wait(the.places[rank], arrival);
      for (const std::uint32_t slot : slots) wrong += slot != step;
      wrong += !the.barrier.arrive_and_wait(the.places[rank], arrival);
    }
  });
  work.take_all();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(work.done.load(), 3 * steps);
}

TEST_P(team_barrier_of, MEET_6_a_stop_lets_go_those_who_may_be_called) {
  if (GetParam().policy.policy.is_spin()) GTEST_SKIP() << "spinners do not sleep";
  setting the(GetParam());
  the.begin(1, size(), 0);
  pieces work;
  std::vector<lockstep::test::watched_thread> watched(size());
  std::vector<int> results(size(), 1);
  run_threads(size(), [&](std::size_t rank) {
    helping_arrival arrival{{}, work};
    watched[rank].enter();
    if (rank + 1 == size()) {
      for (std::size_t other = 0; other < rank; ++other) watched[other].wait_until_asleep();
      the.stop.request(1);
    }
    results[rank] = the.barrier.arrive_and_wait(the.places[rank], arrival);
  });
  EXPECT_EQ(results, std::vector<int>(size(), 0));
}

TEST(team_barrier, one_participant_waits_for_nobody_until_it_is_stopped) {
  stop_source stop;
  team_barrier barrier(1, lockstep::wait_policy::block(), stop);
  member_state self;
  self.enter(1, 1);
  stop.keep_near(1);
  for (std::uint32_t phase = 1; phase <= 5; ++phase) {
    EXPECT_TRUE(barrier.arrive_and_wait(self));
    EXPECT_EQ(self.phase, phase);
  }
  stop.request(1);
  EXPECT_FALSE(barrier.arrive_and_wait(self));
}

TEST(team_barrier, leaves_the_stop_source_with_its_end) {
  stop_source stop;
  {
    team_barrier barrier(3, lockstep::wait_policy(), stop);
  }
  stop.keep_near(1);
  stop.request(1);  // tells nobody: else a use after the end
  EXPECT_TRUE(stop.requested(1));
}

}  // namespace
