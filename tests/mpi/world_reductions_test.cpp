// SPDX-License-Identifier: MIT
// tests/mpi/world_reductions_test.cpp -- ranges reduced over ranks: the same bits for every split (WREDUCE-1 to WREDUCE-3)
#include <gtest/gtest.h>
#include <lockstep/mpi.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mpi/layouts.hpp"

using lockstep::index_range;
using lockstep::member;
using lockstep::schedule;
using lockstep::team;
using lockstep::mpi::world;
using lockstep::test::layout;

namespace {

class world_reductions : public lockstep::test::ranks_and_members {};

// Nine members meet by a tree, fewer by flags.
INSTANTIATE_TEST_SUITE_P(layouts, world_reductions,
                         testing::Values(layout{0, 1}, layout{0, 2}, layout{0, 4}, layout{1, 2},
                                         layout{2, 1}, layout{2, 9}),
                         lockstep::test::text_of);

const std::size_t lengths[] = {0, 1, 2, 3, 7, 100, 128, 129, 1000, 8193, 20'011};

std::vector<schedule> schedules() {
  return {lockstep::static_schedule(), lockstep::static_schedule(3), lockstep::dynamic_schedule(2),
          lockstep::guided_schedule()};
}

template <class Type>
bool same(const Type& a, const Type& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Its sums depend on every bracket.
double term(std::size_t i) { return (i % 3 == 0 ? -7.0 : 1.0) / (1.0 + static_cast<double>(i)); }
double plus(double a, double b) { return a + b; }

/// op neither commutes nor is associative: each order and each bracket gives a value of its own.
template <std::size_t Words>
struct mixed {
  std::uint64_t words[Words];
};
template <std::size_t Words>
mixed<Words> mix(const mixed<Words>& a, const mixed<Words>& b) {
  mixed<Words> both;
  for (std::size_t k = 0; k < Words; ++k) {
    const std::uint64_t z = a.words[k] * 0x9e3779b97f4a7c15u +
                            (b.words[(k + 1) % Words] ^ 0x51edu) * 0xbf58476d1ce4e5b9u;
    both.words[k] = z ^ (z >> 29);
  }
  return both;
}
template <std::size_t Words>
mixed<Words> numbered(std::size_t i) {
  mixed<Words> value;
  for (std::size_t k = 0; k < Words; ++k) value.words[k] = i * 31 + k;
  return value;
}

/// What reduce(me) gives member 0.
template <class Reduce>
auto in_region(world& ranks, team& members, const Reduce& reduce) {
  std::optional<decltype(reduce(std::declval<member&>()))> result;
  ranks.run(members, [&](member& me) {
    const auto whole = reduce(me);
    if (me.rank() == 0) result = whole;
  });
  return *result;
}

TEST_P(world_reductions, sums_have_the_bits_of_one_process) {
  team alone(1);
  for (const std::size_t n : lengths) {
    const double wanted = alone.reduce_each(std::size_t{0}, n, 0.25, term, plus);
    for (const schedule how : schedules()) {
      std::atomic<int> wrong{0};
      ranks.run(members, [&](member& me) {
        wrong += !same(ranks.reduce_each(me, std::size_t{0}, n, 0.25, term, plus, how), wanted);
        const double by_ranges = ranks.reduce_range(
            me, std::size_t{0}, n, 0.25,
            [](std::size_t first, std::size_t last) {
              double sum = term(first);
              for (std::size_t i = first + 1; i < last; ++i) sum += term(i);
              return sum;
            },
            plus, how);
        wrong += !same(by_ranges, wanted);
      });
      EXPECT_EQ(wrong, 0) << n;
    }
  }
}

std::vector<double> rows_of(std::size_t first, std::size_t last) {
  std::vector<double> rows;
  for (; first < last; ++first) rows.push_back(term(first));
  return rows;
}

TEST_P(world_reductions, a_rank_keeps_its_part_as_on_the_page) {
  world& world = ranks;
  team &team = members, alone(1);
  const std::size_t n = 1000;
  const double wanted = alone.reduce_each(std::size_t{0}, n, 0.0, term, std::plus<double>());
  // [reductions]
  const lockstep::index_range part = world.part_of(n);           // what this rank is asked for
  const std::vector<double> x = rows_of(part.first, part.last);  // so it keeps these
  world.run(team, [&](lockstep::member& me) {
    const double sum = world.reduce_each(
        me, std::size_t{0}, n, 0.0, [&](std::size_t i) { return x[i - part.first]; },
        std::plus<double>());
    // [/reductions]
    EXPECT_TRUE(same(sum, wanted));
    // [reductions]
  });
  // [/reductions]
}

template <std::size_t Words>
void expect_bits(world& ranks, team& members) {
  team alone(1);
  const mixed<Words> init = numbered<Words>(12345);
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{5}, std::size_t{100}, std::size_t{1000}}) {
    const auto wanted = alone.reduce_each(std::size_t{0}, n, init, numbered<Words>, mix<Words>);
    for (const schedule how : {lockstep::static_schedule(), lockstep::dynamic_schedule()}) {
      std::atomic<int> wrong{0};
      ranks.run(members, [&](member& me) {
        for (int turn = 0; turn < 3; ++turn) {
          wrong += !same(
              ranks.reduce_each(me, std::size_t{0}, n, init, numbered<Words>, mix<Words>, how),
              wanted);
        }
      });
      EXPECT_EQ(wrong, 0) << n << " of " << Words << " words";
    }
  }
}

TEST_P(world_reductions, values_of_any_size_are_combined_in_order_along_one_tree) {
  expect_bits<1>(ranks, members);
  expect_bits<2>(ranks, members);
  expect_bits<3>(ranks, members);
  expect_bits<56>(ranks, members);  // 448 bytes: the largest
}

TEST_P(world_reductions, WREDUCE_1_each_index_is_asked_for_once_by_the_rank_that_has_it) {
  for (const std::size_t n : lengths) {
    for (const schedule how : schedules()) {
      const index_range mine = ranks.part_of(n);
      std::unique_ptr<std::atomic<int>[]> calls(new std::atomic<int>[n + 1]());
      const std::size_t sum = in_region(ranks, members, [&](member& me) {
        return ranks.reduce_each(
            me, std::size_t{0}, n, std::size_t{0},
            [&](std::size_t i) {
              ++calls[i];
              return i + 1;
            },
            [](std::size_t a, std::size_t b) { return a + b; }, how);
      });
      EXPECT_EQ(sum, n * (n + 1) / 2);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(calls[i], mine.first <= i && i < mine.last ? 1 : 0) << i << " of " << n;
      }
    }
    std::size_t next = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      EXPECT_EQ(ranks.part_of(n, rank).first, next);
      next = ranks.part_of(n, rank).last;
    }
    EXPECT_EQ(next, n);
  }
}

