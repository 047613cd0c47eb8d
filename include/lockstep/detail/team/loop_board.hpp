// SPDX-License-Identifier: MIT
// lockstep/detail/team/loop_board.hpp -- hands out what members of a region share: chunks, turns (layer: team)
//
// Every member of a region comes through the same shared constructs (loops, sections, singles without
// waiting) in the same order, but not at the same time: nobody waits for anybody between them. So each
// construct has a place of its own, which is free for another one, `places` further on, when all have
// left it. The number of tickets is without limit; who gets one past the end leaves.
//
// Invariants
//   H1  A place holds construct s when its `open` is s. It becomes s + places by the last to leave, after
//       it has made it as new. So nobody is in a place with anybody of another construct.
//   H2  Each ticket of a construct is given to exactly one member, in ascending order.
//       Where the members of a construct agree to deal, they have a hand of tickets each, to which others
//       come when their own is used up; the same holds for each hand.
//   H3  Turns: the part of position i runs after the part of position i - 1, whoever runs them; what
//       happens before the end of one happens before the beginning of the next.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  open.load          acquire  5      the place is as new; half of H1
//   2  tickets.fetch_add  relaxed  -      hands out numbers, nothing else
//   3  left.fetch_add     acq_rel  3      the last to leave comes after all that others did in the place
//   4  store              relaxed  -      published by 5, or by who resets the board
//   5  open.store         release  1      the other half of H1
//   6  turn.load          acquire  7      H3
//   7  turn.store         release  6      H3
//   8  turn.load          relaxed  -      own position: written by this thread or ordered by 6
//   9  hand.fetch_add     relaxed  -      as 2
//   10 hand.load          relaxed  -      a hint whether 9 is worth the try
//
// Stores 5 and 7 and the look at the mark behind them are the notifier's side of sleeper_mark.hpp.
//
// Cost   entering and leaving: one fetch and one RMW a member; a ticket: one RMW on a line of its own, which
//        is at hand where only its owner takes from it: 5 ns in place of 40 to 50.
// Source the ring of dispatch buffers: [LIBOMP]; tickets instead of bounds: one RMW in place of a CAS loop.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOP_BOARD_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOP_BOARD_HPP

#include <cstddef>
#include <cstdint>

