// SPDX-License-Identifier: MIT
// lockstep/detail/team/loops.hpp -- the members of a region share the work of a range (layer: team)
//
// By which rule is schedule.hpp's; here members come for their parts. For users: member.hpp.
//
//   L1  Each iteration is done once, by one member, or not at all where the region is stopped.
//   L2  Static schedules share nothing. Dynamic and guided ones take tickets from a place of the loop board,
//       which every member enters and leaves, also one that finds nothing left to do.
//   L3  A member that is alone takes the same chunks, in order, with tickets that it counts itself.
//       Dynamic loops of up to 8 members with two chunks each are dealt: member r of n takes chunks r, r + n,
//       r + 2n, ..., and then what is left of the others' hands. So the first chunk that nobody has begun is
//       the next one of some member: an iteration may wait for those before it, if all members come to the
//       loop without waiting for it. for_ordered, sections and single have one counter.
//   L4  A static share belongs to a rank. In a loop that waits at its end it may be run by another member, in place
//       of one that has not come (late_shares.hpp).
//   L5  Before each block or chunk a member looks whether the region was stopped; in it, it does not.
#ifndef LOCKSTEP_DETAIL_TEAM_LOOPS_HPP
#define LOCKSTEP_DETAIL_TEAM_LOOPS_HPP

#include <cstddef>
#include <utility>

#include "collapse.hpp"
#include "index_span.hpp"
#include "late_shares.hpp"
#include "loop_share.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

class member_loops;
namespace loops {

/// Where the tickets of one construct come from.
struct ticket_source {
  loop_board* board;  ///< null for a member that is alone
  std::uint32_t construct;
  std::size_t next;  ///< of a member that is alone

  std::size_t take() noexcept { return board != nullptr ? board->take_ticket(construct) : next++; }
};

/// Calls use(tickets) in a construct that all members enter and leave. False once the region is stopped.
template <class Use>
bool in_construct(member_state& at, Use use) {
  if (at.is_stopped()) return false;
  ticket_source tickets = {nullptr, 0, 0};
  if (!at.is_alone()) {
    tickets.board = &at.shared().loops;
    tickets.construct = at.next_construct();
    if (!tickets.board->enter(at, tickets.construct)) return false;
  }
  use(tickets);
  if (tickets.board != nullptr) tickets.board->leave(at, tickets.construct);
  return !at.is_stopped();
}

/// The chunks of static_chunk() that are the share of a rank, in turn.
template <class At, class Body>
void deal_chunks(const At& at, std::size_t rank, index_range range, std::size_t chunk, Body& body) {
  const std::size_t chunks = chunks_of(range.first, range.last, chunk);
  for (std::size_t c = rank; c < chunks && !at.may_stop(); c += at.size()) {
    const index_range mine = known_chunk(range.first, range.last, chunk, c);
    body(mine.first, mine.last);
    if (chunks - c <= at.size()) return;  // before c + size can wrap
  }
}

/// The share of a rank by a static schedule.
template <class Body>
void run_share(member_state& at, std::size_t rank, index_range range, schedule how, Body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range part = static_block(range.first, range.last, rank, at.size());
    if (part.first < part.last) body(part.first, part.last);
  } else {
    deal_chunks(at, rank, range, how.chunk(), body);
  }
}

/// Calls body for what each ticket stands for, until one stands for nothing.
template <class At, class Tickets, class Part, class Body>
void take_parts(const At& at, Tickets& tickets, Part part_of, Body& body) {
  while (!at.may_stop()) {
    const index_range mine = part_of(tickets.take());
    if (mine.first == mine.last) return;
    body(mine.first, mine.last);
  }
}

/// Dealt dynamic chunks (L2), of this member's hand first. Requires: chunks >= at.size().
template <class Body>
void take_from_hands(member_state& at, std::uint32_t construct, index_range range,
                     std::size_t chunk, std::size_t chunks, Body& body) {
  loop_board& board = at.shared().loops;
  const std::size_t size = at.size();
  for (std::size_t i = 0, owner = at.rank(); i < size;
       ++i, owner = owner + 1 < size ? owner + 1 : 0) {
    const std::size_t hand = (chunks - owner - 1) / size + 1;
    while (!at.may_stop() && board.taken_from_hand(construct, owner) < hand) {
      const std::size_t taken = board.take_from_hand(construct, owner);
      if (taken >= hand) break;
      const index_range mine = known_chunk(range.first, range.last, chunk, taken * size + owner);
      body(mine.first, mine.last);
    }
  }
}

