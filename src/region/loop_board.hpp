// SPDX-License-Identifier: MIT
// src/region/loop_board.hpp -- hands out the chunks and turns of a loop to the members that come (layer: region)
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
      : open_(slot_count, policy, &stop),
        turns_(slot_count, policy, &stop),
        taken_(slot_count * places) {
    reset();
  }

  /// Waits until the slot is free for this construct. False once the region is stopped.
  bool enter(member_state& self, std::uint32_t construct) {
    return wait_in_region(self, open_[slot_of(construct)],
                          word_is<std::uint32_t>(construct, wait_kind::room_for_construct), {});
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
    atomic<std::uint32_t>& left = open_.beside(slot_of(construct));
    if (left.fetch_add(1, memory_order_acq_rel) + 1 != self.size()) return;  // 2
    open(construct + slot_count(), has_hands ? self.size() : 0);
  }

  /// Waits for the turn of `position`, counted from 0, for `whom`. False once the region is stopped.
  bool wait_for_turn(member_state& self, std::uint32_t construct, std::size_t position,
                     whereabouts whom = {}) {
    return wait_in_region(self, turns_[slot_of(construct)],
                          word_is<std::size_t>(position, wait_kind::turn_in_ordered_loop,
                                               static_cast<std::uint32_t>(position)),
                          whom);
  }
  /// Requires: it was this thread's turn.
  void pass_turn(std::uint32_t construct) {
    const published_word<std::size_t> turn = turns_[slot_of(construct)];
    turn.publish(turn.peek() + 1);
  }

  /// Resets the board, between regions.
  void reset() {
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) open(slot, most_hands);
  }

 private:
  static constexpr std::size_t places = 1 + most_hands;  ///< for tickets, in each slot

  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
  std::size_t slot_of(std::uint32_t construct) const noexcept {
    return construct & (slot_count() - 1);  // a power of two
  }
  atomic<std::size_t>& taken_from(std::uint32_t construct, std::size_t hand) noexcept {
    return taken_[slot_of(construct) * places + hand].value;
  }

  /// With that many hands of members as new.
  void open(std::uint32_t construct, std::size_t members) {
    const std::size_t slot = slot_of(construct);
    for (std::size_t hand = 0; hand <= members; ++hand) {
      taken_from(construct, hand).store(0, memory_order_relaxed);  // 3
    }
    open_.beside(slot).store(0, memory_order_relaxed);  // 3
    turns_[slot].reset(0);
    open_[slot].publish(construct);
  }

  /// Which construct has the slot; beside it how many members have left.
  published_words<std::uint32_t, wait_word> open_;
  published_words<std::size_t> turns_;
  aligned_array<padded<atomic<std::size_t>>> taken_;  ///< tickets, from each hand of each slot
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_LOOP_BOARD_HPP
