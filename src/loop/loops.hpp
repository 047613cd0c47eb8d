// SPDX-License-Identifier: MIT
// src/loop/loops.hpp -- how the members of a region share the work of a range (layer: loop)
//
// The rules are range_parts.hpp's; here members come for their parts. For users: member.hpp.
//
//   LOOPS-1  Each iteration is done once, by one member, or not at all where the region is stopped.
//   LOOPS-2  Static schedules share nothing. Dynamic and guided ones take tickets from a place of the loop board,
//            which every member enters and leaves, also one that finds nothing left to do.
//   LOOPS-3  A member that is alone takes the same chunks, in order, with tickets that it counts itself.
//            Dynamic loops of up to 8 members with two chunks each are dealt: member r of n takes chunks r, r + n,
//            r + 2n, ..., and then what is left of the others' hands. So the first chunk that nobody has begun is
//            the next one of some member: an iteration may wait for those before it, if all members come to the
//            loop without waiting for it. for_ordered, sections and single have one counter.
//   LOOPS-4  Before each block or chunk a member looks whether the region was stopped; in it, it does not.
//
// A static share belongs to a rank. In a loop that waits at its end, a member claims its share, runs it and arrives.
// Then, while it waits, it takes the shares of members that have not come to the loop: they are asleep or have no CPU.
// When such a member comes it finds its share done and arrives, or finds it running; then the member that runs it
// arrives for it.
//
//   LOOPS-5  Each share is run once, and its member's arrival comes after it and after the member has come. So the
//            barrier is none the weaker: no member is passed by, and the cells of a phase are read before they are
//            written again (GROUP-2), whichever member writes them.
//   LOOPS-6  A member that has run a loop by rank in this phase, without a wait after it, takes nothing: a late member
//            does the same, and its share may need its own part of that loop.
//   LOOPS-7  In a stopped region no share is taken. A share that was taken and ends with an exception stops the
//            region: its member will never have arrived.
//
// A look at the claim of a member that is in time takes the line away from it for its next loop. So a member polls the
// barrier for a moment first, as it would anyway; and where looks find nothing it stops looking, but for one loop
// in 64. In a crowd, and where waits sleep at once, it looks at once.
//
// Cost   a loop with a wait, in step: one RMW on a line of one's own (share_board.hpp), one look at the barrier.
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

/// The shares of a loop: ranks from `count` on have none. A call is false where the region was stopped, and the share is
/// not done.
struct rank_shares {
  bool (*call)(const void* data, std::size_t rank);
  const void* data;
  std::size_t count;

  bool operator()(std::size_t rank) const { return call(data, rank); }
};
/// Runs this member's share unless another has, and meets the others; `out` gets what combine(out) makes. `values`: null,
/// or room for the value of each rank, where they meet by flags: this member's is what its share has put there; those of
/// others are what their shares have put into their cells. Requires: this member is not alone. False once the region is
/// stopped.
bool run_claimed(member_state& at, const rank_shares& shares, cell& out,
                 const cell_combine& combine, cell* values = nullptr);

// --- handing out ---

namespace loops {

/// Where the tickets of one construct come from. A member that is alone counts them itself.
class ticket_source {
 public:
  /// Enters the construct, with all members.
  explicit ticket_source(member_state& at) : at_(at) {
    if (at.is_stopped()) return;
    if (!at.is_alone()) {
      board_ = &at.shared().loops;
      construct_ = at.next_construct();
      if (!board_->enter(at, construct_)) return;
    }
    has_entered_ = true;
  }
  ticket_source(const ticket_source&) = delete;
  ticket_source& operator=(const ticket_source&) = delete;

  /// False where the region is stopped.
  bool has_entered() const noexcept { return has_entered_; }
  /// Leaves it. False once the region is stopped.
  bool leave(bool has_hands = false) {
    if (!has_entered_) return false;
    if (board_ != nullptr) board_->leave(at_, construct_, has_hands);
    return !at_.is_stopped();
  }

  std::size_t take() noexcept {
    return board_ != nullptr ? board_->take_ticket(construct_) : next_++;
  }
  /// Null for a member that is alone.
  loop_board* board() const noexcept { return board_; }
  std::uint32_t construct() const noexcept { return construct_; }

 private:
  member_state& at_;
  loop_board* board_ = nullptr;
  std::uint32_t construct_ = 0;
  std::size_t next_ = 0;
  bool has_entered_ = false;
};

// At: member_state or loop_share.

/// The chunks number rank, rank + size, ... are the share of a rank.
template <class At>
void deal_chunks(const At& at, std::size_t rank, std::size_t length, std::size_t chunk,
                 const range_body& body) {
  const std::size_t chunks = chunks_of(0, length, chunk);
  for (std::size_t c = rank; c < chunks && !at.may_stop(); c += at.size()) {
    const index_range mine = known_chunk(0, length, chunk, c);
    body(mine.first, mine.last);
    if (chunks - c <= at.size()) return;  // before c + size can wrap
  }
}

/// Calls body for what each ticket stands for, until one stands for nothing.
template <class At, class Tickets>
void take_chunks(const At& at, Tickets& tickets, std::size_t length, std::size_t chunk,
                 const range_body& body) {
  const std::size_t chunks = chunks_of(0, length, chunk);
  while (!at.may_stop()) {
    const std::size_t ticket = tickets.take();
    if (ticket >= chunks) return;
    const index_range mine = known_chunk(0, length, chunk, ticket);
    body(mine.first, mine.last);
  }
}
template <class At, class Tickets>
void take_shrinking_chunks(const At& at, Tickets& tickets, std::size_t length, std::size_t least,
                           const range_body& body) {
  guided_cursor cursor(0, length, least, at.size());
  while (!at.may_stop()) {
    const index_range mine = cursor.advance_to(tickets.take());
    if (mine.first == mine.last) return;
    body(mine.first, mine.last);
  }
}

/// This member's or share's parts of a range, in a construct that was entered where the schedule takes tickets.
template <class At, class Tickets>
void hand_out_in(const At& at, Tickets& tickets, std::size_t length, schedule how,
                 const range_body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range mine = at.block_of(index_range{0, length});
    if (mine.first < mine.last) body(mine.first, mine.last);
  } else if (how.kind() == schedule_kind::static_chunks) {
    deal_chunks(at, at.rank(), length, how.chunk(), body);
  } else if (how.kind() == schedule_kind::dynamic) {
    take_chunks(at, tickets, length, how.chunk(), body);
  } else {
    take_shrinking_chunks(at, tickets, length, how.chunk(), body);
  }
}

}  // namespace loops
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_LOOP_LOOPS_HPP
