// SPDX-License-Identifier: MIT
// tests/mpi/world_test.cpp -- regions of all ranks: what members of all ranks do together, and how they end
#include <gtest/gtest.h>
#include <lockstep/mpi.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/layouts.hpp"

using lockstep::member;
using lockstep::team;
using lockstep::mpi::rank_failed;
using lockstep::mpi::world;
using lockstep::test::layout;

namespace {

class world_of : public lockstep::test::ranks_and_members {};

INSTANTIATE_TEST_SUITE_P(layouts, world_of,
                         testing::Values(layout{0, 1}, layout{0, 2}, layout{0, 4}, layout{1, 2},
                                         layout{2, 1}, layout{2, 4}, layout{3, 1}, layout{0, 12},
                                         layout{2, 9}, layout{3, 4}),
                         lockstep::test::text_of);

/// Larger than a cell, smaller than a line.
struct triple {
  double sum, least, most;
};
triple both(const triple& a, const triple& b) {
  return {a.sum + b.sum, b.least < a.least ? b.least : a.least, a.most < b.most ? b.most : a.most};
}

/// op is associative, and does not commute: a composed with b. As 2x2 matrices of numbers below 2^32.
struct matrix {
  std::uint32_t a, b, c, d;
};
matrix product(const matrix& x, const matrix& y) {
  return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
          x.c * y.b + x.d * y.d};
}
matrix numbered(std::size_t i) {
  return {1, static_cast<std::uint32_t>(i + 2), static_cast<std::uint32_t>(3 * i + 1), 5};
}

/// Sits in a place that is not small: goes through the boards' large slots.
struct large {
  std::uint64_t words[300];
};

TEST_P(world_of, has_the_ranks_of_the_communicator) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(ranks.rank(), static_cast<std::size_t>(rank));
  EXPECT_EQ(ranks.size(), static_cast<std::size_t>(size));
  const std::size_t width =
      GetParam().ranks_per_node == 0 ? ranks.size() : GetParam().ranks_per_node;
  EXPECT_EQ(ranks.nodes(), (ranks.size() + width - 1) / width);
  EXPECT_EQ(ranks.node_rank(), ranks.rank() % width);
}

TEST_P(world_of, RANKS2_a_construct_waits_for_all_members_of_all_ranks) {
  // Each writes into a window that all see, and all look at all of it after a meeting.
  MPI_Win window = MPI_WIN_NULL;
  std::uint32_t* memory = nullptr;
  const MPI_Aint bytes =
      ranks.rank() == 0 ? static_cast<MPI_Aint>(all() * sizeof(std::uint32_t)) : 0;
  MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  std::atomic<int> wrong{0};
  for (std::uint32_t region = 1; region <= 3; ++region) {
    ranks.run(members, [&](member& me) {
      for (std::uint32_t turn = 1; turn <= 20; ++turn) {
        const std::size_t mine = ranks.rank() * me.size() + me.rank();
        memory[mine] = region * 100 + turn;
        ranks.sync_threads(me);
        for (std::size_t i = 0; i < all(); ++i) wrong += memory[i] != region * 100 + turn;
        ranks.sync_threads(me);
      }
    });
  }
  EXPECT_EQ(wrong, 0);
  MPI_Win_free(&window);
}

