// SPDX-License-Identifier: MIT
// tests/mpi/node_board_test.cpp -- the ranks of a node meet in shared memory: here threads, and processes
//
// Threads stand for ranks, so that ThreadSanitizer sees the order. Two processes show that they sleep and wake across.
#include "mpi/node_board.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>

#include "fault/child_process.hpp"
#endif

#include "support/threads.hpp"

using lockstep::wait_policy;
using lockstep::detail::wait_history;
using lockstep::detail::mpi::meeting_note;
using lockstep::detail::mpi::meeting_record;
using lockstep::detail::mpi::node_board;
using lockstep::detail::mpi::rank_state;
using lockstep::detail::mpi::world_construct;
using lockstep::test::run_threads;

namespace {

meeting_record note_of(std::size_t rank, std::size_t bytes) {
  const meeting_note note = {rank_state::goes_on, world_construct::sync_reduce,
                             static_cast<std::uint16_t>(bytes), 0};
  return meeting_record::of(note, rank);
}

/// Where a board begins.
class memory_for {
 public:
  explicit memory_for(std::size_t ranks) {
    std::size_t room = node_board::bytes_for(ranks) + 128;
    raw_.reset(new unsigned char[room]);
    aligned_ = raw_.get();
    std::align(128, node_board::bytes_for(ranks), aligned_, room);
    node_board::make(aligned_, ranks);
  }
  void* get() const { return aligned_; }

 private:
  std::unique_ptr<unsigned char[]> raw_;
  void* aligned_;
};

class node_board_of : public testing::TestWithParam<wait_policy> {};

INSTANTIATE_TEST_SUITE_P(policies, node_board_of,
                         testing::Values(wait_policy(), wait_policy().when_crowded(true),
                                         wait_policy::block()));

/// Plain data beside the board: what a rank wrote before it came is seen after the meeting by all.
TEST_P(node_board_of, NODE1_values_and_what_came_before_them_are_seen) {
  constexpr std::size_t ranks = 3, meetings = 300;
  memory_for memory(ranks);
  std::vector<std::uint64_t> beside(ranks * meetings);
  std::atomic<int> wrong{0};
  run_threads(ranks, [&](std::size_t rank) {
    node_board board(memory.get(), ranks);
    wait_history history = {};
    for (std::uint32_t number = 1; number < meetings; ++number) {
      const std::size_t words = number % 3 == 0 ? 900 : 2;  // large, and in the slot
      std::vector<std::uint64_t> mine(words, rank * 1000 + number);
      beside[rank * meetings + number] = number;
      board.publish(rank, number, note_of(rank, words * 8), mine.data(), words * 8);
      for (std::size_t at = 0; at < ranks; ++at) {
        if (at != rank) board.wait(at, number, GetParam(), history);
        const void* const value = board.value_of(at, number, words * 8);
        std::vector<std::uint64_t> found(words);
        std::memcpy(found.data(), value, words * 8);
        wrong += found != std::vector<std::uint64_t>(words, at * 1000 + number);
        wrong += beside[at * meetings + number] != number;
        wrong += !(board.record_of(at, number, at).note == note_of(at, words * 8).note);
      }
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(node_board_of, tells_who_ended_and_how) {
  memory_for memory(2);
  node_board board(memory.get(), 2);
  meeting_record bad = note_of(1, 4);
  bad.state = rank_state::differs;
  bad.other = 7;
  board.publish(1, 1, bad, nullptr, 0);
  const meeting_record found = board.record_of(1, 1, 1);
  EXPECT_EQ(found.state, rank_state::differs);
  EXPECT_EQ(found.other, 7u);
}

TEST_P(node_board_of, numbers_may_wrap) {
  memory_for memory(2);
  std::atomic<int> seen{0};
  run_threads(2, [&](std::size_t rank) {
    node_board board(memory.get(), 2);
    wait_history history = {};
    // Numbers are compared by their distance, which must be below 2^31: so the board is led to the wrap in steps.
    for (const std::uint32_t number :
         {0x60000000u, 0xc0000000u, 0xfffffffeu, 0xffffffffu, 0u, 1u, 2u}) {
      board.publish(rank, number, note_of(rank, 0), nullptr, 0);
      board.wait(1 - rank, number, GetParam(), history);
      ++seen;
    }
  });
  EXPECT_EQ(seen, 14);
}

#if defined(__linux__)

TEST(node_board, NODE2_processes_sleep_and_wake_each_other) {
  constexpr std::uint32_t meetings = 2000;
  const std::size_t bytes = node_board::bytes_for(2);
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  node_board::make(memory, 2);
  const auto meet = [&](std::size_t rank) {
    node_board board(memory, 2);
    wait_history history = {};
    std::uint64_t sum = 0;
    for (std::uint32_t number = 1; number <= meetings; ++number) {
      const std::uint64_t mine = number * (rank + 1);
      board.publish(rank, number, note_of(rank, 8), &mine, 8);
      board.wait(1 - rank, number, wait_policy::block(), history);
      std::uint64_t theirs = 0;
      std::memcpy(&theirs, board.value_of(1 - rank, number, 8), 8);
      sum += theirs;
    }
    return sum;
  };
  constexpr std::uint64_t all = std::uint64_t{meetings} * (meetings + 1) / 2;
  lockstep::test::child_process child([&] { return meet(1) == all ? 0 : 1; });
  EXPECT_EQ(meet(0), 2 * all);
  EXPECT_EQ(child.wait(), 0);
  munmap(memory, bytes);
}

#endif

}  // namespace
