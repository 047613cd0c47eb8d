// SPDX-License-Identifier: MIT
// openmp/runtime/loop_cursor.hpp -- one member's way through a worksharing loop: chunk after chunk, until none is left
//
// Iterations are numbered from 0; loop_spec turns the numbers into what the program counts by. A static loop shares
// nothing. All others take tickets of lockstep's loop_board (loop_board.hpp), in one of its slots.
//
//   CURSOR-1  A member that is given the loop's last chunk is given no other after it: GCC's code for lastprivate looks
//             at the last chunk that a thread had. If chunks are dealt, the last one is in no hand. It goes to the
//             first member that finds all hands empty. So no member ends while a chunk has not begun.
//   CURSOR-2  In an ordered loop a member passes its turn when it asks for the next chunk, or at the loop's end. It
//             waits for its turn before that, whether the chunk had an ordered region or not.
//   CURSOR-3  Others may still look at shared memory of the loop's slot after the loop. Then the member holds the slot
//             until it comes to its next construct, or to the end of its part.
#ifndef LOCKSTEP_OPENMP_RUNTIME_LOOP_CURSOR_HPP
#define LOCKSTEP_OPENMP_RUNTIME_LOOP_CURSOR_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/member.hpp>
#include "region/group.hpp"

#include "abi.hpp"

namespace lockstep::openmp {

/// A loop: its range, and how it is handed out. A plain value.
struct loop_spec {
  ull base, end, increment;  ///< modulo 2^64: a loop that counts down has a large increment
  ull count;                 ///< of iterations
  ull chunk;                 ///< 0: none was given
  schedule_kind how;         ///< fixed, dynamic or guided
  bool is_ordered;           ///< has turns
  bool is_dealt;             ///< dynamic, in any order: chunks come from hands
  bool is_of_sections : 1;   ///< one by one even if the thread is alone
  bool is_scope : 1;         ///< it has no iterations
  bool needs_slot;           ///< even if it is static, for what members share beside the iterations

  /// `is_up`: it counts up. Numbers are compared as the program has them, signed or not, and counted modulo 2^64.
  template <class Number>
  static loop_spec of(bool is_up, Number start, Number end, Number increment) noexcept {
    loop_spec made{};
    made.base = static_cast<ull>(start);
    made.end = static_cast<ull>(end);
    made.increment = static_cast<ull>(increment);
    if (is_up) {
      made.count = start < end ? (made.end - made.base - 1) / made.increment + 1 : 0;
    } else {
      made.count = end < start ? (made.base - made.end - 1) / (0 - made.increment) + 1 : 0;
    }
    return made;
  }
  static loop_spec of(long start, long end, long increment) noexcept {
    return of(increment > 0, start, end, increment);
  }
  loop_spec with(schedule_kind its_how, bool is_monotonic, long its_chunk,
                 bool has_turns = false) const noexcept {
    loop_spec made = *this;
    made.how = its_how;
    made.chunk = its_chunk > 0 ? static_cast<ull>(its_chunk) : 0;
    made.is_ordered = has_turns;
    made.is_dealt = its_how == schedule_kind::dynamic && !is_monotonic && !has_turns;
    return made;
  }

  ull least() const noexcept { return chunk != 0 ? chunk : 1; }
};

class loop_cursor {
 public:
  /// Sets nothing: begin() sets all.
  loop_cursor() noexcept {}

  /// Called by all members of the region. `at` is null for a thread that is alone.
  void begin(const loop_spec& spec, detail::member_state* at, unsigned rank,
             unsigned size) noexcept {
    spec_ = spec;
    size_ = at != nullptr ? size : 1;
    has_slot_ = false;
    has_chunk_ = false;
    if (at == nullptr) {
      next_ = 0;
      return;
    }
    at_ = at;
    rank_ = rank;
    next_ = rank;
    if (holds_late_) leave_late();
    if (spec.how == schedule_kind::fixed && !spec.is_ordered && !spec.needs_slot) return;
    construct_ = at->construct++;
    has_slot_ = board().enter(*at, construct_);
    is_lost_ = !has_slot_;
    begin_shared(spec);
  }

  /// The next chunk of this member, as numbers of iterations: [first, last).
  [[gnu::always_inline]] bool next(ull& first, ull& last) noexcept {
    if (size_ == 1) {
      if (next_ >= spec_.count) return false;
      first = next_;
      last = next_ = spec_.is_of_sections ? next_ + 1 : spec_.count;
      return true;
    }
    if (spec_.is_ordered && has_chunk_) pass_turn();
    if (spec_.is_dealt) return !is_lost_ && next_dealt(first, last);
    return next_in_order(first, last);
  }
  /// The same as the program counts.
  [[gnu::always_inline]] bool next(ull* start, ull* end) noexcept {
    ull first, last;
    if (!next(first, last)) return false;
    *start = spec_.base + first * spec_.increment;
    *end = last == spec_.count ? spec_.end : spec_.base + last * spec_.increment;
    return true;
  }

