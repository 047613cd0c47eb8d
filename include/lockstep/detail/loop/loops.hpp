// SPDX-License-Identifier: MIT
// lockstep/detail/loop/loops.hpp -- the members of a region share the work of a range (layer: loop)
//
// The rules are range_parts.hpp's; here members come for their parts. Nothing here depends on the user's function but
// through range_body: it is compiled once. For users: member.hpp.
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
// Cost   a loop with a wait, in step: one RMW on a line of one's own (share_claims.hpp), one look at the barrier.
#ifndef LOCKSTEP_DETAIL_LOOP_LOOPS_HPP
#define LOCKSTEP_DETAIL_LOOP_LOOPS_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lockstep/detail/loop/leaf_loop.hpp>
#include <lockstep/detail/loop/misplaced.hpp>
#include <lockstep/detail/region/group.hpp>
#include <lockstep/detail/region/member_state.hpp>

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
/// Makes one value of the cells of a phase: see team_barrier::meet().
struct cell_combine {
  void (*call)(const void* data, cell& into);
  const void* data;

  void operator()(cell& into) const {
    if (call != nullptr) call(data, into);
  }
};

/// What a member does at the end of a loop: see team_barrier::meet().
class late_shares {
 public:
  using may_be_called = std::false_type;

  late_shares(member_state& at, std::uint32_t loop, bool arrives, const rank_shares& shares,
              const cell_combine& combine) noexcept
      : at_(at), loop_(loop), arrives_(arrives), shares_(shares), combine_(combine) {}

  /// For team_barrier: whether this member arrives by itself.
  bool arrives() const noexcept { return arrives_; }
  /// For team_barrier, after the arrival.
  void meanwhile() {
    if (!barrier().have_all_arrived(at_)) take_when_late();
  }

 private:
  LOCKSTEP_NOINLINE void take_when_late() {
    if (at_.last_by_rank + 1 == at_.phase || !at_.looks.asks() || come_in_time()) return;
    if (take_all()) {
      at_.looks.paid();
    } else {
      at_.looks.failed();
    }
  }

  bool come_in_time() {
    const wait_policy policy = barrier().policy();
    if (policy.is_crowded() || policy.is_block() || cpus_for_waits() == 1) return false;
    if (!at_.patience.asks()) return false;
    for (unsigned polls = polls_for_late_members; polls > 0; --polls) {
      polling_pause();
      if (barrier().have_all_arrived(at_)) {
        at_.patience.paid();
        return true;
      }
    }
    at_.patience.failed();
    return false;
  }

  bool take_all() {
    bool took = false;
    for (std::size_t i = 1, other = at_.rank(); i < at_.size() && !at_.may_stop(); ++i) {
      if (++other == at_.size()) other = 0;
      if (barrier().has_arrived(at_, other) || other >= shares_.count) continue;
      if (!at_.shared().claims.try_take(other, loop_)) continue;
      took = true;
      run_for(other);
    }
    return took;
  }
  void run_for(std::size_t late) {
    struct watch {
      member_state& at;
      bool is_done;
      ~watch() {
        if (!is_done) at.request_stop();
      }
    } share = {at_, false};
    if (!shares_(late)) return;
    share.is_done = true;
    if (at_.shared().claims.finish(late, loop_)) {
      barrier().arrive_for(at_, late, combine_);
    }
  }

  team_barrier& barrier() const noexcept { return at_.shared().barrier; }

  member_state& at_;
  const std::uint32_t loop_;
  const bool arrives_;
  const rank_shares& shares_;
  const cell_combine& combine_;
};

/// Runs this member's share unless another has, and meets the others; `out` gets what combine(out) makes. Requires:
/// this member is not alone. False once the region is stopped.
LOCKSTEP_NOINLINE inline bool run_claimed(member_state& at, const rank_shares& shares, cell& out,
                                          const cell_combine& combine) {
  const std::uint32_t loop = ++at.loops;
  const share_claims::found mine = at.shared().claims.claim(at.rank(), loop);
  if (mine == share_claims::found::free && !shares(at.rank())) return false;
  late_shares late(at, loop, mine != share_claims::found::running, shares, combine);
  return at.meet(out, combine, late);
}

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

inline bool takes_tickets(schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic || how.kind() == schedule_kind::guided;
}
inline bool is_dealt(const member_state& at, std::size_t length, schedule how) noexcept {
  return how.kind() == schedule_kind::dynamic && !at.is_alone() &&
         at.size() <= loop_board::most_hands && chunks_of(0, length, how.chunk()) / 2 >= at.size();
}

