// SPDX-License-Identifier: MIT
// src/loop/loops.hpp -- how the members of a region share the work of a range (layer: loop)
//
// range_parts.hpp has the rules of the schedules. Here members take their parts. For users: member.hpp.
//
//   LOOPS-1  Each iteration is done once, by one member. In a stopped region it may not be done at all.
//   LOOPS-2  Static schedules share nothing. Dynamic and guided ones take tickets from a place of the loop board. Every
//            member enters and leaves that place, even if it finds nothing left to do.
//   LOOPS-3  A member that is alone takes the same chunks, in order, with tickets that it counts itself.
//            Dynamic loops of up to 8 members with two chunks each are dealt: member r of n has a hand, the chunks
//            r, r + n, r + 2n, ... It takes these, and then what is left of other hands. So the first chunk that is not
//            begun is the next one of some member. An iteration may wait for earlier ones if all members come to the
//            loop without waiting for it. for_ordered, sections and single have one counter.
//   LOOPS-4  A member checks before each block or chunk whether the region was stopped, and not inside one.
//
// A static share belongs to a rank. In a loop that waits at its end, a member claims its share, runs it and arrives.
// While it waits, it takes the shares of members that have not come to the loop: they are asleep or have no CPU. If a
// late member finds its share done, it arrives itself. If it finds its share running, the member that runs the share
// arrives for it.
//
//   LOOPS-5  Each share is run once. Its member arrives after that, and after it has come itself. So the barrier is as
//            strong as ever: it waits for every member, and the cells of a phase are read before any member writes
//            them again (GROUP-2).
//   LOOPS-6  A member that has run a loop by rank in this phase, without a wait after it, takes no shares. A late
//            member may still have to run its own part of that loop, and its share of this loop may need that part.
//   LOOPS-7  In a stopped region no share is taken. If a share that was taken ends with an exception, the region is
//            stopped: the share's member can no longer arrive.
//
// A look at a member's claim takes the line away from that member, which needs it in its next loop. So a member first
// polls the barrier for a moment. If its looks find nothing, it looks only in one loop of 64. In a crowd, and where
// waits sleep at once, it looks without polling first.
//
// Cost   a loop with a wait, in step: one RMW on the member's own line (region_board.hpp), one look at the barrier.
#ifndef LOCKSTEP_SRC_LOOP_LOOPS_HPP
#define LOCKSTEP_SRC_LOOP_LOOPS_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/loop/loops.hpp>
#include <lockstep/detail/region/member_state.hpp>
#include "../region/group.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// --- shares that other members may run ---

/// The shares of a loop, and what the members make of them when they meet. Ranks from `count` on have no share. run()
/// returns false if the region was stopped; the share is then not done. `values`: room for a value of each rank if
/// members meet by flags, else null. A member's own share puts its value there; the values of others come from their
/// cells.
struct rank_shares {
  function_ref<bool(std::size_t rank)> run;
  std::size_t count;
  cell_combine combine;
  cell* values;
};
/// Runs this member's share unless another member has, and meets the others; `out` gets what combine(out) makes.
/// Requires: this member is not alone. False once the region is stopped.
bool run_claimed(member_state& at, const rank_shares& shares, cell& out);

// --- handing out ---

namespace loops {

/// Where the tickets of one construct come from. A member that is alone counts its tickets itself.
class ticket_source {
 public:
  /// Enters the construct, with all members. In a stopped region it may be none: is_stopped() of the member is true then.
  /// `dealt`: the number of chunks if they are dealt (LOOPS-3), else 0.
  explicit ticket_source(member_state& at, std::size_t dealt = 0) : at_(at), dealt_(dealt) {
    if (at.is_alone() || at.is_stopped()) return;
    construct_ = at.construct++;
    loop_board& board = at.shared().loops;
    const awaits_others here(at, {"a work-sharing construct", {}, 0, 0});
    if (board.enter(at, construct_)) board_ = &board;
    if (dealt > 0) look_into_hand_of(at.rank());
  }
  ticket_source(const ticket_source&) = delete;
  ticket_source& operator=(const ticket_source&) = delete;

  /// Leaves it. False once the region is stopped.
  bool leave() {
    if (board_ != nullptr) board_->leave(at_, construct_, dealt_ > 0);
    return !at_.is_stopped();
  }

  std::size_t take() noexcept {
    if (board_ == nullptr) return next_++;
    if (dealt_ == 0) return board_->take_ticket(construct_);
    for (; next_ < at_.size(); ++next_, look_into_hand_of(owner_ + 1)) {
      const std::size_t hand = loop_board::hand_of(owner_);
      if (board_->tickets_taken(construct_, hand) >= hand_) continue;
      const std::size_t taken = board_->take_ticket(construct_, hand);
      if (taken < hand_) return taken * at_.size() + owner_;
    }
    return dealt_;
  }

 protected:
  member_state& at_;
  loop_board* board_ = nullptr;  ///< null for a member that is alone, and if it was not entered
  std::uint32_t construct_ = 0;

 private:
  void look_into_hand_of(std::size_t owner) noexcept {
    owner_ = owner < at_.size() ? owner : 0;
    hand_ = (dealt_ - owner_ - 1) / at_.size() + 1;
  }

  const std::size_t dealt_;
  std::size_t next_ = 0;  ///< the next ticket; where chunks are dealt, the number of empty hands
  std::size_t owner_ = 0, hand_ = 0;  ///< whose hand it takes from, and how many chunks that had
};

// At: member_state, loop_share or lone_share.

/// The share of a rank by a static schedule: its `block`, or the chunks rank, rank + size, ...
template <class At>
void run_share(const At& at, std::size_t rank, index_range block, std::size_t length, schedule how,
               const range_body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    if (block.first < block.last) body(block.first, block.last);
    return;
  }
  const std::size_t chunk = how.chunk(), chunks = chunks_of(0, length, chunk);
  for (std::size_t c = rank; c < chunks && !at.is_stopped(); c += at.size()) {
    const index_range mine = known_chunk(0, length, chunk, c);
    body(mine.first, mine.last);
    if (chunks - c <= at.size()) return;  // before c + size can wrap
  }
}

inline bool takes_tickets(schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic || how.kind() == schedule_kind::guided;
}

/// Runs the parts of a member or a share. With tickets: the part of each, until one has none.
template <class At, class Tickets>
void hand_out_in(const At& at, Tickets& tickets, std::size_t length, schedule how,
                 const range_body& body) {
  if (!takes_tickets(how)) {
    return run_share(at, at.rank(), at.block_of(index_range{0, length}), length, how, body);
  }
  const bool is_guided = how.kind() == schedule_kind::guided;
  const std::size_t chunks = chunks_of(0, length, how.chunk());
  guided_cursor shrinking(0, length, how.chunk(), at.size());
  while (!at.is_stopped()) {
    const std::size_t ticket = tickets.take();
    const index_range mine = is_guided         ? shrinking.advance_to(ticket)
                             : ticket < chunks ? known_chunk(0, length, how.chunk(), ticket)
                                               : index_range{0, 0};
    if (mine.first == mine.last) return;
    body(mine.first, mine.last);
  }
}

}  // namespace loops
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOPS_HPP
