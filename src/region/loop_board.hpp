// SPDX-License-Identifier: MIT
// src/region/loop_board.hpp -- which member does what of a loop: shares, chunks and turns (layer: region)
//
// Two boards. On a share_board the parts of shares are claimed, so that others run what a late member leaves. A loop_board
// hands out chunks and turns to those that come.
#ifndef LOCKSTEP_SRC_REGION_LOOP_BOARD_HPP
#define LOCKSTEP_SRC_REGION_LOOP_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include "../wait/published_words.hpp"
#include "team_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The function of a loop does not see which member runs which iterations. So each member has a share of the loop, cut
// into parts, and the thread that claims a part runs it. Usually that is the member itself. Another thread claims it if
// the member is late, has lost its CPU, or is slow. So there is no wait for a thread that has not begun. Two kinds of
// loops are claimed here, each on a board of its own: loops that are a region (region_board.hpp), and loops inside a
// region that end with a phase of the barrier (loops.hpp).
//
//   bits of a share's word  name   meaning                                       changed by
//   63..32                  phase  of the loop whose parts were claimed last     the first claim in each loop
//   31..0                   left   how many parts of the share are still         each claim: one less
//                                  unclaimed in that loop
// The word may lag behind: before the first claim in a loop it belongs to an earlier loop. Then all parts are left.
//
//   bits of `finished`      meaning                                              changed by
//   31..0                   how many have finished with the share in this loop;  each of them: one more; the last: 0
//                           0 where one is enough
//
//   PART-1  In every loop each part is claimed once: by a compare-and-swap from the word that was read before. No word
//           comes again (ANNOUNCE-5 of region_board.hpp), so a claim from an old word fails.
//   PART-2  A share is reported when all its parts have been run, and a loop ends when all its shares are reported. So
//           a loop cannot end between the claim of a part and finish() of that part. Only in between may the claiming
//           thread read what belongs to the region.
//   PART-3  A thread that claims reads the word first, and then the line that announces the loop. If the claim
//           succeeds, the word has not changed in between, and the line was that of the loop: if the word has parts
//           left, its loop goes on, and no other loop is announced. If it has none, it is of an earlier loop,
//           or lines were renewed after one.
//   PART-4  The last that finishes with a share reports it. What was done for the share happens before the report.
//   PART-5  Inside a region the phase is the number of the loop, counted by the members, and each share has one part.
//           All members come to the same loops, and none leaves a loop before all have arrived. So each word is of loop
//           n - 1 until the share of loop n is claimed, and a claim succeeds only from that word. A late claimer may
//           find a later loop's word. If a share was taken over, the member finishes with it when it comes, and the
//           other thread when the share is done. The last of the two arrives for the member in the barrier: that is the
//           report. After a region that was stopped or had another size, words lag behind: all words and the members'
//           counts restart at 0 (group.hpp).
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access              order    pairs  why it suffices
//   1  word.load           acquire  2, 6   PART-3: the line that is read next is not behind the word
//   2  word.compare_exch   release  1      the other half. What the part needs was ordered by the announcement or the
//                                          barrier, and what it does will be by the report
//   3  word.compare_exch   relaxed  -      it failed: 1 comes again
//   4  finished.fetch_add  acq_rel  4      PART-4: the last one sees what all others did
//   5  finished.store      relaxed  -      the report orders it before the next loop's
//   6  word.store          release  1      PART-3, where lines were renewed; else while no member is in a region
//
// Cost   while the member is in time: one RMW, 6 ns, on a line that only this member touches. With several parts: two
//        RMWs a part. The word has a line of its own: the member that collects polls the report's line, and a claim
//        there would have to take that line back before the share can begin.
class share_board {
 public:
  enum class outcome { claimed, none_left, changed };

  explicit share_board(std::size_t members) : shares_(members) {}