/// Dealt dynamic chunks (LOOPS-3), of this member's hand first. Requires: is_dealt().
inline void take_from_hands(const member_state& at, ticket_source& tickets, std::size_t length,
                            std::size_t chunk, const range_body& body) {
  const std::size_t size = at.size(), chunks = chunks_of(0, length, chunk);
  for (std::size_t i = 0, owner = at.rank(); i < size;
       ++i, owner = owner + 1 < size ? owner + 1 : 0) {
    const std::size_t hand = (chunks - owner - 1) / size + 1;
    while (!at.may_stop() && tickets.board()->taken_from_hand(tickets.construct(), owner) < hand) {
      const std::size_t taken = tickets.board()->take_from_hand(tickets.construct(), owner);
      if (taken >= hand) break;
      const index_range mine = known_chunk(0, length, chunk, taken * size + owner);
      body(mine.first, mine.last);
    }
  }
}

/// As hand_out(), with one counter for all members. Requires: takes_tickets(how).
LOCKSTEP_NOINLINE inline bool hand_out_by_ticket(member_state& at, std::size_t length, schedule how,
                                                 const range_body& body) {
  at.note_without_wait();
  ticket_source tickets(at);
  if (tickets.has_entered()) hand_out_in(at, tickets, length, how, body);
  return tickets.leave();
}
LOCKSTEP_NOINLINE inline bool hand_out_by_hand(member_state& at, std::size_t length, schedule how,
                                               const range_body& body) {
  at.note_without_wait();
  ticket_source tickets(at);
  if (tickets.has_entered()) take_from_hands(at, tickets, length, how.chunk(), body);
  return tickets.leave(true);
}

/// The share of a rank by a static schedule.
inline void run_share(const member_state& at, std::size_t rank, std::size_t length, schedule how,
                      const range_body& body) {
  if (how.kind() == schedule_kind::static_blocks) {
    const index_range part = static_block(0, length, rank, at.size());
    if (part.first < part.last) body(part.first, part.last);
  } else {
    deal_chunks(at, rank, length, how.chunk(), body);
  }
}

/// Calls body(first, last) for this member's parts of [0, length); waits for nobody, but for a place of the board.
/// False, and nothing is called any more, once the region is stopped.
LOCKSTEP_NOINLINE inline bool hand_out(member_state& at, std::size_t length, schedule how,
                                       const range_body& body) {
  if (is_dealt(at, length, how)) return hand_out_by_hand(at, length, how, body);
  if (takes_tickets(how)) return hand_out_by_ticket(at, length, how, body);
  if (at.is_stopped()) return false;
  at.note_loop_by_rank(how.kind() == schedule_kind::static_blocks ? length
                                                                  : member_state::no_blocks);
  run_share(at, at.rank(), length, how, body);
  return !at.is_stopped();
}

/// As hand_out(), then waits for all; meanwhile calls body for the shares of members that have not come.
LOCKSTEP_NOINLINE inline bool hand_out_and_wait(member_state& at, std::size_t length, schedule how,
                                                const range_body& body) {
  if (at.is_alone() || takes_tickets(how)) return hand_out(at, length, how, body) && at.sync();
  if (at.is_stopped()) return false;
  struct static_loop {
    const member_state& at;
    std::size_t length;
    schedule how;
    const range_body& body;

    static bool run(const void* data, std::size_t rank) {
      const static_loop& of = *static_cast<const static_loop*>(data);
      run_share(of.at, rank, of.length, of.how, of.body);
      return true;
    }
  } const loop = {at, length, how, body};
  cell nothing;
  return run_claimed(at, {static_loop::run, &loop, length}, nothing, {nullptr, nullptr});
}

/// f(), for which a static_assert has been: what cannot be called so is not, so that its sentence is the only one.
template <class Function>
void call_plain(Function& f, std::true_type /*callable*/) {
  f();
}
template <class Function>
void call_plain(Function&, std::false_type) noexcept {}
template <class Function>
void call_plain(Function& f) {
  call_plain(f, std::integral_constant<bool, is_callable<Function&>::value>());
}

/// Calls f() on the first member that comes, and on no other.
template <class Function>
bool first_come(member_state& at, Function& f) {
  const auto call = [&f](std::size_t, std::size_t) { call_plain(f); };
  return hand_out_by_ticket(at, 1, dynamic_schedule(), body_of(call));
}

/// Calls the k-th of some functions.
inline void call_one(std::size_t) noexcept {}
template <class Function, class... Others>
void call_one(std::size_t k, Function& f, Others&... others) {
  static_assert(is_callable<Function&>::value || has_nowait<Function>::value,
                "lockstep: the function of a section cannot be called as f()");
  if (k == 0) {
    call_plain(f);
  } else {
    call_one(k - 1, others...);
  }
}

}  // namespace loops
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_LOOP_LOOPS_HPP
