// SPDX-License-Identifier: MIT
// lockstep/team/loops.hpp -- the members of a region share the work of a range (layer: team)
//
// By which rule is schedule.hpp's; here members come for their parts. For users: member.hpp.
//
//   L1  Each iteration is done once, by one member, or not at all where the region is stopped.
//   L2  Static schedules share nothing. Dynamic and guided ones take tickets from a place of the loop board,
//       which every member enters and leaves, also one that finds nothing left to do.
#ifndef LOCKSTEP_TEAM_LOOPS_HPP
#define LOCKSTEP_TEAM_LOOPS_HPP

#include <cstddef>
#include <utility>

#include "collapse.hpp"
#include "seat.hpp"

namespace lockstep {
namespace loops {

/// The chunks of static_chunk(), in turn.
template <class Body>
void deal_chunks(const seat& at, index_range range, std::size_t chunk, Body& body) {
  const std::size_t chunks = chunks_of(range.first, range.last, chunk);
  for (std::size_t c = at.rank(); c < chunks && !at.may_stop(); c += at.size()) {
    const index_range mine = known_chunk(range.first, range.last, chunk, c);
    body(mine.first, mine.last);
    if (chunks - c <= at.size()) return;  // before c + size can wrap
  }
}

/// Calls body for what each ticket stands for, until one stands for nothing.
template <class Part, class Body>
void take_parts(const seat& at, std::uint32_t construct, Part part_of, Body& body) {
  while (!at.may_stop()) {
    const index_range mine = part_of(at.shared().loops.take_ticket(construct));
    if (mine.first == mine.last) return;
    body(mine.first, mine.last);
  }
}

/// As hand_out(), in a construct that was entered, and is left by who entered it.
template <class Body>
void hand_out_in(const seat& at, std::uint32_t construct, index_range range, schedule how,
                 Body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range mine = static_block(range.first, range.last, at.rank(), at.size());
    if (mine.first < mine.last) body(mine.first, mine.last);
  } else if (how.kind() == schedule_kind::static_chunks) {
    deal_chunks(at, range, how.chunk(), body);
  } else if (how.kind() == schedule_kind::dynamic) {
    const std::size_t chunks = chunks_of(range.first, range.last, how.chunk());
    const auto part_of = [&](std::size_t ticket) {
      return ticket < chunks ? known_chunk(range.first, range.last, how.chunk(), ticket)
                             : index_range{range.last, range.last};
    };
    take_parts(at, construct, part_of, body);
  } else {
    guided_cursor cursor(range.first, range.last, how.chunk(), at.size());
    take_parts(at, construct, [&](std::size_t ticket) { return cursor.advance_to(ticket); }, body);
  }
}

inline bool takes_tickets(schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic || how.kind() == schedule_kind::guided;
}

/// Calls body(first, last) for this member's parts of the range; waits for nobody, but for the place.
/// False once the region is stopped.
template <class Body>
bool hand_out(const seat& at, index_range range, schedule how, Body body) {
  if (at.is_alone()) {
    if (range.first < range.last) body(range.first, range.last);
    return !at.is_stopped();
  }
  if (!takes_tickets(how)) {
    hand_out_in(at, 0, range, how, body);
    return !at.is_stopped();
  }
  const std::uint32_t construct = at.next_construct();
  if (!at.shared().loops.enter(at.place(), construct)) return false;
  hand_out_in(at, construct, range, how, body);
  at.shared().loops.leave(at.place(), construct);
  return !at.is_stopped();
}

/// Calls f() on the first member that comes, and on no other.
template <class Function>
bool first_come(const seat& at, Function& f) {
  return hand_out(at, index_range{0, 1}, dynamic_schedule(),
                  [&](std::size_t, std::size_t) { f(); });
}

/// Calls the k-th of some functions.
template <class Function>
void call_one(std::size_t, Function& f) {
  f();
}
template <class Function, class... Others>
void call_one(std::size_t k, Function& f, Others&... others) {
  if (k == 0) {
    f();
  } else {
    call_one(k - 1, others...);
  }
}

}  // namespace loops

/// The right of an iteration to run a part of itself after that part of all iterations before it. See
/// member::for_ordered().
class ordered_turn {
 public:
  /// Calls f() when it is this iteration's turn; at most once an iteration. Does not call it, and returns
  /// false, once the region is stopped.
  template <class Function>
  bool operator()(Function&& f) {
    if (!wait()) return false;
    f();
    pass();
    return true;
  }

  ordered_turn(const ordered_turn&) = delete;
  ordered_turn& operator=(const ordered_turn&) = delete;

 private:
  friend class member;

  ordered_turn(const seat& at, std::uint32_t construct) noexcept : at_(at), construct_(construct) {}

  void begin(std::size_t position) noexcept {
    position_ = position;
    has_passed_ = false;
  }
  /// An iteration that has not taken its turn passes it all the same.
  void end() {
    if (!has_passed_ && wait()) pass();
  }

  bool wait() {
    return at_.is_alone() ? !at_.is_stopped()
                          : at_.shared().loops.wait_for_turn(at_.place(), construct_, position_);
  }
  void pass() {
    has_passed_ = true;
    if (!at_.is_alone()) at_.shared().loops.pass_turn(construct_);
  }

  const seat at_;
  const std::uint32_t construct_;
  std::size_t position_ = 0;
  bool has_passed_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TEAM_LOOPS_HPP