inline bool is_dealt(member_state& at, index_range range, schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic && !at.is_alone() &&
         at.size() <= loop_board::most_hands &&
         chunks_of(range.first, range.last, how.chunk()) / 2 >= at.size();
}

/// As hand_out() where is_dealt().
template <class Body>
bool deal_out(member_state& at, index_range range, schedule how, Body& body) {
  if (at.is_stopped()) return false;
  loop_board& board = at.shared().loops;
  const std::uint32_t construct = at.next_construct();
  if (!board.enter(at, construct)) return false;
  take_from_hands(at, construct, range, how.chunk(),
                  chunks_of(range.first, range.last, how.chunk()), body);
  board.leave(at, construct, true);
  return !at.is_stopped();
}

/// As hand_out(), in a construct that was entered where the schedule takes tickets.
template <class At, class Tickets, class Body>
void hand_out_in(const At& at, Tickets& tickets, index_range range, schedule how, Body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range mine = at.block_of(range);
    if (mine.first < mine.last) body(mine.first, mine.last);
  } else if (how.kind() == schedule_kind::static_chunks) {
    deal_chunks(at, at.rank(), range, how.chunk(), body);
  } else if (how.kind() == schedule_kind::dynamic) {
    const std::size_t chunks = chunks_of(range.first, range.last, how.chunk());
    const auto part_of = [&](std::size_t ticket) {
      return ticket < chunks ? known_chunk(range.first, range.last, how.chunk(), ticket)
                             : index_range{range.last, range.last};
    };
    take_parts(at, tickets, part_of, body);
  } else {
    guided_cursor cursor(range.first, range.last, how.chunk(), at.size());
    take_parts(at, tickets, [&](std::size_t ticket) { return cursor.advance_to(ticket); }, body);
  }
}

inline bool takes_tickets(schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic || how.kind() == schedule_kind::guided;
}

/// As hand_out(), with one counter for all members. Requires: takes_tickets(how).
template <class Body>
bool hand_out_by_ticket(member_state& at, index_range range, schedule how, Body&& body) {
  return in_construct(at,
                      [&](ticket_source& tickets) { hand_out_in(at, tickets, range, how, body); });
}

/// Calls body(first, last) for this member's parts of the range; waits for nobody, but for the place.
/// False, and nothing is called any more, once the region is stopped.
template <class Body>
bool hand_out(member_state& at, index_range range, schedule how, Body body) {
  if (is_dealt(at, range, how)) return deal_out(at, range, how, body);
  if (takes_tickets(how)) return hand_out_by_ticket(at, range, how, body);
  if (at.is_stopped()) return false;
  at.note_loop_by_rank();
  run_share(at, at.rank(), range, how, body);
  return !at.is_stopped();
}

/// The same for a part of a loop that is a region by itself.
template <class Body>
void hand_out(const loop_share& at, index_range range, schedule how, Body body) {
  hand_out_in(at, at, range, how, body);
}

/// The shares of a loop, by a static schedule.
template <class Body>
struct static_shares {
  member_state& at;
  index_range range;
  schedule how;
  Body& body;

  /// Of chunks it may be so all the same.
  bool is_empty(std::size_t rank) const noexcept { return rank >= length_of(range); }
  void operator()(std::size_t rank) const { run_share(at, rank, range, how, body); }
};

/// As hand_out(), then waits for all; meanwhile calls body for the shares of members that have not come.
template <class Body>
bool hand_out_and_wait(member_state& at, index_range range, schedule how, Body body) {
  if (at.is_alone() || takes_tickets(how)) return hand_out(at, range, how, body) && at.sync();
  if (at.is_stopped()) return false;
  const static_shares<Body> shares = {at, range, how, body};
  cell nothing;
  return run_claimed(at, shares, nothing, [](cell&) {});
}

/// How a loop is run: by hand_out(), or by hand_out_and_wait().
struct without_wait {
  template <class Body>
  static bool run(member_state& at, index_range range, schedule how, Body body) {
    return hand_out(at, range, how, body);
  }
};
struct with_wait {
  template <class Body>
  static bool run(member_state& at, index_range range, schedule how, Body body) {
    return hand_out_and_wait(at, range, how, body);
  }
};

