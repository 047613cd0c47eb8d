// SPDX-License-Identifier: MIT
// src/loop/loops.cpp -- the bodies of loops.hpp and weighted_schedule.hpp (layer: loop)
#include "loops.hpp"

#include <lockstep/weighted_schedule.hpp>
#include "partition.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Claims the share of a rank in a loop inside a region: PART-5 of region_board.hpp.
inline bool claim_share(const member_state& at, std::size_t rank, std::uint32_t loop) noexcept {
  std::uint32_t part;
  return at.shared().shares.try_claim(rank, share_board::all_claimed(loop - 1), loop, 1, part) ==
         share_board::outcome::claimed;
}

/// What a member does at the end of a loop: see team_barrier::meet().
class late_shares : public usual_arrival {
 public:
  late_shares(member_state& at, const rank_shares& shares, std::uint32_t loop, bool is_own) noexcept
      : at_(at),
        shares_(shares),
        loop_(loop),
        is_own_(is_own),
        arrives_(is_own || at.shared().shares.finish(at.rank(), 2)) {}

  /// For team_barrier: whether this member arrives by itself.
  bool arrives() const noexcept { return arrives_; }
  void put(cell& own) const noexcept {
    if (shares_.values == nullptr) return;
    cell& value = shares_.values[at_.rank()];
    (is_own_ ? own : value) = is_own_ ? value : own;
  }
  arrival_with_value::takes_value awaits(std::uint32_t phase, std::size_t rank,
                                         const cell& value) const noexcept {
    return {{phase}, &value, shares_.values != nullptr ? &shares_.values[rank] : nullptr};
  }
  /// For team_barrier, after the arrival.
  void meanwhile() {
    if (!barrier().have_all_arrived(at_)) take_when_late();
  }

 private:
  LOCKSTEP_NOINLINE void take_when_late() {
    if (at_.last_by_rank + 1 == at_.phase || !at_.looks.asks()) return;
    const wait_policy policy = barrier().policy();
    const bool has_patience =
        !policy.is_crowded() && !policy.is_block() && cpus_for_waits() > 1 && at_.patience.asks();
    if (has_patience) {
      const bool came = come_in_time([this] { return barrier().have_all_arrived(at_); });
      at_.patience.learn(came);
      if (came) return;
    }
    at_.looks.learn(take_all());
  }

  bool take_all() {
    bool took = false;
    for (std::size_t i = 1, other = at_.rank(); i < at_.size() && !at_.is_stopped(); ++i) {
      if (++other == at_.size()) other = 0;
      if (barrier().has_arrived(at_, other) || other >= shares_.count) continue;
      // Looks first: a claim that fails would take the line away from its member.
      if (at_.shared().shares.look(other) != share_board::all_claimed(loop_ - 1)) continue;
      if (!claim_share(at_, other, loop_)) continue;
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
    if (!shares_.run(late)) return;
    share.is_done = true;
    if (at_.shared().shares.finish(late, 2)) barrier().arrive_for(at_, late, shares_.combine);
  }

  team_barrier& barrier() const noexcept { return at_.shared().barrier; }

  member_state& at_;
  const rank_shares& shares_;
  const std::uint32_t loop_;
  const bool is_own_, arrives_;
};

LOCKSTEP_INLINE bool run_claimed(member_state& at, const rank_shares& shares, cell& out) {
  const std::uint32_t loop = ++at.loops;
  const bool is_own = claim_share(at, at.rank(), loop);
  if (is_own && !shares.run(at.rank())) return false;
  late_shares late(at, shares, loop, is_own);
  return meet(at, out, shares.combine, late);
}

/// The tickets and turns of an ordered loop's iterations, for one member.
class ordered_iterations : public loops::ticket_source {
 public:
  ordered_iterations(member_state& at, bool throws)
      : ticket_source(at), throws_(throws), turn_(*this) {}

  void run(std::size_t position, const loops::ordered_body& body) {
    position_ = position;
    has_taken_ = has_passed_ = false;
    body(position, turn_);
    // It has not taken the turn, or caught what turn(f) threw.
    if (!has_passed_ && wait_for_turn()) pass_turn();
  }

  /// False once the region is stopped.
  bool take_turn() {
    if (has_taken_) {
      fail_use(
          "lockstep::member::for_ordered: turn(f) is called a second time in an iteration; call it "
          "once, with all that has to be in order");
    }
    has_taken_ = true;
    if (wait_for_turn()) return true;
    if (throws_) leave_stopped_region();
    return false;
  }
  void pass_turn() {
    has_passed_ = true;
    if (board_ != nullptr) board_->pass_turn(construct_);
  }

