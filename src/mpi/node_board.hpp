// SPDX-License-Identifier: MIT
// src/mpi/node_board.hpp -- the ranks of one node meet in memory that they share (layer: mpi)
//
// Each rank has a place: a word with the number of the meeting that it has come to, and two slots, used in turn, for
// what it brings. Ranks look at each other's words, and sleep on them (shared_futex of system.hpp), without a call of
// MPI. One more place is for the result that a leader makes for all.
//
//   NODE-1  A rank writes a slot before it publishes the meeting, and again only after all have read it: no rank is two
//           meetings ahead of one that still reads.
//   NODE-2  A rank publishes, and then looks for sleepers. A sleeper announces itself, and then looks at the word
//           again. Both have a fence in between. So one of them sees the other, and no wake-up is lost.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.store          release  2      NODE-1: what was put into the slot is seen with the number
//   2  word.load           acquire  1      as 1
//   3  fence               seq_cst  5      NODE-2: store of 1 before load of 4
//   4  sleepers.load       relaxed  -      3 and 5 order it
//   5  fence               seq_cst  3      NODE-2: announcement of 6 before the look of 8
//   6  sleepers.fetch_add  relaxed  -      3 and 5 order it
//   7  sleepers.fetch_sub  relaxed  -      a count that is too high costs a needless wake
//   8  word.load           relaxed  -      3 and 5 order it; before the slot is read, 2 looks again
//
// Cost   to publish: a store and a fence, a system call if another rank sleeps. To see it: one line transfer.
// Source values on the flags' lines, as in team_barrier.hpp.
#ifndef LOCKSTEP_SRC_MPI_NODE_BOARD_HPP
#define LOCKSTEP_SRC_MPI_NODE_BOARD_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <lockstep/detail/platform/atomic.hpp>
#include "../platform/system.hpp"
#include "../wait/published_words.hpp"
#include "../wait/wait_engine.hpp"
#include "meeting_record.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// Over memory that all ranks of a node have mapped.
class node_board {
 public:
  /// The most bytes that a rank brings to a meeting.
  static constexpr std::size_t most_bytes = 8192;

  /// How much memory: for each rank a place, and one for the result.
  static constexpr std::size_t bytes_for(std::size_t ranks) noexcept {
    return (ranks + 1) * sizeof(place);
  }

  /// Begins a board. One rank calls it, before the others come. `memory`: aligned to 128 bytes.
  static void make(void* memory, std::size_t ranks) noexcept {
    for (std::size_t i = 0; i <= ranks; ++i) ::new (static_cast<place*>(memory) + i) place;
  }

  node_board() noexcept = default;
  /// `memory`: where make() has begun it, as this process has it mapped.
  node_board(void* memory, std::size_t ranks) noexcept
      : places_(static_cast<place*>(memory)), ranks_(ranks) {}

  std::size_t result() const noexcept { return ranks_; }

  /// Puts the note and the value into the slot of meeting `number`, and a bad record beside it. Publishes the meeting.
  void publish(std::size_t at, std::uint32_t number, const meeting_record& record,
               const void* value, std::size_t bytes) {
    slot& into = slot_of(at, number);
    into.note = record.note;
    into.note.state = record.state;
    if (record.state > rank_state::has_ended) places_[at].bad[number & 1u] = record;
    if (bytes != 0) std::memcpy(value_of(at, number, bytes), value, bytes);
    place& here = places_[at];
    here.number.store(number, memory_order_release);            // 1
    thread_fence(memory_order_seq_cst);                         // 3
    if (here.sleepers.load(memory_order_relaxed) == 0) return;  // 4
    shared_futex::wake_all(&here.number);
  }

  /// Blocks until the place has come to meeting `number`.
  void wait(std::size_t at, std::uint32_t number, wait_policy policy, wait_history& history) {
    waiter what(places_[at], number);
    wait_engine::wait(what, policy, history);
  }

  /// Whether wait() would return at once.
  bool has_come(std::size_t at, std::uint32_t number) const noexcept {
    return waiter(places_[at], number).ready();
  }

  /// After wait(): what the rank came with. `rank`: its number in the world.
  meeting_record record_of(std::size_t at, std::uint32_t number, std::size_t rank) const noexcept {
    const meeting_note& note = slot_of(at, number).note;
    return note.state > rank_state::has_ended ? places_[at].bad[number & 1u]
                                              : meeting_record::of(note, rank);
  }
  void* value_of(std::size_t at, std::uint32_t number, std::size_t bytes) const noexcept {
    return bytes <= small ? slot_of(at, number).value : places_[at].large[number & 1u];
  }

 private:
  static constexpr std::size_t small = 16;

  struct slot {
    meeting_note note;
    unsigned char value[small];
  };
  struct place {
    place() noexcept : number(0), sleepers(0) {}

    alignas(64) wait_word number;
    alignas(8) slot slots[2];
    alignas(64) wait_word sleepers;
    alignas(64) meeting_record bad[2];
    alignas(64) unsigned char large[2][most_bytes];
  };
  static_assert(offsetof(place, sleepers) == 64, "number and slots are on one line");

  /// What the wait engine looks at.
  struct waiter final : waitable {
    place& at;
    const phase_reached done;

    waiter(place& of, std::uint32_t number) noexcept : at(of), done{number} {}
    bool ready() noexcept override { return done(at.number.load(memory_order_acquire)); }  // 2
    void sleep(std::uint64_t until) override {
      at.sleepers.fetch_add(1, memory_order_relaxed);                   // 6
      thread_fence(memory_order_seq_cst);                               // 5
      const std::uint32_t seen = at.number.load(memory_order_relaxed);  // 8
      if (!done(seen)) shared_futex::wait(at.number, seen, until);
      at.sleepers.fetch_sub(1, memory_order_relaxed);  // 7
    }
    void describe(wait_subject& to) const noexcept override {
      to.object = to.sleeps_on = &at.number;
      done.describe(to);
    }
  };

  slot& slot_of(std::size_t at, std::uint32_t number) const noexcept {
    return places_[at].slots[number & 1u];
  }

  place* places_ = nullptr;
  std::size_t ranks_ = 0;
};

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_NODE_BOARD_HPP
