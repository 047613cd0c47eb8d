// SPDX-License-Identifier: MIT
#include <lockstep/mpi/halo.hpp>

#include <gtest/gtest.h>
#include <lockstep/mpi/decomposition.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using lockstep::member;
using lockstep::team;
using lockstep::team_options;
using lockstep::mpi::block_of;
using lockstep::mpi::decomposition;
using lockstep::mpi::halo;
using lockstep::mpi::halo_block;
using lockstep::mpi::halo_corners;
using lockstep::mpi::halo_neighbour;
using lockstep::mpi::rank_failed;
using lockstep::mpi::world;

constexpr std::uint64_t nothing = ~std::uint64_t{0};

std::uint64_t value_of(std::size_t cell, std::size_t step) { return cell * 1000 + step; }

/// A rank's array of a grid: which cell of the whole grid lies at each place.
template <std::size_t D>
struct local_grid {
  local_grid(const decomposition<D>& cut, std::size_t rank, std::size_t width) {
    const auto extents = cut.extents_with_ghosts(rank, width);
    const auto own = cut.local_extents(rank), offset = cut.offset(rank);
    std::size_t size = 1;
    for (const std::size_t extent : extents) size *= extent;
    values.assign(size, nothing);
    for (std::size_t place = 0; place < size; ++place) {
      std::array<std::size_t, D> at;
      std::size_t rest = place, cell = 0, outside = 0;
      for (std::size_t d = D; d-- > 0; rest /= extents[d]) at[d] = rest % extents[d];
      bool is_there = true;
      for (std::size_t d = 0; d < D; ++d) {
        const std::size_t extent = cut.cells()[d], global = offset[d] + at[d] + extent - width;
        outside += at[d] < width || at[d] >= width + own[d] ? 1 : 0;
        is_there = is_there && (cut.periodic()[d] || (global >= extent && global < 2 * extent));
        cell = cell * extent + global % extent;
      }
      cells.push_back(is_there ? cell : nothing);
      borders.push_back(outside);
    }
  }
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t>
      cells;  ///< at each place: its number in the grid; `nothing` beyond the edge
  std::vector<std::size_t> borders;  ///< in how many dimensions it is a ghost
};

/// Every member writes its share of the rank's cells, and reads all ghosts.
template <std::size_t D>
std::size_t exchange(world& ranks, team& members, const decomposition<D>& cut, std::size_t width,
                     halo_corners corners, std::size_t steps) {
  local_grid<D> grid(cut, ranks.rank(), width);
  halo ghosts(ranks, members, cut.neighbours(ranks.rank(), grid.values.data(), width, corners));
  std::atomic<std::size_t> wrong{0};
  EXPECT_TRUE(ranks.run(members, [&](member& me) {
    for (std::size_t step = 1; step <= steps; ++step) {
      for (std::size_t place = me.rank(); place < grid.values.size(); place += me.size()) {
        if (grid.borders[place] == 0) grid.values[place] = value_of(grid.cells[place], step);
      }
      ghosts.publish(me);
      if (step % 3 == 0) ghosts.progress(me);
      ghosts.await_ghosts(me);
      for (std::size_t place = 0; place < grid.values.size(); ++place) {
        const std::size_t outside = grid.borders[place];
        if (outside == 0 || (outside > 1 && corners == halo_corners::left_out)) continue;
        const std::uint64_t expected =
            grid.cells[place] == nothing ? nothing : value_of(grid.cells[place], step);
        if (grid.values[place] != expected) ++wrong;
      }
    }
  }));
  return wrong.load();
}

/// The world is made once: that is many calls of MPI, which polls for the ranks that lack a CPU.
class halo_of : public testing::TestWithParam<std::size_t> {
 public:
  static void TearDownTestSuite() { the_world().reset(); }

 protected:
  static std::optional<world>& the_world() {
    static std::optional<world> one;
    return one;
  }
  static world& made_world() {
    if (!the_world()) the_world().emplace();
    return *the_world();
  }

  world& ranks = made_world();
  team members{team_options(ranks.options()).members(GetParam())};
  std::size_t next() const { return (ranks.rank() + 1) % ranks.size(); }
  std::size_t previous() const { return (ranks.rank() + ranks.size() - 1) % ranks.size(); }
};
INSTANTIATE_TEST_SUITE_P(members, halo_of, testing::Values(1, 2, 4),
                         testing::PrintToStringParamName());