TEST_P(world_of, RANKS4_values_are_combined_in_the_order_of_ranks_and_members) {
  matrix wanted = numbered(0);
  for (std::size_t i = 1; i < all(); ++i) wanted = product(wanted, numbered(i));
  std::atomic<int> wrong{0};
  ranks.run(members, [&](member& me) {
    for (int turn = 0; turn < 20; ++turn) {
      const matrix found =
          ranks.sync_reduce(me, numbered(ranks.rank() * me.size() + me.rank()), product);
      wrong += std::memcmp(&found, &wanted, sizeof found) != 0;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(world_of, sums_least_and_greatest_values_and_counts) {
  std::atomic<int> wrong{0};
  const double count = static_cast<double>(all());
  EXPECT_TRUE(ranks.run(members, [&](member& me) {
    const std::size_t i = ranks.rank() * me.size() + me.rank();
    wrong += ranks.sync_sum(me, static_cast<double>(i)) != count * (count - 1) / 2;
    wrong += ranks.sync_min(me, i + 7) != 7;
    wrong += ranks.sync_max(me, i) != all() - 1;
    wrong += ranks.sync_count(me, i % 2 == 0) != (all() + 1) / 2;
    wrong += ranks.sync_and(me, true) != true;
    wrong += ranks.sync_and(me, i != all() - 1) != false;
    wrong += ranks.sync_or(me, i == all() - 1) != true;
    wrong += ranks.sync_or(me, false) != false;
    const triple whole =
        ranks.sync_reduce(me, triple{1, static_cast<double>(i), static_cast<double>(i)}, both);
    wrong += whole.sum != count || whole.least != 0 || whole.most != count - 1;
    large words = {};
    for (std::size_t k = 0; k < 300; ++k) words.words[k] = i + k;
    const large sums = ranks.sync_reduce(me, words, [](const large& a, const large& b) {
      large sum;
      for (std::size_t k = 0; k < 300; ++k) sum.words[k] = a.words[k] + b.words[k];
      return sum;
    });
    for (std::size_t k = 0; k < 300; ++k)
      wrong += sums.words[k] != all() * (all() - 1) / 2 + all() * k;
  }));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(ranks.ended_by(), ranks.size());
}

TEST_P(world_of, broadcast_gives_the_value_of_each_root) {
  std::atomic<int> wrong{0};
  ranks.run(members, [&](member& me) {
    for (std::size_t root = 0; root < ranks.size(); ++root) {
      wrong += ranks.broadcast(me, root, ranks.rank() * 10) != root * 10;
      const triple found =
          ranks.broadcast(me, root, triple{static_cast<double>(ranks.rank()), 1, 2});
      wrong += found.sum != static_cast<double>(root) || found.most != 2;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(world_of, one_thread_of_each_rank_meets_the_others_between_regions) {
  for (int turn = 0; turn < 10; ++turn) {
    ranks.sync();
    EXPECT_EQ(ranks.sync_sum(ranks.rank() + 1), ranks.size() * (ranks.size() + 1) / 2);
    EXPECT_EQ(ranks.sync_min(ranks.rank() + 3), 3u);
    EXPECT_EQ(ranks.sync_max(ranks.rank()), ranks.size() - 1);
    EXPECT_EQ(ranks.broadcast(ranks.size() - 1, ranks.rank()), ranks.size() - 1);
    ranks.run(members, [](member&) {});
  }
}

TEST_P(world_of, RANKS3_a_stop_on_one_rank_ends_the_region_on_all) {
  for (std::size_t who = 0; who < ranks.size(); ++who) {
    for (const std::size_t member_who : {std::size_t{0}, members.size() - 1}) {
      std::atomic<int> turns{0};
      const bool is_complete = ranks.run(members, [&](member& me) {
        for (int turn = 0;; ++turn) {
          if (ranks.rank() == who && me.rank() == member_who && turn == 5) me.request_stop();
          ranks.sync_threads(me);
          if (me.rank() == 0) ++turns;
        }
      });
      EXPECT_FALSE(is_complete);
      EXPECT_EQ(ranks.ended_by(), who);
      EXPECT_LE(turns, 6);
    }
  }
  EXPECT_EQ(ranks.sync_sum(1), static_cast<int>(ranks.size())) << "the world goes on";
}

TEST_P(world_of, RANKS3_a_stop_ends_also_ranks_that_are_at_the_end_already) {
  const bool is_complete = ranks.run(members, [&](member& me) {
    if (ranks.rank() == ranks.size() - 1 && me.rank() == 0) me.request_stop();
  });
  EXPECT_FALSE(is_complete);
  EXPECT_EQ(ranks.ended_by(), ranks.size() - 1);
}

TEST_P(world_of, RANKS3_an_exception_on_one_rank_ends_the_region_on_all_which_name_it) {
  for (std::size_t who = 0; who < ranks.size(); ++who) {
    std::string said;
    try {
      ranks.run(members, [&](member& me) {
        for (int turn = 0;; ++turn) {
          if (ranks.rank() == who && me.rank() == members.size() - 1 && turn == 3)
            throw std::runtime_error("mine");
          ranks.sync_sum(me, 1);
        }
      });
    } catch (const rank_failed& error) {
      EXPECT_EQ(error.rank(), who);
      said = "theirs";
    } catch (const std::runtime_error& error) {
      said = error.what();
    }
    EXPECT_EQ(said, ranks.rank() == who ? "mine" : "theirs");
    EXPECT_EQ(ranks.ended_by(), who);
    ranks.sync();
  }
}

TEST_P(world_of, RANKS1_ranks_that_do_different_things_are_told) {
  if (ranks.size() == 1) return;
  const auto said_by = [&](auto part) -> std::string {
    try {
      ranks.run(members, part);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "nothing";
  };
  const bool odd = ranks.rank() == ranks.size() - 1;
  EXPECT_NE(said_by([&](member& me) {
              odd ? void(ranks.sync_sum(me, 1)) : void(ranks.sync_max(me, 1));
            }).find("sync_sum"),
            std::string::npos);
  EXPECT_NE(said_by([&](member& me) {
              odd ? void(ranks.sync_sum(me, 1)) : void(ranks.sync_sum(me, 1.0));
            }).find("8 bytes"),
            std::string::npos);
  EXPECT_NE(said_by([&](member& me) {
              if (!odd) ranks.sync_threads(me);
            }).find("the end of its region"),
            std::string::npos);
  EXPECT_NE(said_by([&](member& me) { ranks.broadcast(me, odd ? 1 : 0, 1); }).find("argument 1"),
            std::string::npos);
  ranks.sync();
}

TEST_P(world_of, a_rank_beyond_the_world_is_refused) {
  EXPECT_THROW(ranks.broadcast(ranks.size(), 1), std::out_of_range);
  EXPECT_THROW(ranks.run(members, [&](member& me) { ranks.broadcast(me, ranks.size(), 1); }),
               std::out_of_range);
}

TEST_P(world_of, calls_in_the_wrong_place_are_refused_and_say_what_to_do) {
  std::string said;
  try {
    members.run([&](member& me) { ranks.sync_threads(me); });
  } catch (const std::logic_error& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("world.run"), std::string::npos) << said;
  std::atomic<int> refused{0};
  ranks.run(members, [&](member& me) {
    me.masked([&] {
      try {
        ranks.sync();
      } catch (const std::logic_error&) {
        ++refused;
      }
      try {
        ranks.run(members, [](member&) {});
      } catch (const std::logic_error&) {
        ++refused;
      }
    });
  });
  EXPECT_EQ(refused, 2);
  ranks.sync();
}

TEST_P(world_of, a_sub_team_is_no_region_of_the_world) {
  if (members.size() == 1) return;
  EXPECT_THROW(ranks.run(members,
                         [&](member& me) {
                           lockstep::sub_team half = me.split(me.rank() % 2);
                           ranks.sync_threads(*half);
                         }),
               std::logic_error);
}

TEST(world, shares_the_cpus_of_a_node_among_its_ranks) {
  world ranks;
  EXPECT_GE(ranks.members(), 1u);
  const std::size_t together = ranks.sync_sum(ranks.members());
  const std::size_t cpus = std::thread::hardware_concurrency();
  EXPECT_LE(together, cpus > ranks.size() ? cpus : ranks.size());
  EXPECT_TRUE(ranks.policy(cpus + 1).is_crowded());
}

TEST(world, of_a_part_of_the_ranks) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);  // the other way round
  {
    world half(part);
    EXPECT_EQ(half.size(), static_cast<std::size_t>((size + 1 - rank % 2) / 2));
    EXPECT_EQ(half.sync_sum(rank % 2), rank % 2 * static_cast<int>(half.size()));
  }
  MPI_Comm_free(&part);
}

TEST(world, RANKS4_ranks_that_are_no_neighbours_on_their_node_meet_by_messages) {
  // As after mpirun --map-by node: ranks 0 and 2 on one node, 1 and 3 on the other. Here the board would be all ranks', so
  // that the order alone decides.
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  world ranks(MPI_COMM_WORLD, 1);
  EXPECT_EQ(ranks.nodes(), ranks.size());
  EXPECT_EQ(ranks.node_size(), 1u);
}

TEST(world, of_no_communicator_is_refused) {
  EXPECT_THROW(world none(MPI_COMM_NULL), std::invalid_argument);
}

TEST(world, a_second_session_of_MPI_is_refused) {
  int argc = 0;
  char** argv = nullptr;
  EXPECT_THROW(world again(argc, argv), std::logic_error);
}

}  // namespace