 private:
  /// False once the region is stopped.
  bool wait_for_turn() {
    if (board_ == nullptr) return !at_.is_stopped();
    const awaits_others here(at_, at_.in_construct);
    return board_->wait_for_turn(at_, construct_, position_, at_.shared().barrier.whom_before(at_));
  }

  const bool throws_;
  bool has_taken_ = false, has_passed_ = false;
  std::size_t position_ = 0;
  ordered_turn turn_;
};
LOCKSTEP_INLINE bool take_turn(ordered_iterations& of) { return of.take_turn(); }
LOCKSTEP_INLINE void pass_turn(ordered_iterations& of) { of.pass_turn(); }

namespace loops {

/// How many chunks are dealt: LOOPS-3. 0: there is one counter.
inline std::size_t dealt_chunks(const member_state& at, std::size_t length, schedule how) noexcept {
  const std::size_t chunks = chunks_of(0, length, how.chunk());
  const bool is_dealt = how.kind() == schedule_kind::dynamic && !at.is_alone() &&
                        at.size() <= loop_board::most_hands && chunks / 2 >= at.size();
  return is_dealt ? chunks : 0;
}

/// As hand_out(). Requires: takes_tickets(how).
inline bool hand_out_tickets(member_state& at, std::size_t length, schedule how,
                             const range_body& body, std::size_t dealt) {
  at.note_without_wait();
  ticket_source tickets(at, dealt);
  hand_out_in(at, tickets, length, how, body);
  return tickets.leave();
}

LOCKSTEP_INLINE bool hand_out(member_state& at, std::size_t length, schedule how,
                              const range_body& body) {
  const without_constructs mark(at, "a loop");
  if (takes_tickets(how)) {
    return hand_out_tickets(at, length, how, body, dealt_chunks(at, length, how));
  }
  if (at.is_stopped()) return false;
  at.note_without_wait(how.kind() == schedule_kind::static_blocks ? length
                                                                  : member_state::no_blocks);
  at.last_by_rank = at.phase;
  run_share(at, at.rank(), at.block_of(index_range{0, length}), length, how, body);
  return !at.is_stopped();
}

LOCKSTEP_INLINE bool hand_out_singly(member_state& at, std::size_t count, const range_body& body) {
  const without_constructs mark(at, "a section, or single");
  return hand_out_tickets(at, count, dynamic_schedule(), body, 0);
}

LOCKSTEP_INLINE bool hand_out_and_wait(member_state& at, source_place where, std::size_t extent,
                                       std::size_t length, schedule how, const range_body& body) {
  at.come_to("for_each", where, extent);
  if (at.is_alone() || takes_tickets(how)) return hand_out(at, length, how, body) && at.sync();
  if (at.is_stopped()) return false;
  const without_constructs mark(at, "a loop");
  const auto run = [&](std::size_t rank) {
    run_share(at, rank, static_block(0, length, rank, at.size()), length, how, body);
    return true;
  };
  const auto nothing = [](cell&) {};
  cell none;
  return run_claimed(at, {run, length, nothing, nullptr}, none);
}

LOCKSTEP_INLINE bool hand_out_by_weight(member_state& at, std::size_t length,
                                        weighted_schedule& how, const range_body& body) {
  const without_constructs mark(at, "a loop");
  if (at.is_stopped()) return false;
  weighted_blocks& blocks = weighted_blocks::of(how);
  blocks.run_block(length, at.rank(), at.size(), body);
  return at.meet_at_first([&] { blocks.learn(at.size()); });
}

LOCKSTEP_INLINE bool hand_out_in_order(member_state& at, source_place where, std::size_t extent,
                                       std::size_t length, schedule how, const ordered_body& body,
                                       bool throws) {
  at.come_to("for_ordered", where, extent);
  const without_constructs mark(at, "a loop");
  ordered_iterations iterations(at, throws);
  const auto part = [&](std::size_t i, std::size_t end) {
    for (; i < end && !at.is_stopped(); ++i) iterations.run(i, body);
  };
  hand_out_in(at, iterations, length, how, part);
  return iterations.leave() && at.sync();
}

}  // namespace loops
}  // namespace detail

LOCKSTEP_INLINE weighted_schedule::weighted_schedule(std::size_t members)
    : blocks_(new detail::weighted_blocks(members)) {}
LOCKSTEP_INLINE weighted_schedule::~weighted_schedule() { delete blocks_; }

LOCKSTEP_INLINE std::size_t weighted_schedule::members() const noexcept {
  return blocks_->members();
}
LOCKSTEP_INLINE double weighted_schedule::weight(std::size_t rank) const noexcept {
  return blocks_->weight(rank);
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