// Which cells these are, in 1 to 3 dimensions: decomposition_test.cpp.
TEST_P(halo_of, HALO_1_HALO_2_every_ghost_has_its_cell) {
  for (const auto& periodic : {std::array{false, false}, {true, false}, {true, true}}) {
    const decomposition<2> cut(ranks.size(), {13, 17}, periodic);
    for (const auto corners : {halo_corners::left_out, halo_corners::included}) {
      EXPECT_EQ(exchange(ranks, members, cut, 2, corners, 20), 0u);
    }
  }
}

TEST_P(halo_of, a_ring_of_columns_is_exchanged_as_on_the_page) {
  world& world = ranks;
  team& team = members;
  const std::size_t rows = 12, columns = 10;
  const int steps = 3;
  std::atomic<int> wrong{0};
  const auto is_mine = [&](const member& me, std::size_t place) {
    return place % me.size() == me.rank();
  };
  std::size_t own_first = 0, own_last = 0, width = 0;
  const auto write_boundary = [&](member& me, std::vector<double>& u) {
    for (std::size_t i = own_first; i < own_last; ++i) {
      for (std::size_t j = 1; is_mine(me, i) && j + 1 < width; ++j) u[i * width + j] = 1;
    }
  };
  const auto work_inside = [](member&) {};
  const auto read_ghosts = [&](member&, const std::vector<double>& u) {
    for (std::size_t i = own_first; i < own_last; ++i) {
      wrong += u[i * width] != 1 || u[i * width + width - 1] != 1;
    }
  };
  // [halo]
  // The columns are a ring.
  const lockstep::mpi::decomposition<2> cut(world.size(), {rows, columns}, {false, true});
  const auto extents = cut.extents_with_ghosts(world.rank(), 1);
  std::vector<double> u(extents[0] * extents[1]);
  lockstep::mpi::halo ghosts(world, team, cut.neighbours(world.rank(), u.data(), 1));

  // [/halo]
  own_first = 1, own_last = extents[0] - 1, width = extents[1];
  // [halo]
  world.run(team, [&](lockstep::member& me) {
    for (int step = 0; step < steps; ++step) {
      write_boundary(me, u);
      ghosts.publish(me);       // mine is ready; the last member's call starts the exchange
      work_inside(me);          // meanwhile the messages are under way
      ghosts.await_ghosts(me);  // the ghosts are there, and the boundary may be written again
      read_ghosts(me, u);
    }
  });
  // [/halo]
  EXPECT_EQ(wrong, 0);
}

/// Messages that MPI does not send before the receiver is there.
TEST_P(halo_of, large_blocks_arrive_whole) {
  const decomposition<1> cut(ranks.size(), {ranks.size() << 18}, {true});
  EXPECT_EQ(exchange(ranks, members, cut, 1 << 17, halo_corners::left_out, 3), 0u);
}

/// A box of an array, to a contiguous place and to what only a datatype of the user's describes: back to front.
template <class Type>
void exchange_box(world& ranks, team& members, std::size_t to, std::size_t from) {
  std::vector<Type> sent(60), received(60);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i].number = static_cast<unsigned char>(i);
  MPI_Datatype one = MPI_DATATYPE_NULL, reversed = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Type), MPI_BYTE, &one);
  std::array<int, 12> places{};
  for (int n = 0; n < 12; ++n) places[static_cast<std::size_t>(n)] = -n;
  MPI_Type_create_indexed_block(12, 1, places.data(), one, &reversed);
  MPI_Type_commit(&reversed);
  {
    halo_neighbour forward, back;
    forward.rank = to;
    forward.send = block_of(sent.data(), {3, 4, 5}, {2, 3, 2}, {1, 0, 2});
    forward.receive = halo_block(&received[59], 1, reversed);
    forward.send_tag = 1;
    forward.receive_tag = 2;
    back = forward;
    back.rank = from;
    back.send_tag = 2;
    back.receive_tag = 1;
    back.receive = block_of(received.data(), {12}, {12}, {0});
    halo both(ranks, members, {forward, back});
    forward = back = halo_neighbour();  // the halo keeps what it needs
    ranks.run(members, [&](member& me) {
      both.publish(me);
      both.await_ghosts(me);
      for (std::size_t n = 0; n < 12; ++n) {
        const std::size_t place = (1 + n / 6) * 20 + n / 2 % 3 * 5 + 2 + n % 2;
        EXPECT_EQ(received[n].number, place);
        EXPECT_EQ(received[59 - n].number, place);
      }
    });
  }
  MPI_Type_free(&reversed);
  MPI_Type_free(&one);
}
template <std::size_t Size>
struct element {
  unsigned char number = 0;
  unsigned char rest[Size - 1] = {};
};
template <>
struct element<1> {
  unsigned char number = 0;
};