  /// The word of a share. Read it before the announcement that the claim uses.
  std::uint64_t look(std::size_t rank) const noexcept {
    return shares_[rank].value.word.load(memory_order_acquire);  // 1
  }
  /// Claims the next part of a share; `part` gets its number. Call look() first, then read the phase of a loop that
  /// has this rank, and how many `parts` its shares have. `changed`: another thread has claimed meanwhile; look again.
  outcome try_claim(std::size_t rank, std::uint64_t seen, std::uint32_t phase, std::uint32_t parts,
                    std::uint32_t& part) noexcept {
    const bool is_first = phase_of(seen) != phase;
    if (!is_first && left_of(seen) == 0) return outcome::none_left;
    const std::uint64_t next = is_first ? word_of(phase, parts - 1) : seen - 1;
    if (!shares_[rank].value.word.compare_exchange_strong(seen, next,
                                                          memory_order_release,     // 2
                                                          memory_order_relaxed)) {  // 3
      return outcome::changed;
    }
    part = parts - 1 - left_of(next);
    return outcome::claimed;
  }

  /// `count` threads finish with a share. True for the last of them: it must report the share.
  bool finish(std::size_t rank, std::uint32_t count) noexcept {
    if (count == 1) return true;
    share& at = shares_[rank].value;
    const std::uint32_t before = at.finished.fetch_add(1, memory_order_acq_rel);  // 4
    if (before + 1 != count) return false;
    at.finished.store(0, memory_order_relaxed);  // 5
    return true;
  }

  /// The word of a share whose parts have all been claimed in `phase`.
  static constexpr std::uint64_t all_claimed(std::uint32_t phase) noexcept {
    return word_of(phase, 0);
  }
  /// Sets the share as if all its parts had been claimed in `phase`.
  void reset(std::size_t rank, std::uint32_t phase) noexcept {
    shares_[rank].value.word.store(all_claimed(phase), memory_order_release);  // 6
    shares_[rank].value.finished.store(0, memory_order_relaxed);               // 5
  }

 private:
  struct share {
    atomic<std::uint64_t> word{0};
    wait_word finished{0};
  };

  static constexpr std::uint64_t word_of(std::uint32_t phase, std::uint32_t left) noexcept {
    return std::uint64_t{phase} << 32 | left;
  }
  static constexpr std::uint32_t phase_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t left_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }

  aligned_array<padded<share>> shares_;
};

// Every member comes to the same shared constructs (loops, sections, singles without waiting) in the same order, but not
// at the same time: there is no wait between them. So each construct has a slot of its own. When all members have left a
// construct, its slot is free for the one `slot_count` later. The number of tickets is without limit; a member that gets
// one past the end leaves. A wait ends with the region (stop_source.hpp).
//
//   CHUNK-1  A slot holds construct s when its `open` is s. The last member to leave resets the slot, and then sets
//            `open` to s + slot_count. So members of different constructs are never in the same slot.
//   CHUNK-2  Each ticket of a construct is given to exactly one member, in ascending order. The members of a construct
//            may agree to deal: then each has a hand of tickets, and takes from other hands when its own is used up.
//            Each hand keeps the same rule.
//   CHUNK-3  Turns: the part of position i runs after the part of position i - 1, whichever members run them. What
//            happens before the end of one happens before the beginning of the next.
//
// Memory order (# marks the line; published_words.hpp has that of `open` and of the turns)
//   #  access             order    pairs  why it suffices
//   1  hand.fetch_add     relaxed  -      hands out numbers, nothing else
//   2  left.fetch_add     acq_rel  2      the last to leave comes after all that others did in the slot
//   3  store              relaxed  -      published with `open`, or by the caller that resets the board
//   4  hand.load          relaxed  -      a hint whether 1 is worth the try
//
// Cost   entering and leaving: one fetch and one RMW a member. A ticket: one RMW on a line of its own. Where only its
//        owner takes from a hand, the line stays in that CPU's cache: 5 ns instead of 40 to 50.
// Source the ring of dispatch buffers: [LIBOMP]; tickets instead of bounds: one RMW in place of a CAS loop.
class loop_board {
 public:
  static constexpr std::uint32_t usual_slots = 8;
  /// With more members, looking at all hands at the end would cost more than one counter. A guess, not measured.
  static constexpr std::size_t most_hands = 8;

