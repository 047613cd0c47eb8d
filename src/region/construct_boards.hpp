// SPDX-License-Identifier: MIT
// src/region/construct_boards.hpp -- chunks, turns and steps that members share (layer: region)
//
// Two boards. loop_board hands out what loops, sections and singles share. progress_board holds the steps that members
// publish to each other. A wait on either ends with the region (stop_source.hpp).
#ifndef LOCKSTEP_SRC_REGION_CONSTRUCT_BOARDS_HPP
#define LOCKSTEP_SRC_REGION_CONSTRUCT_BOARDS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/platform/cache_line.hpp>
#include "../wait/published_words.hpp"
#include "team_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// The constructs of a region. Every member comes to the same shared constructs (loops, sections, singles without
// waiting) in the same order, but not at the same time: there is no wait between them. So each construct has a slot of
// its own. When all members have left a construct, its slot is free for the one `slot_count` later. The number of
// tickets is without limit; a member that gets one past the end leaves.
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
//   1  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   2  left.fetch_add     acq_rel  2      the last to leave comes after all that others did in the slot
//   3  store              relaxed  -      published with `open`, or by the caller that resets the board
//   4  hand.fetch_add     relaxed  -      as 1
//   5  hand.load          relaxed  -      a hint whether 4 is worth the try
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
      : stop_(stop),
        open_(slot_count, policy, &stop),
        turns_(slot_count, policy, &stop),
        handed_out_(slot_count) {
    reset();
  }

  /// The first construct of the next region. Members read it when they need it; the caller of the regions sets it
  /// in between.
  std::uint32_t first_construct() const noexcept { return first_; }
  void set_first_construct(std::uint32_t construct) noexcept { first_ = construct; }

  /// Waits until the slot is free for this construct. False once the region is stopped.
  bool enter(member_state& self, std::uint32_t construct) {
    return wait(self, open_[slot_of(construct)], holds{construct});
  }

  std::size_t take_ticket(std::uint32_t construct) noexcept {
    return of(construct).tickets.fetch_add(1, memory_order_relaxed);  // 1
  }

  /// The same from the hand of member `owner`. Requires: owner < most_hands.
  std::size_t take_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return of(construct).hands[owner].value.fetch_add(1, memory_order_relaxed);  // 4
  }
  /// How many tickets were taken from that hand, at least.
  std::size_t taken_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return of(construct).hands[owner].value.load(memory_order_relaxed);  // 5
  }

  /// This member no longer needs the slot. Requires: it has entered. All members pass the same `has_hands`.
  void leave(const member_state& self, std::uint32_t construct, bool has_hands = false) {
    const std::size_t slot = slot_of(construct);
    const std::uint32_t before = open_.beside(slot).left.fetch_add(1, memory_order_acq_rel);  // 2
    if (before + 1 != self.size()) return;
    if (has_hands) renew_hands(slot, self.size());
    open(slot, construct + slot_count());
  }

  /// Waits for the turn of `position`, counted from 0. False once the region is stopped.
  bool wait_for_turn(member_state& self, std::uint32_t construct, std::size_t position) {
    return wait(self, turns_[slot_of(construct)], is_turn_of{position});
  }
  /// Requires: it was this thread's turn.
  void pass_turn(std::uint32_t construct) {
    const published_word<std::size_t> turn = turns_[slot_of(construct)];
    turn.publish(turn.peek() + 1);
  }

  /// Resets the board, between regions.
  void reset() {
    for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
      renew_hands(slot, most_hands);
      open(slot, slot);
    }
    first_ = 0;
  }

 private:
  struct holds {
    std::uint32_t construct;
    bool operator()(std::uint32_t held) const noexcept { return held == construct; }
    void describe(wait_subject& to) const noexcept { to.kind = wait_kind::room_for_construct; }
  };
  struct is_turn_of {
    std::size_t position;
    bool operator()(std::size_t turn) const noexcept { return turn == position; }
    void describe(wait_subject& to) const noexcept {
      to.kind = wait_kind::turn_in_ordered_loop;
      to.phase = static_cast<std::uint32_t>(position);
    }
  };
  /// How many members have left. It lies beside the word that says which construct has the slot.
  struct leavers {
    wait_word left{0};
  };
  struct numbers {
    atomic<std::size_t> tickets{0};
    padded<atomic<std::size_t>> hands[most_hands];
  };

  std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
  std::size_t slot_of(std::uint32_t construct) const noexcept {
    return construct & (slot_count() - 1);  // a power of two
  }
  numbers& of(std::uint32_t construct) noexcept { return handed_out_[slot_of(construct)].value; }

  template <class Word, class Done>
  bool wait(member_state& self, const published_word<Word>& word, Done done) {
    word.wait(done, stops_with_region{stop_, self.region()}, self.history);
    return !stop_.requested(self.region());
  }

  void renew_hands(std::size_t slot, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      handed_out_[slot].value.hands[i].value.store(0, memory_order_relaxed);  // 3
    }
  }
  void open(std::size_t slot, std::uint32_t construct) {
    handed_out_[slot].value.tickets.store(0, memory_order_relaxed);  // 3
    open_.beside(slot).left.store(0, memory_order_relaxed);          // 3
    turns_[slot].reset(0);
    open_[slot].publish(construct);
  }

  stop_source& stop_;
  published_words<std::uint32_t, leavers> open_;
  published_words<std::size_t> turns_;
  aligned_array<padded<numbers>> handed_out_;
  std::uint32_t first_ = 0;
};