#include "reducing_barrier.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class loop_board final : public sleeping_place {
 public:
  /// How many constructs the fastest member may be ahead of the slowest.
  static constexpr std::uint32_t usual_places = 8;
  /// Above this many members a look at all hands at the end costs more than one counter. A guess: not measured.
  static constexpr std::size_t most_hands = 8;

  /// Requires: places is a power of two, so that numbers may wrap. Tests pass fewer.
  loop_board(wait_policy policy, stop_source& stop, std::uint32_t places = usual_places)
      : stop_(stop), places_(places), policy_(policy) {
    reset();
    stop_.add(*this);
  }
  ~loop_board() { stop_.remove(*this); }
  loop_board(const loop_board&) = delete;
  loop_board& operator=(const loop_board&) = delete;

  /// The first construct of the next region. Members read it when they need it; who runs the regions
  /// sets it in between.
  std::uint32_t first_construct() const noexcept { return first_; }
  void set_first_construct(std::uint32_t construct) noexcept { first_ = construct; }

  /// Waits until the place of the construct is free of the one before. False once the region is stopped.
  bool enter(place_in_barrier& self, std::uint32_t construct) {
    opened condition{*this, at(construct), construct, self.region};
    return wait(condition, self);
  }

  std::size_t take_ticket(std::uint32_t construct) noexcept {
    return at(construct).tickets.fetch_add(1, detail::memory_order_relaxed);  // 2
  }

  /// The same of the hand of member `owner`, below most_hands.
  std::size_t take_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return at(construct).hands[owner].value.fetch_add(1, detail::memory_order_relaxed);  // 9
  }
  /// How many were taken from it, at least.
  std::size_t taken_from_hand(std::uint32_t construct, std::size_t owner) noexcept {
    return at(construct).hands[owner].value.load(detail::memory_order_relaxed);  // 10
  }

  /// This member needs the place no more. Requires: it has entered. All members say the same of the hands.
  void leave(const place_in_barrier& self, std::uint32_t construct, bool has_hands = false) {
    place& here = at(construct);
    const std::uint32_t before = here.left.fetch_add(1, detail::memory_order_acq_rel);  // 3
    if (before + 1 != self.size) return;
    if (has_hands) renew_hands(here, self.size);
    open(here, construct + places());
  }

  /// Waits for the turn of `position`, counted from 0. False once the region is stopped.
  bool wait_for_turn(place_in_barrier& self, std::uint32_t construct, std::size_t position) {
    my_turn condition{*this, at(construct), position, self.region};
    return wait(condition, self);
  }
  /// Requires: it was this thread's turn.
  void pass_turn(std::uint32_t construct) {
    place& here = at(construct);
    const std::size_t next = here.turn.load(detail::memory_order_relaxed) + 1;  // 8
    here.turn.store(next, detail::memory_order_release);                        // 7
    here.mark.notify(fence_payer_of(policy_));
  }

  /// As new. Between regions.
  void reset() {
    for (std::uint32_t i = 0; i < places(); ++i) {
      renew_hands(at(i), most_hands);
      open(at(i), i);
    }
    first_ = 0;
  }

  void notify_all_sleepers() override {
    for (std::uint32_t i = 0; i < places(); ++i) at(i).mark.notify(fence_payer_of(policy_));
  }

 private:
  struct place {
    detail::atomic<std::size_t> tickets{0};
    detail::line_gap tickets_apart;
    detail::wait_word open{0};
    detail::wait_word left{0};
    detail::line_gap turns_apart;
    detail::atomic<std::size_t> turn{0};
    detail::line_gap mark_apart;
    sleeper_mark mark;
    detail::padded<detail::atomic<std::size_t>> hands[most_hands];
  };

  // What the wait engine looks at.
  struct opened {
    loop_board& board;
    place& here;
    std::uint32_t construct;
    std::uint32_t region;

    bool ready() const noexcept {
      return here.open.load(detail::memory_order_acquire) == construct ||  // 1
             board.stop_.requested(region);
    }
    void sleep(deadline until) { here.mark.sleep(*this, until, fence_payer_of(board.policy_)); }
  };
  struct my_turn {
    loop_board& board;
    place& here;
    std::size_t position;
    std::uint32_t region;

    bool ready() const noexcept {
      return here.turn.load(detail::memory_order_acquire) == position ||  // 6
             board.stop_.requested(region);
    }
    void sleep(deadline until) { here.mark.sleep(*this, until, fence_payer_of(board.policy_)); }
  };

  std::uint32_t places() const noexcept { return static_cast<std::uint32_t>(places_.size()); }
  place& at(std::uint32_t construct) noexcept { return places_[construct % places()].value; }

  template <class Condition>
  bool wait(Condition& condition, place_in_barrier& self) {
    wait_engine::wait(condition, policy_, self.history);
    return !stop_.requested(self.region);
  }

  static void renew_hands(place& here, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      here.hands[i].value.store(0, detail::memory_order_relaxed);  // 4
    }
  }
  void open(place& here, std::uint32_t construct) {
    here.tickets.store(0, detail::memory_order_relaxed);       // 4
    here.left.store(0, detail::memory_order_relaxed);          // 4
    here.turn.store(0, detail::memory_order_relaxed);          // 4
    here.open.store(construct, detail::memory_order_release);  // 5
    here.mark.notify(fence_payer_of(policy_));
  }

  stop_source& stop_;
  detail::aligned_array<detail::padded<place>> places_;
  std::uint32_t first_ = 0;
  const wait_policy policy_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOP_BOARD_HPP
