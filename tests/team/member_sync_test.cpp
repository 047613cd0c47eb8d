// SPDX-License-Identifier: MIT
// tests/team/member_sync_test.cpp -- all wait for all, with values: sync_* and broadcast (MEMBER-2, MEET-1 to MEET-4)
#include <lockstep/member.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/team.hpp>

#include "region/team_barrier.hpp"
#include "support/team_sizes.hpp"

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::test::dawdle;
using lockstep::test::effort;

static_assert(!std::is_copy_constructible<member>::value, "a member is used by itself alone");
static_assert(sizeof(lockstep::detail::cell) == 16, "values up to 16 bytes travel in cells");

class member_sync : public lockstep::test::each_team {};
INSTANTIATE_TEST_SUITE_P(teams, member_sync, testing::ValuesIn(lockstep::test::all_teams()),
                         lockstep::test::team_name);

template <std::size_t Size>
using bytes = std::array<unsigned char, Size>;

template <std::size_t Size>
bytes<Size> value_of(std::size_t rank, std::size_t step) {
  bytes<Size> all;
  for (std::size_t i = 0; i < Size; ++i) {
    all[i] = static_cast<unsigned char>(7 * rank + 13 * step + 31 * i + 1);
  }
  return all;
}

/// Neither commutative nor associative: right only as the left fold in the order of ranks.
struct mix {
  template <std::size_t Size>
  bytes<Size> operator()(const bytes<Size>& a, const bytes<Size>& b) const {
    bytes<Size> all;
    for (std::size_t i = 0; i < Size; ++i) all[i] = static_cast<unsigned char>(3 * a[i] + b[i]);
    return all;
  }
};

/// How many of the steps gave this member a wrong value.
template <std::size_t Size>
int wrong_reductions(member& self, std::size_t steps) {
  int wrong = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    dawdle(self.rank(), step);
    bytes<Size> expected = value_of<Size>(0, step);
    for (std::size_t rank = 1; rank < self.size(); ++rank) {
      expected = mix()(expected, value_of<Size>(rank, step));
    }
    // A slow reader: a value that is overwritten before all have read it is wrong here.
    const auto slowly = [&](const bytes<Size>& a, const bytes<Size>& b) {
      dawdle(self.rank(), step);
      return mix()(a, b);
    };
    wrong += self.sync_reduce(value_of<Size>(self.rank(), step), slowly) != expected;
  }
  return wrong;
}

template <std::size_t... Before>
int wrong_reductions_of_all_sizes(member& self, std::size_t steps, std::index_sequence<Before...>) {
  return (0 + ... + wrong_reductions<Before + 1>(self, steps));
}

TEST_P(member_sync, MEET_1_values_of_any_size_are_combined_by_rank_and_none_is_overwritten_early) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  const std::size_t steps = is_slow() ? 1 : effort(std::size_t{24});
  workers.run([&](member& self) {
    if (is_slow()) {
      wrong += wrong_reductions<16>(self, 1);
    } else {
      wrong += wrong_reductions_of_all_sizes(self, steps, std::make_index_sequence<16>());
    }
    wrong += wrong_reductions<24>(self, steps);
    wrong += wrong_reductions<100>(self, steps);
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, MEET_1_many_phases_in_a_row_with_readers_of_different_speed) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  const auto steps = static_cast<std::size_t>(times(500));
  workers.run([&](member& self) { wrong += wrong_reductions<8>(self, steps); });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, strings_are_joined_in_the_order_of_ranks) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (int step = 0; step < times(100); ++step) {
      const auto text = [&](std::size_t rank) {
        return std::to_string(rank) + " was here in step " + std::to_string(step) + "; ";
      };
      std::string expected;
      for (std::size_t rank = 0; rank < self.size(); ++rank) expected += text(rank);
      const auto join = [&](const std::string& a, const std::string& b) {
        dawdle(self.rank(), static_cast<std::size_t>(step));
        return a + b;
      };
      wrong += self.sync_reduce(text(self.rank()), join) != expected;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, min_max_count_and_or_see_the_values_of_all_members) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    const std::size_t size = self.size();
    for (std::size_t step = 0; step < static_cast<std::size_t>(times(60)); ++step) {
      const std::size_t odd_one = step % size;
      const bool is_it = self.rank() == odd_one;
      wrong += self.sync_min(is_it ? -5 : static_cast<int>(self.rank())) != -5;
      wrong += self.sync_max(is_it ? 1e9 : static_cast<double>(self.rank())) != 1e9;
      wrong += self.sync_count(self.rank() <= odd_one) != odd_one + 1;
      wrong += self.sync_and(!is_it);
      wrong += !self.sync_and(true);
      wrong += !self.sync_or(is_it);
      wrong += self.sync_or(false);
      wrong += self.sync_sum<short>(2) != static_cast<short>(2 * size);
      wrong += self.sync_sum(std::string("x")) != std::string(size, 'x');
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, MEET_4_the_operation_is_called_size_minus_one_times_for_each_result) {
  team workers(members(), policy());
  std::vector<std::size_t> calls(members(), 0);  // plain: each member its own
  workers.run([&](member& self) {
    const auto add = [&](int a, int b) {
      ++calls[self.rank()];
      return a + b;
    };
    EXPECT_EQ(self.sync_reduce(1, add), static_cast<int>(self.size()));
  });
  std::size_t all = 0;
  for (const std::size_t each : calls) all += each;
  const bool by_flags = members() <= lockstep::detail::team_barrier::usual_most_flags;
  EXPECT_EQ(all, (by_flags ? members() : 1) * (members() - 1));
}