  /// Waits until all ordered regions of iterations before this member's chunk are over.
  void take_turn() noexcept {
    if (size_ == 1 || !spec_.is_ordered || has_turn_ || !has_slot_) return;
    static_cast<void>(board().wait_for_turn(*at_, construct_, position_,
                                            at_->shared().barrier.whom_before(*at_)));
    has_turn_ = true;
  }

  /// This member is done. `holds`: CURSOR-3.
  void end(bool holds = false) noexcept {
    if (!has_slot_) return;
    if (spec_.is_ordered && has_chunk_) pass_turn();
    has_slot_ = false;
    if (holds) {
      holds_late_ = true;
      late_ = construct_;
      late_is_dealt_ = spec_.is_dealt;
    } else {
      board().leave(*at_, construct_, spec_.is_dealt);
    }
  }
  /// Called at the end of the part. The part may still be in a loop: compilers before Clang 19 do not call us when
  /// `cancel` leaves one.
  void leave_all() noexcept {
    if (has_slot_) end();
    if (holds_late_) leave_late();
  }

  const loop_spec& spec() const noexcept { return spec_; }
  bool has_slot() const noexcept { return has_slot_; }
  /// The number of the construct. Requires: has_slot().
  std::uint32_t construct() const noexcept { return construct_; }
  /// Whether the loop has shared memory, which is held at its end.
  bool holds_memory = false;

 private:
  detail::loop_board& board() const noexcept { return at_->shared().loops; }

  void begin_shared(const loop_spec& spec) noexcept {
    if (spec.how == schedule_kind::guided) {
      guided_ = detail::guided_cursor(0, spec.count, spec.least(), size_);
    }
    if (spec.how != schedule_kind::guided) chunks_ = detail::chunks_of(0, spec.count, spec.least());
    if (!spec.is_dealt) return;
    tried_ = 0;
    spec_.is_dealt = size_ <= detail::loop_board::most_hands && chunks_ / 2 >= size_;
    owner_ = rank_;
  }

  bool next_in_order(ull& first, ull& last) noexcept {
    index_range mine(0, 0);
    if (spec_.how == schedule_kind::fixed) {
      if (!next_fixed(mine)) return false;
    } else {
      if (is_lost_) return false;
      position_ = board().take_ticket(construct_);
      if (spec_.how == schedule_kind::dynamic) {
        if (position_ >= chunks_) return false;
        mine = detail::known_chunk(0, spec_.count, spec_.least(), position_);
      } else {
        mine = guided_.advance_to(position_);
      }
    }
    if (mine.first >= mine.last) return false;
    first = mine.first;
    last = mine.last;
    has_chunk_ = true;
    has_turn_ = false;
    return true;
  }
  bool next_fixed(index_range& mine) noexcept {
    if (spec_.chunk == 0) {
      if (next_ != rank_) return false;
      mine = static_block(0, spec_.count, rank_, size_);
      position_ = rank_;
      next_ = rank_ + ull{size_};
      return true;
    }
    if (next_ >= detail::chunks_of(0, spec_.count, spec_.chunk)) return false;
    mine = detail::known_chunk(0, spec_.count, spec_.chunk, next_);
    position_ = next_;
    next_ = next_ + size_ < next_ ? ~ull{0} : next_ + size_;
    return true;
  }
  bool next_dealt(ull& first, ull& last) noexcept {
    for (; tried_ < size_; ++tried_, owner_ = owner_ + 1 < size_ ? owner_ + 1 : 0) {
      const std::size_t hand =
          (chunks_ - owner_ - 2) / size_ + 1;  // without the last chunk: CURSOR-1
      const std::size_t place = detail::loop_board::hand_of(owner_);
      if (board().tickets_taken(construct_, place) >= hand) continue;
      const std::size_t taken = board().take_ticket(construct_, place);
      if (taken < hand) return set(first, last, taken * size_ + owner_);
    }
    return board().take_ticket(construct_) == 0 && set(first, last, chunks_ - 1);
  }
  bool set(ull& first, ull& last, std::size_t number) noexcept {
    const index_range mine = detail::known_chunk(0, spec_.count, spec_.least(), number);
    first = mine.first;
    last = mine.last;
    return true;
  }

  void pass_turn() noexcept {
    has_chunk_ = false;
    if (!has_slot_) return;
    take_turn();
    board().pass_turn(construct_);
  }
  void leave_late() noexcept {
    holds_late_ = false;
    board().leave(*at_, late_, late_is_dealt_);
  }

  loop_spec spec_;
  detail::member_state* at_;
  std::uint32_t construct_, late_;
  unsigned rank_, size_ = 1;
  bool has_slot_ = false, holds_late_ = false;
  bool is_lost_;  ///< the region was stopped before it came to the slot
  bool has_chunk_, has_turn_, late_is_dealt_;
  ull next_;  ///< static: the number of the next chunk; alone: of the next iteration
  std::size_t chunks_, position_, owner_, tried_;
  union {
    detail::guided_cursor guided_;
  };
};

}  // namespace lockstep::openmp

#endif  // LOCKSTEP_OPENMP_RUNTIME_LOOP_CURSOR_HPP