// The steps of a region. Each member publishes the number of the step that it has finished; any other may wait for a
// given step of it. For wavefronts and halos, where a barrier would wait for more members than needed. Steps begin at 0
// in every region and only grow.
//
//   STEP-1  What a member does before publish(s) happens before the return of every wait for s or less.
//   STEP-2  The caller of the regions resets the board after each region in which a member has published a step.
//   STEP-3  Members may begin their parts anew within a region (member_state::begin_again()), when all have ended them. Steps
//           then begin at 0: each member has two words, used in turn. A member that begins resets the word that it leaves.
//           Nobody waits for that word any more; and nobody will, before all have ended this part, too.
//
// Cost   publish: one store on one's own line. wait: one line fetch.
class progress_board {
 public:
  progress_board(std::size_t most, wait_policy policy, stop_source& stop)
      : stop_(stop), steps_(2 * most, policy, &stop) {}

  /// The member has finished this step and all earlier ones. `set`: 0 or 1, STEP-3.
  void publish(std::size_t rank, std::size_t step, std::uint32_t set = 0) {
    word(rank, set).publish(step);
  }

  /// Blocks until the member `rank` has published `step` or more. False once the region is stopped.
  bool wait_for(member_state& self, std::size_t rank, std::size_t step) {
    const is_past is_over{step, self, static_cast<std::uint32_t>(rank)};
    const published_word<std::size_t> awaited = word(rank, self.step_set);
    awaited.wait(is_over, stops_with_region{stop_, self.region()}, self.history);
    if (stop_.requested(self.region())) return false;
    if (diagnoses_misuse && last_step(awaited.value()) < step) self.report_missing(rank);
    return true;
  }
  /// The member publishes no further step (GROUP-4). Waits for one see that, and miss it.
  void end(std::size_t rank, std::uint32_t set) {
    publish(rank, has_ended | last_step(word(rank, set).peek()), set);
  }

  /// Resets the board, between regions.
  void reset() noexcept { steps_.reset(0, steps_.size()); }
  /// STEP-3.
  void reset(std::size_t rank, std::uint32_t set) noexcept { word(rank, set).reset(0); }

 private:
  struct is_past {
    std::size_t step;
    const member_state& self;
    std::uint32_t rank;
    bool operator()(std::size_t finished) const noexcept { return finished >= step; }
    void describe(wait_subject& to) const noexcept {
      const observed_member who = self.observed();
      to.kind = wait_kind::step_of_member;
      to.phase = static_cast<std::uint32_t>(step);
      to.rank = who.rank;
      to.size = who.size;
      to.awaited = rank;
      to.team = who.team;
      to.region = who.region;
    }
  };

  published_word<std::size_t> word(std::size_t rank, std::uint32_t set) const noexcept {
    return steps_[rank + set * (steps_.size() / 2)];
  }

  /// In the word of a member: it has returned from its part.
  static constexpr std::size_t has_ended = ~(~std::size_t{0} >> 1);
  static constexpr std::size_t last_step(std::size_t word) noexcept { return word & ~has_ended; }

  stop_source& stop_;
  published_words<std::size_t> steps_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_CONSTRUCT_BOARDS_HPP