/// f(i) for all i of the span, by this member and the others.
template <class Way = without_wait, class Index, class Function>
bool for_each(member_state& at, const index_span<Index>& span, schedule how, Function& f) {
  return Way::run(at, index_range{0, span.length}, how, each_index(span, f));
}

/// A part of nested ranges.
template <class Ranges, class Function>
struct part_of_nested {
  static_assert(
      is_nested<Ranges>::template calls<Function>(),
      "lockstep: the function of this loop cannot be called as f(i, j), or f(i, j, k) for "
      "three ranges, with indices of type std::size_t");
  const Ranges& ranges;
  Function& f;

  void operator()(std::size_t begin, std::size_t end) const { run_nested(ranges, begin, end, f); }
};

/// f(i, j), or f(i, j, k), for all of them.
template <class Way = without_wait, class Ranges, class Function>
bool for_each_nested(member_state& at, const Ranges& ranges, schedule how, Function& f) {
  return Way::run(at, index_range{0, iterations_of(ranges)}, how,
                  part_of_nested<Ranges, Function>{ranges, f});
}

/// Calls f() on the first member that comes, and on no other.
template <class Function>
bool first_come(member_state& at, Function& f) {
  return hand_out_by_ticket(at, index_range{0, 1}, dynamic_schedule(),
                            [&](std::size_t, std::size_t) { f(); });
}

/// Calls the k-th of some functions.
inline void call_one(std::size_t) noexcept {}
template <class Function>
void call_one(std::size_t, Function& f) {
  static_assert(is_callable<Function&>::value,
                "lockstep: the function of a section cannot be called as f()");
  f();
}
template <class Function, class... Others>
void call_one(std::size_t k, Function& f, Others&... others) {
  if (k == 0) {
    call_one(0, f);
  } else {
    call_one(k - 1, others...);
  }
}
/// Calls each of the functions on the first member that comes for it.
template <class... Functions>
bool first_come_each(member_state& at, Functions&... functions) {
  return hand_out_by_ticket(at, index_range{0, sizeof...(Functions)}, dynamic_schedule(),
                            [&](std::size_t first, std::size_t last) {
                              for (std::size_t k = first; k < last; ++k) call_one(k, functions...);
                            });
}
template <class... Functions>
void first_come_each(const loop_share& at, Functions&... functions) {
  for (std::size_t k = at.take(); k < sizeof...(Functions) && !at.may_stop(); k = at.take()) {
    call_one(k, functions...);
  }
}

}  // namespace loops

}  // namespace detail

/// The right of an iteration to run a part of itself after that part of all iterations before it. See
/// member_loops::for_ordered().
class ordered_turn {
 public:
  /// Calls f() when it is this iteration's turn; at most once an iteration. Once the region is stopped it
  /// does not call it: it throws region_stopped, or returns false in try_for_ordered().
  template <class Function>
  bool operator()(Function&& f) {
    if (!wait()) {
      if (throws_) detail::leave_stopped_region();
      return false;
    }
    f();
    pass();
    return true;
  }

  ordered_turn(const ordered_turn&) = delete;
  ordered_turn& operator=(const ordered_turn&) = delete;

 private:
  friend class detail::member_loops;

  ordered_turn(detail::member_state& at, const detail::loops::ticket_source& of,
               bool throws) noexcept
      : at_(at), board_(of.board), construct_(of.construct), throws_(throws) {}

  void begin(std::size_t position) noexcept {
    position_ = position;
    has_passed_ = false;
  }
  /// An iteration that has not taken its turn passes it all the same.
  void end() {
    if (!has_passed_ && wait()) pass();
  }

  bool wait() {
    return board_ == nullptr ? !at_.is_stopped()
                             : board_->wait_for_turn(at_, construct_, position_);
  }
  void pass() {
    has_passed_ = true;
    if (board_ != nullptr) board_->pass_turn(construct_);
  }

  detail::member_state& at_;
  detail::loop_board* const board_;
  const std::uint32_t construct_;
  const bool throws_;
  std::size_t position_ = 0;
  bool has_passed_ = false;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_LOOPS_HPP