TEST_P(halo_of, boxes_and_datatypes_of_elements_of_any_size) {
  exchange_box<element<1>>(ranks, members, next(), previous());
  exchange_box<element<8>>(ranks, members, next(), previous());
  exchange_box<element<13>>(ranks, members, next(), previous());
}

TEST_P(halo_of, a_rank_without_neighbours_waits_for_nobody) {
  halo none(ranks, members, {});
  EXPECT_TRUE(ranks.run(members, [&](member& me) {
    none.publish(me);
    none.await_ghosts(me);
  }));
}

/// Two cells of a ring: what a rank sends both ways, what it receives from both.
struct ring_cells {
  std::array<std::uint64_t, 4> cells{};  // ghost, own, own, ghost
  std::vector<halo_neighbour> of(world& ranks) {
    const decomposition<1> cut(ranks.size(), {2 * ranks.size()}, {true});
    return cut.neighbours(ranks.rank(), cells.data(), 1);
  }
};

// HALO_8
TEST_P(halo_of, HALO_8_a_rank_that_fails_ends_the_waits_of_its_neighbours_and_the_halo_goes_on) {
  ring_cells ring;
  halo ghosts(ranks, members, ring.of(ranks));
  const auto steps = [&](member& me, std::size_t from, std::size_t to) {
    for (std::size_t step = from; step < to; ++step) {
      me.single([&] { ring.cells[1] = ring.cells[2] = value_of(ranks.rank(), step); });
      ghosts.publish(me);
      ghosts.await_ghosts(me);
      EXPECT_EQ(ring.cells[0], value_of(previous(), step));
      EXPECT_EQ(ring.cells[3], value_of(next(), step));
    }
  };
  std::size_t first = 0;
  for (std::size_t failing = 0; failing < ranks.size(); ++failing) {
    for (const bool by_exception : {true, false}) {
      for (const bool half :
           {false, true}) {  // after the last member of the rank has published, or before
        bool goes_on = true;
        std::size_t named = ranks.size();
        try {
          goes_on = ranks.run(members, [&](member& me) {
            steps(me, first, first + 3);
            if (ranks.rank() == failing && me.rank() + 1 == me.size()) {
              if (half) ghosts.publish(me);
              if (by_exception) throw std::length_error("on purpose");
              me.request_stop();
              return;
            }
            for (;;) {  // ranks that are no neighbours of it go on for a while
              ghosts.publish(me);
              ghosts.await_ghosts(me);
            }
          });
        } catch (const std::length_error&) {
          named = ranks.rank();
        } catch (const rank_failed& error) {
          named = error.rank();
        }
        if (by_exception) {
          EXPECT_EQ(named, failing);
        } else {
          EXPECT_FALSE(goes_on);
        }
        first += 3;
        EXPECT_TRUE(ranks.run(members, [&](member& me) { steps(me, first, first + 2); }));
        first += 2;
      }
    }
  }
}

TEST_P(halo_of, HALO_8_a_rank_that_is_far_away_fails) {
  if (ranks.size() < 3) GTEST_SKIP() << "all ranks are neighbours";
  // A chain: the failure of the last rank comes to rank 0 through those between.
  std::array<double, 4> cells{};
  const decomposition<1> cut(ranks.size(), {2 * ranks.size()});
  halo ghosts(ranks, members, cut.neighbours(ranks.rank(), cells.data(), 1));
  for (int round = 0; round < 5; ++round) {
    EXPECT_FALSE(ranks.run(members, [&](member& me) {
      for (int step = 0;; ++step) {
        if (ranks.rank() + 1 == ranks.size() && step == round) me.request_stop();
        ghosts.publish(me);
        ghosts.await_ghosts(me);
      }
    }));
  }
}

