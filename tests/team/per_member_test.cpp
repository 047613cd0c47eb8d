// SPDX-License-Identifier: MIT
// tests/team/per_member_test.cpp -- OWN-1 to OWN-3: which value a member finds, and what becomes of it
#include <lockstep/per_member.hpp>

#include <lockstep/team.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using lockstep::member;
using lockstep::per_member;
using lockstep::sub_team;
using lockstep::team;

static_assert(!std::is_copy_constructible<per_member<int>>::value, "values have addresses");

constexpr std::size_t sizes[] = {1, 2, 3, 9};

TEST(per_member, values_stay_with_their_ranks_from_region_to_region_OWN_1) {
  for (const std::size_t size : sizes) {
    team workers(size);
    per_member<std::size_t> counts(workers);
    EXPECT_EQ(counts.size(), size);
    for (int round = 0; round < 20; ++round) {
      workers.run([&](member& me) { counts.local(me) += me.rank() + 1; });
    }
    for (std::size_t rank = 0; rank < size; ++rank) EXPECT_EQ(counts[rank], 20 * (rank + 1));
  }
}

TEST(per_member, a_smaller_region_uses_the_values_of_its_ranks) {
  team workers(3);
  per_member<int> counts(workers);
  workers.run(2, [&](member& me) { ++counts.local(me); });
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts[2], 0);
}

TEST(per_member, a_member_of_a_sub_team_finds_the_same_value_OWN_1) {
  team workers(5);
  per_member<int> values(workers, [](std::size_t rank) { return static_cast<int>(10 * rank); });
  per_member<int> wrong(workers);
  workers.run([&](member& me) {
    int& mine = values.local(me);
    wrong.local(me) += mine != static_cast<int>(10 * me.rank());
    sub_team half = me.split(me.rank() % 2);
    wrong.local(me) += &values.local(*half) != &mine;
    sub_team first = half->first(1);
    if (first) wrong.local(me) += &values.local(*first) != &mine;
  });
  for (const int each : wrong) EXPECT_EQ(each, 0);
}

TEST(per_member, in_a_region_that_runs_alone_there_is_no_value_OWN_2) {
  team workers(3);
  per_member<int> values(workers);
  per_member<int> refused(workers);
  workers.run([&](member& me) {
    workers.run([&](member& inner) {
      try {
        ++values.local(inner);
      } catch (const std::logic_error& error) {
        const bool says_why = std::string(error.what()).find("runs alone") != std::string::npos;
        refused.local(me) += says_why ? 1 : 0;
      }
      ++values.local(me);
    });
  });
  for (const int each : values) EXPECT_EQ(each, 1);
  for (const int each : refused) EXPECT_EQ(each, 1);
}

TEST(per_member, fewer_values_than_members_are_an_error_that_names_the_rank) {
  team workers(2);
  per_member<int> one(1);
  EXPECT_THROW(workers.run([&](member& me) { one.local(me) = 1; }), std::out_of_range);
  EXPECT_EQ(one[0], 1);
  EXPECT_THROW(per_member<int>(0), std::invalid_argument);
}

TEST(per_member, combining_and_iterating_go_by_rank) {
  per_member<std::string> words(4, [](std::size_t rank) { return std::string(1, "abcd"[rank]); });
  EXPECT_EQ(words.combine([](std::string all, const std::string& each) { return all + each; }),
            "abcd");
  EXPECT_EQ(
      words.combine(std::size_t{7},
                    [](std::size_t sum, const std::string& each) { return 2 * sum + each.size(); }),
      7u * 16 + 15);
  std::string seen;
  for (std::string& each : words) seen += each + ",";
  EXPECT_EQ(seen, "a,b,c,d,");
  const per_member<std::string>& same = words;
  EXPECT_EQ(std::accumulate(same.begin(), same.end(), std::string()), "abcd");
  EXPECT_EQ(same.combine([](std::string all, const std::string&) { return all; }), "a");
}

TEST(per_member, values_may_be_move_only) {
  team workers(3);
  per_member<std::unique_ptr<int>> values(
      workers, [](std::size_t rank) { return std::make_unique<int>(static_cast<int>(rank)); });
  workers.run([&](member& me) { *values.local(me) += 1; });
  EXPECT_EQ(
      values.combine(0, [](int sum, const std::unique_ptr<int>& each) { return sum + *each; }), 6);
}

template <std::size_t Alignment>
struct alignas(Alignment) aligned {
  unsigned char byte = 7;
};
template <std::size_t Alignment>
void expect_own_lines() {
  per_member<aligned<Alignment>> values(3);
  std::uintptr_t before = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(values[rank].byte, 7);
    const auto address = reinterpret_cast<std::uintptr_t>(&values[rank]);
    EXPECT_EQ(address % Alignment, 0u) << Alignment;
    EXPECT_EQ(address % lockstep::detail::cache_line_size, 0u);
    if (rank > 0) {
      EXPECT_GE(address - before, lockstep::detail::cache_line_size);
    }
    before = address;
  }
}
TEST(per_member, values_lie_on_lines_of_their_own_at_any_alignment) {
  expect_own_lines<1>();
  expect_own_lines<64>();
  expect_own_lines<1024>();
}

/// Counts the living objects. The third one cannot be made.
struct counted {
  static int alive;
  static int refused_at;
  explicit counted(int) {
    if (alive == refused_at) throw std::runtime_error("no more");
    ++alive;
  }
  counted(const counted&) : counted(0) {}
  ~counted() { --alive; }
};
int counted::alive = 0;
int counted::refused_at = -1;

TEST(per_member, where_a_value_cannot_be_made_those_before_are_destroyed) {
  counted::refused_at = 2;
  const auto make = [](std::size_t) { return counted(0); };
  EXPECT_THROW(per_member<counted>(4, make), std::runtime_error);
  EXPECT_EQ(counted::alive, 0);
  counted::refused_at = -1;
  {
    const counted original(0);
    const per_member<counted> copies(4, original);
    EXPECT_EQ(counted::alive, 5);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(per_member, its_values_outlive_the_team_and_a_region_that_was_stopped) {
  per_member<int> values(3);
  {
    team workers(3);
    EXPECT_THROW(workers.run([&](member& me) {
      values.local(me) = 1;
      if (me.rank() == 1) throw std::runtime_error("the end");
      me.sync_threads();
    }),
                 std::runtime_error);
  }
  EXPECT_EQ(values.combine([](int a, int b) { return a + b; }), 3);
}

}  // namespace