TEST_P(member_sync, MEMBER_2_plain_writes_before_a_value_is_given_are_seen_after_it_is_taken) {
  team workers(members(), policy());
  std::vector<long> slots(members(), 0);  // plain
  std::atomic<long> wrong{0};
  workers.run([&](member& self) {
    const auto all_are = [&](long step) {
      for (const long slot : slots) wrong += slot != step;
    };
    for (long step = 1; step <= times(100); ++step) {
      slots[self.rank()] = 2 * step;
      self.sync_sum(1);
      all_are(2 * step);
      self.broadcast(self.size() - 1, step);
      slots[self.rank()] = 2 * step + 1;
      self.sync_or(true);
      all_are(2 * step + 1);
      self.sync_sum(std::string("as long as it does not fit in a cell"));
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, broadcast_gives_every_member_the_value_of_each_root) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    for (std::size_t step = 0; step < static_cast<std::size_t>(times(40)); ++step) {
      for (std::size_t root = 0; root < self.size(); root += is_slow() ? 4 : 1) {
        dawdle(self.rank(), step + root);
        wrong += self.broadcast(root, 1000 * step + self.rank()) != 1000 * step + root;
        wrong +=
            self.broadcast(root, std::to_string(step) + " from " + std::to_string(self.rank())) !=
            std::to_string(step) + " from " + std::to_string(root);
        wrong += self.broadcast(root, value_of<16>(self.rank(), step)) != value_of<16>(root, step);
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, broadcast_and_wait_for_refuse_a_rank_that_is_not_there) {
  team workers(members(), policy());
  std::atomic<std::size_t> refused{0};
  workers.run([&](member& self) {
    try {
      self.broadcast(self.size(), 1);
    } catch (const std::out_of_range&) {
      ++refused;
    }
    try {
      self.await_step(self.size(), 1);
    } catch (const std::out_of_range&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused.load(), 2 * members());
}

TEST_P(member_sync, values_and_plain_phases_may_follow_each_other_in_any_order) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  workers.run([&](member& self) {
    std::uint32_t chosen = 1;
    for (int step = 0; step < times(300); ++step) {
      chosen = chosen * 1664525u + 1013904223u;  // the same on all members
      switch (chosen >> 30) {
        case 0: wrong += !self.sync_threads(); break;
        case 1:
          wrong += self.sync_sum(self.rank() + 1) != self.size() * (self.size() + 1) / 2;
          break;
        case 2:
          wrong += self.broadcast(chosen % self.size(), self.rank()) != chosen % self.size();
          break;
        default: wrong += self.sync_sum(std::string(20, 'a')).size() != 20 * self.size(); break;
      }
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST_P(member_sync, GROUP_1_members_that_stood_still_come_back_in_step_across_both_barriers) {
  team workers(members(), policy());
  std::atomic<int> wrong{0};
  std::vector<int> visits(40, 0);
  std::uint32_t chosen = 7;
  for (int region = 0; region < (is_slow() ? 4 : 3 * times(40)); ++region) {
    chosen = chosen * 1664525u + 1013904223u;
    const std::size_t k = 1 + (chosen >> 16) % members();
    std::fill(visits.begin(), visits.end(), 0);
    workers.run(k, [&](member& self) {
      wrong += self.size() != k;
      for (int phase = 0; phase < 1 + region % 3; ++phase) {
        wrong += self.sync_sum(self.rank() + 1) != k * (k + 1) / 2;
      }
      self.for_each(
          0, visits.size(), [&](std::size_t i) { ++visits[i]; }, lockstep::dynamic_schedule(3));
      for (const int each : visits) wrong += each != 1;
      wrong += self.broadcast(k - 1, std::string(30, 'b')) != std::string(30, 'b');
    });
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