TEST_P(halo_of, HALO_8_large_blocks_that_are_under_way_are_ended) {
  const std::size_t length = 1 << 17;
  const decomposition<1> cut(ranks.size(), {ranks.size() * 2 * length}, {true});
  std::vector<double> x(4 * length);
  {
    halo ghosts(ranks, members, cut.neighbours(ranks.rank(), x.data(), length));
    EXPECT_FALSE(ranks.run(members, [&](member& me) {
      if (ranks.rank() == 0 && me.rank() == 0) me.request_stop();
      ghosts.publish(me);
      ghosts.await_ghosts(me);
    }));
  }
  x.assign(x.size(), 0);  // nobody sends or receives in it any more
}

TEST_P(halo_of, two_halos_are_under_way_at_a_time) {
  ring_cells one, two;
  halo first(ranks, members, one.of(ranks)), second(ranks, members, two.of(ranks));
  EXPECT_TRUE(ranks.run(members, [&](member& me) {
    for (std::size_t step = 0; step < 30; ++step) {
      me.single([&] {
        one.cells[1] = one.cells[2] = value_of(ranks.rank(), step);
        two.cells[1] = two.cells[2] = value_of(ranks.rank(), step + 500);
      });
      second.publish(me);
      first.publish(me);
      first.await_ghosts(me);
      second.await_ghosts(me);
      EXPECT_EQ(one.cells[0], value_of(previous(), step));
      EXPECT_EQ(two.cells[3], value_of(next(), step + 500));
    }
  }));
}

/// What making the halo throws on this rank.
std::string refusal(world& ranks, team& members, const std::vector<halo_neighbour>& neighbours) {
  try {
    const halo refused(ranks, members, neighbours);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}
void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_P(halo_of, lists_that_do_not_fit_are_refused_on_all_ranks) {
  if (GetParam() != 1) GTEST_SKIP() << "members make no difference";
  const std::size_t last = ranks.size() - 1;
  const bool is_last = ranks.rank() == last;
  const std::string on_last = "on rank " + std::to_string(last) + ": ";
  std::array<double, 8> x{};
  ring_cells ring;
  const std::vector<halo_neighbour> good = ring.of(ranks);

  std::vector<halo_neighbour> bad = good;
  if (is_last) bad[0].rank = 1000;
  expect_in(refusal(ranks, members, bad),
            on_last + "neighbour 0 is rank 1000, but there are ranks 0 to");

  bad = good;
  if (is_last) bad[1].send = halo_neighbour().send;
  expect_in(refusal(ranks, members, bad), on_last + "neighbour 1 has a block without elements");

  bad = good;
  if (is_last) bad.push_back(bad[0]);
  expect_in(refusal(ranks, members, bad), "have the same tag; give each block a tag of its own");

  bad = good;
  if (is_last) bad[0].send_tag = -1;
  expect_in(refusal(ranks, members, bad), "give tags from 0 to 16383");

  bad = good;
  if (is_last) bad[0].send = bad[0].receive = halo_block(x.data(), 1, MPI_FLOAT);
  expect_in(refusal(ranks, members, bad), "make both blocks from the same extents and types");

  bad = good;
  if (is_last) bad[1].send = halo_block(ring.cells.data(), 3, MPI_UINT64_T);
  expect_in(refusal(ranks, members, bad),
            "is to receive 8 bytes, but rank " + std::to_string(last) + " sends 24");

  bad = good;
  if (is_last) bad.pop_back();
  expect_in(refusal(ranks, members, bad), "neighbours come in pairs, one on each side");

  EXPECT_EQ(refusal(ranks, members, good), "");  // and none of that has left anything behind
}

TEST_P(halo_of, calls_against_HALO_7_and_outside_of_regions_are_refused) {
  ring_cells ring;
  halo ghosts(ranks, members, ring.of(ranks));
  const auto message_of = [&](auto part) -> std::string {
    try {
      ranks.run(members, part);
    } catch (const std::logic_error& error) {
      return error.what();
    } catch (const rank_failed&) {
      return "of another rank";
    }
    return "";
  };
  const bool is_first = ranks.rank() == 0;
  std::string text = message_of([&](member& me) {
    ghosts.publish(me);
    if (is_first) ghosts.publish(me);
    ghosts.await_ghosts(me);
    ranks.sync_threads(me);
  });
  expect_in(text, is_first ? "call await_ghosts() before the next publish()" : "of another rank");
  text = message_of([&](member& me) { ghosts.await_ghosts(me); });
  EXPECT_EQ(text, "") << "there is nothing to wait for";
  try {
    members.run([&](member& me) { ghosts.publish(me); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    expect_in(error.what(), "begin them by world.run(team, f) on every rank");
  }
}

}  // namespace
