// SPDX-License-Identifier: MIT
// tests/model/ranks_model_test.cpp -- the board on which the ranks of a node meet, under all schedules
#include "mpi/node_board.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "model/scenario.hpp"

namespace lockstep::model {
namespace {

using detail::mpi::meeting_note;
using detail::mpi::meeting_record;
using detail::mpi::node_board;
using detail::mpi::rank_state;
using detail::mpi::world_construct;

class node_board_model : public model_test {};
INSTANTIATE_TEST_SUITE_P(policies, node_board_model, testing::ValuesIn(policies()), setting_name);

/// Where the board of two ranks lies.
struct room {
  room() { node_board::make(bytes, 2); }
  alignas(128) unsigned char bytes[node_board::bytes_for(2)];
};

meeting_record note_of(std::size_t rank) {
  return meeting_record::of(meeting_note{rank_state::goes_on, world_construct::sync_sum, 4, 0},
                            rank);
}

// Three meetings: the slots of the first are used again in the third.
TEST_P(node_board_model, NODE1_NODE2_each_sees_what_the_other_brought_to_this_meeting) {
  explore_with(huge(), [] {
    const auto where = std::make_unique<room>();
    int beside[2] = {};
    const auto meet = [&](std::size_t rank) {
      node_board board(where->bytes, 2);
      wait_history history = {};
      for (std::uint32_t number = 1; number <= 3; ++number) {
        const std::uint32_t mine = 10 * number + static_cast<std::uint32_t>(rank);
        if (number == 1) beside[rank] = 7;
        board.publish(rank, number, note_of(rank), &mine, sizeof mine);
        board.wait(1 - rank, number, policy(), history);
        std::uint32_t theirs = 0;
        std::memcpy(&theirs, board.value_of(1 - rank, number, sizeof theirs), sizeof theirs);
        check(theirs == 10 * number + 1 - rank, "the value of this meeting");
        check(beside[1 - rank] == 7, "what came before the other's arrival");
      }
    };
    threads({[&] { meet(0); }, [&] { meet(1); }});
  });
}

}  // namespace
}  // namespace lockstep::model