  /// `slot_count`: how many constructs the fastest member may be ahead of the slowest. Requires: it is a power of two,
  /// so that numbers may wrap.
  loop_board(wait_policy policy, stop_source& stop, std::uint32_t slot_count = usual_slots)
      : open_(slot_count, policy, &stop), turns_(slot_count, policy, &stop), hands_(slot_count) {
    reset();
  }

  /// Waits until the slot is free for this construct. False once the region is stopped.
  bool enter(member_state& self, std::uint32_t construct) {
    return wait_in_region(
        self, open_[slot_of(construct)],
        word_is<std::uint32_t>{construct, wait_kind::room_for_construct, 0, wait_subject::nobody});
  }

  /// From the hand of all, or from a member's: hand_of(rank). Requires: rank < most_hands.
  std::size_t take_ticket(std::uint32_t construct, std::size_t hand = of_all) noexcept {
    return taken_from(construct, hand).fetch_add(1, memory_order_relaxed);  // 1
  }
  /// How many tickets were taken from that hand, at least.
  std::size_t tickets_taken(std::uint32_t construct, std::size_t hand) noexcept {
    return taken_from(construct, hand).load(memory_order_relaxed);  // 4
  }
  static constexpr std::size_t of_all = 0;
  static constexpr std::size_t hand_of(std::size_t rank) noexcept { return rank + 1; }

  /// This member no longer needs the slot. Requires: it has entered. All members pass the same `has_hands`: whether
  /// tickets were taken from the hands of members.
  void leave(const member_state& self, std::uint32_t construct, bool has_hands = false) {
    const std::size_t slot = slot_of(construct);
    const std::uint32_t before = open_.beside(slot).fetch_add(1, memory_order_acq_rel);  // 2
    const std::size_t members = has_hands ? self.size() : 0;
    if (before + 1 == self.size()) open(slot, construct + slot_count(), members);
  }

  /// Waits for the turn of `position`, counted from 0. False once the region is stopped.
  bool wait_for_turn(member_state& self, std::uint32_t construct, std::size_t position) {
    return wait_in_region(
        self, turns_[slot_of(construct)],
        word_is<std::size_t>{position, wait_kind::turn_in_ordered_loop,
                             static_cast<std::uint32_t>(position), wait_subject::nobody});
  }
  /// Requires: it was this thread's turn.
  void pass_turn(std::uint32_t construct) {
    const published_word<std::size_t> turn = turns_[slot_of(construct)];
    turn.publish(turn.peek() + 1);
  }

  /// Resets the board, between regions.
  void reset() {
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) open(slot, slot, most_hands);
  }

 private:
  /// How many tickets were taken from each.
  struct hands {
    padded<atomic<std::size_t>> taken[1 + most_hands];
  };

  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
  std::size_t slot_of(std::uint32_t construct) const noexcept {
    return construct & (slot_count() - 1);  // a power of two
  }
  atomic<std::size_t>& taken_from(std::uint32_t construct, std::size_t hand) noexcept {
    return hands_[slot_of(construct)].taken[hand].value;
  }

  /// With that many hands of members as new.
  void open(std::size_t slot, std::uint32_t construct, std::size_t members) {
    for (std::size_t hand = 0; hand <= members; ++hand) {
      hands_[slot].taken[hand].value.store(0, memory_order_relaxed);  // 3
    }
    open_.beside(slot).store(0, memory_order_relaxed);  // 3
    turns_[slot].reset(0);
    open_[slot].publish(construct);
  }

  /// Which construct has the slot; beside it how many members have left.
  published_words<std::uint32_t, wait_word> open_;
  published_words<std::size_t> turns_;
  aligned_array<hands> hands_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_LOOP_BOARD_HPP