TEST_P(world_reductions, ranges_of_signed_numbers_and_pointers) {
  std::vector<double> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = term(i);
  team alone(1);
  const double wanted = alone.reduce_each(std::size_t{0}, x.size(), 0.0, term, plus);
  const double by_pointer = in_region(ranks, members, [&](member& me) {
    return ranks.reduce_range(
        me, x.data(), x.data() + x.size(), 0.0,
        [](const double* first, const double* last) {
          return std::accumulate(first + 1, last, *first);
        },
        plus);
  });
  EXPECT_TRUE(same(by_pointer, wanted));
  for (const int first : {-50, 5}) {  // the second range is empty
    const int sum = in_region(ranks, members, [&](member& me) {
      return ranks.reduce_each(
          me, first, first < 0 ? 51 : -5, 7, [](int i) { return i; },
          [](int a, int b) { return a + b; });
    });
    EXPECT_EQ(sum, 7);
  }
}

TEST_P(world_reductions, WREDUCE_3_sees_what_loops_without_a_wait_wrote) {
  const std::size_t n = 1000;
  const index_range mine = ranks.part_of(n);
  std::vector<std::size_t> x(n, 0);
  std::atomic<int> wrong{0};
  ranks.run(members, [&](member& me) {
    for (std::size_t turn = 1; turn <= 20; ++turn) {
      me.for_range(lockstep::nowait, mine.first, mine.last,
                   [&](std::size_t first, std::size_t last) {
                     for (std::size_t i = first; i < last; ++i) x[i] = turn * i;
                   });
      // In the other direction: what a member reads, another has written.
      const std::size_t sum = ranks.reduce_each(
          me, std::size_t{0}, n, std::size_t{0},
          [&](std::size_t i) { return x[mine.first + (mine.last - 1 - i)]; },
          [](std::size_t a, std::size_t b) { return a + b; });
      wrong += sum != turn * (n * (n - 1) / 2);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(world_reductions, WREDUCE_2_what_f_and_op_throw_ends_the_region_on_all_ranks) {
  const std::size_t n = 100;
  const std::size_t bad = ranks.part_of(n, ranks.size() - 1).first;
  EXPECT_THROW(ranks.run(members,
                         [&](member& me) {
                           ranks.reduce_each(
                               me, std::size_t{0}, n, 0.0,
                               [&](std::size_t i) {
                                 return i == bad ? throw std::runtime_error("no") : 1.0;
                               },
                               plus);
                         }),
               std::runtime_error);
  EXPECT_EQ(ranks.ended_by(), ranks.size() - 1);
  // The root, which no rank but a single one has: combined where ranks meet.
  EXPECT_THROW(ranks.run(members,
                         [&](member& me) {
                           ranks.reduce_each(
                               me, std::size_t{0}, n, std::size_t{0},
                               [](std::size_t) { return std::size_t{1}; },
                               [&](std::size_t a, std::size_t b) {
                                 return a + b == n ? throw std::runtime_error("no") : a + b;
                               });
                         }),
               std::runtime_error);
  EXPECT_EQ(ranks.sync_sum(1), static_cast<int>(ranks.size())) << "the world goes on";
}

TEST_P(world_reductions, ranges_of_different_lengths_are_refused_on_all_ranks) {
  if (ranks.size() == 1) return;
  const std::size_t n = ranks.rank() == 0 ? 90 : 100;
  std::string said;
  try {
    ranks.run(members,
              [&](member& me) { ranks.reduce_each(me, std::size_t{0}, n, 0.0, term, plus); });
  } catch (const std::invalid_argument& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("different lengths"), std::string::npos) << said;
  ranks.sync();
}

TEST_P(world_reductions, a_stop_ends_a_reduction_on_all_ranks) {
  int turns = 0;
  const bool is_complete = ranks.run(members, [&](member& me) {
    for (;;) {
      ranks.reduce_each(me, std::size_t{0}, std::size_t{1000}, 0.0, term, plus);
      if (me.rank() == 0 && ++turns == 3 && ranks.rank() == ranks.size() - 1) me.request_stop();
    }
  });
  EXPECT_FALSE(is_complete);
  EXPECT_EQ(ranks.ended_by(), ranks.size() - 1);
  EXPECT_LE(turns, 4);
}

TEST_P(world_reductions, outside_of_a_region_of_the_world_it_is_refused) {
  EXPECT_THROW(members.run([&](member& me) {
    ranks.reduce_each(me, 0, 10, 0, [](int i) { return i; }, std::plus<int>());
  }),
               std::logic_error);
}

}  // namespace
