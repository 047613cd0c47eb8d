// SPDX-License-Identifier: MIT
// lockstep/detail/team/team_barrier.hpp -- how the members of a team meet: with values, until a stop (layer: team)
//
// What a team's sync functions are made of: all members wait for all, and see a value of up to 16 bytes from each.
// It is the barrier of ranked_barrier.hpp for the members of a region: it takes their private state from outside,
// follows the region's size and number, and ends with the region (stop_source.hpp). Members that share a CPU with
// the one they wait for part.
#ifndef LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP
#define LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "../platform/system.hpp"
#include "../wait/ranked_barrier.hpp"
#include "member_state.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

// Parting. On a busy machine the system may put two members on one CPU and leave them there for seconds: three
// runnable threads on two CPUs count as balanced. Then each wait costs a switch, 1 us and more, where a member on a
// CPU of its own would answer in 0.1 us. A member whose wait outlasts its spin notes on which CPU it runs, and
// learns whether the member that it waits for runs there as well.
//
//   PARTING-1  Only a thread that the team has started moves, never that of member 0, and only where the board may
//              move threads (`moves`): not where the user has bound members.
//   PARTING-2  It moves when 64 waits in a row shared their CPU, over 1 ms at least and 2 ms at most: then the
//              switches take most of the time. Members that work for long between their waits gain nothing: on the
//              other CPU they would get a share of the time only.
//   PARTING-3  After a move it stays for 1 ms at least. A move that was in vain doubles that, up to 64 ms.
//   PARTING-4  Its affinity is afterwards as it was before (leave_native_cpu() of this_thread.hpp).
//   PARTING-5  A worker that polls when its region is due, but does not run when it comes, for 4 regions in a row,
//              shares its CPU with the caller of the regions, which slept before: it moves. A move that was in vain
//              doubles the 4, up to 256; each region that finds it running takes back one of them.
//
// A word here is a hint: one that is old or missing costs a needless move or a poll, never a wake-up.
//
// Memory order (# marks the line)
//   #  access      order    pairs  why it suffices
//   1  word.store  relaxed  -      a hint that stands for itself
//   2  word.load   relaxed  -      as 1
//
// Cost   nothing for waits that end while they spin. Else one store and one load on lines that nobody else looks at,
//        3 ns alone. A move takes some 10 us.

/// When to part: PARTING-2 and PARTING-3. Plain data of one thread.
class parting_pace {
 public:
  static constexpr unsigned enough_waits = 64;
  static constexpr std::uint64_t least_time = 1000000;
  static constexpr std::uint64_t most_rest = 64 * least_time;

  /// A wait at the time `now` shares its CPU with what it waits for. True if it is time to part.
  bool shared(std::uint64_t now) noexcept {
    if (now - first_ > 2 * least_time) {
      first_ = now;
      waits_ = 0;
    }
    if (++waits_ < enough_waits || now - first_ < least_time) return false;
    waits_ = 0;
    if (has_parted_ && now - parted_ < rest_) return false;
    const bool was_in_vain = has_parted_ && now - parted_ < 4 * rest_;
    rest_ = !was_in_vain ? least_time : 2 * rest_ < most_rest ? 2 * rest_ : most_rest;
    has_parted_ = true;
    parted_ = now;
    return true;
  }

 private:
  unsigned waits_ = 0;
  bool has_parted_ = false;
  std::uint64_t first_ = 0, parted_ = 0;
  std::uint64_t rest_ = least_time;
};

class parting_board {
 public:
  parting_board(std::size_t members, bool moves) : sightings_(members), moves_(moves) {}

  /// Called by member `rank` in a wait for member `other` that outlasts its spin. True if `other` ran on another CPU
  /// when it last said so. False if that is not known, and after a move.
  LOCKSTEP_NOINLINE bool is_elsewhere(std::size_t rank, std::size_t other,
                                      std::uint64_t now) noexcept {
    const int cpu = current_cpu();
    if (cpu < 0) return false;
    sighting& own = sightings_[rank].value;
    const std::uint32_t here = (static_cast<std::uint32_t>(cpu) + 1) & cpu_bits;
    own.turn += one_turn;
    own.word.store(own.turn | here, memory_order_relaxed);                                 // 1
    const std::uint32_t theirs = sightings_[other].value.word.load(memory_order_relaxed);  // 2
    const std::uint32_t there = theirs & cpu_bits;
    if (there != here) return there != 0;
    const bool is_news = theirs != own.seen;  // else the other one may have left since
    own.seen = theirs;
    if (is_news && own.pace.shared(now)) leave(rank);
    return false;
  }
  /// Moves the calling thread, that of member `rank`, to another CPU.
  LOCKSTEP_COLD void leave(std::size_t rank) noexcept {
    const int cpu = current_cpu();
    if (!moves_ || rank == 0 || cpu < 0) return;
    leave_cpu(static_cast<unsigned>(cpu));
    if (observers() != 0) {
      note_mark(mark_kind::parted, "parted", "it shared its CPU with the member that it waited for",
                static_cast<std::uint64_t>(cpu));
    }
  }

 private:
  // word of a member: who may change what
  //   bits     name  meaning                                       set by
  //   0..16    cpu   the CPU that it ran on, and 1; 0: not said    its member
  //   17..31   turn  how often it has said so, modulo 2^15         its member
  // Either may be old: the system moves threads without a word.
  static constexpr std::uint32_t one_turn = 1u << 17;
  static constexpr std::uint32_t cpu_bits = one_turn - 1;

  struct sighting {
    wait_word word{0};
    // Its member's own.
    std::uint32_t turn = 0, seen = 0;
    parting_pace pace;
  };

  aligned_array<padded<sighting>> sightings_;
  const bool moves_;
};

/// For waits: whether the member that is awaited runs elsewhere. Without a board that is not known.
struct whereabouts {
  parting_board* board;
  std::size_t self, other;

  bool is_elsewhere(std::uint64_t now) noexcept {
    return board != nullptr && board->is_elsewhere(self, other, now);
  }
  void describe(wait_subject& to) const noexcept {
    to.rank = static_cast<std::uint32_t>(self);
    to.awaited = board != nullptr ? static_cast<std::uint32_t>(other) : wait_subject::nobody;
  }
};

/// For waits: stopped once the region is.
struct stops_with_region {
  const stop_source& source;
  std::uint32_t region;

  bool requested() const noexcept { return source.requested(region); }
};

/// What a participant does in a phase, usually: it arrives by itself, and does nothing else until it waits.
struct usual_arrival {
  static constexpr bool arrives() noexcept { return true; }
  static void meanwhile() noexcept {}
};

// The barrier.
//
//   MEET-1  A value is written before its phase is published, and not again before all have read it: there are
//           two cells for it, used in turn, and nobody is two phases ahead of anybody (RANKED-1).
//   MEET-2  The combined value of the last to arrive is read by all before anybody can arrive again.
//   MEET-3  A member that was released by a stop, and arrives all the same, is not counted and writes nothing: others
//           may still read what it wrote before.
//   MEET-4  With the tree, combine() runs once, on the last to arrive; else on every member, with the same values.
//   MEET-5  A participant that has come may leave its arrival to another (arrive_for), and waits for it as all
//           others do.
//
// Cost   as ranked_barrier.hpp. With flags a reduction costs no more: values travel with the phases. With the tree the
//        last to arrive fetches the lines of all.
// Source values on the flags' lines: ours.
class team_barrier final : public stoppable {
 public:
  static constexpr std::size_t usual_most_flags = 8;

  /// For regions of up to `most` participants, which `stop` ends. Tests pass a smaller limit for flags.
  /// `finds_cpu`: members part, see above.
  LOCKSTEP_COLD team_barrier(std::size_t most, wait_policy policy, stop_source& stop,
                             std::size_t most_flags = usual_most_flags, bool finds_cpu = false)
      : stop_(stop),
        phases_(most, policy, most, most_flags),
        parting_(most < most_flags ? most : most_flags, finds_cpu) {
    stop_.add(*this);
  }
  LOCKSTEP_COLD ~team_barrier() { stop_.remove(*this); }
  team_barrier(const team_barrier&) = delete;
  team_barrier& operator=(const team_barrier&) = delete;

  wait_policy policy() const noexcept { return phases_.policy(); }
  stop_source& stop() const noexcept { return stop_; }

  /// Where the value of a participant that has arrived in this phase lies, or is to be put before.
  cell& value_of(std::size_t rank, std::uint32_t phase) noexcept {
    return phases_.value_of(rank).of_phase[phase & 1u];
  }

  /// Blocks until all have arrived. False once the region is stopped: nobody waits for anybody any more.
  bool arrive_and_wait(member_state& self) {
    usual_arrival usual;
    const auto nothing = [](cell&) {};
    return phases_.has_flags(self.size()) ? pass_by_flags(self, usual)
                                          : pass_by_tree(self, nothing, usual);
  }

  /// The same, and `out` gets what combine(out) makes of the values of all, which are at
  /// value_of(rank, self.phase) then. Requires: each participant has put its own into
  /// value_of(its rank, self.phase + 1) before the call.
  template <class Combine>
  bool meet(member_state& self, cell& out, const Combine& combine) {
    usual_arrival usual;
    return meet(self, out, combine, usual);
  }
  /// With `arrival` in place of usual_arrival: while arrives() is false another participant arrives for this one.
  template <class Combine, class Arrival>
  bool meet(member_state& self, cell& out, const Combine& combine, Arrival& arrival) {
    if (phases_.has_flags(self.size())) {
      if (!pass_by_flags(self, arrival)) return false;
      combine(out);
    } else {
      if (!pass_by_tree(self, combine, arrival)) return false;
      out = phases_.value_of_all().of_phase[0];
    }
    return true;
  }

  /// By a participant that is in a phase: whether another has arrived in it; with the tree, whether all have.
  bool has_arrived(const member_state& self, std::size_t rank) const noexcept {
    return phases_.has_arrived(rank, self.size(), {self.phase});
  }
  bool have_all_arrived(const member_state& self) const noexcept {
    if (!phases_.has_flags(self.size())) return has_arrived(self, self.rank());
    std::size_t rank = 0;
    while (rank < self.size() && (rank == self.rank() || has_arrived(self, rank))) ++rank;
    return rank == self.size();
  }
  /// By a participant that is in a phase: the arrival of another, which has come and left it to this one.
  template <class Combine>
  void arrive_for(const member_state& self, std::size_t rank, const Combine& combine) {
    arrive(self, rank, combine);
  }

  /// Between regions: the next one begins after `phase`, whatever has been before.
  void reset(std::uint32_t phase) noexcept { phases_.reset(phase); }

  LOCKSTEP_COLD void notify_all_sleepers() override { phases_.wake_all(); }

 private:
  struct values {
    cell of_phase[2];
  };
  using word = published_word<std::uint32_t>;

  template <class Arrival>
  bool pass_by_flags(member_state& self, Arrival& arrival) {
    if (self.has_left) return false;
    ++self.phase;
    if (arrival.arrives()) phases_.flag(self.rank()).publish(self.phase);
    arrival.meanwhile();
    wait_for_others(self);
    if (!arrival.arrives()) wait(self, phases_.flag(self.rank()), self.rank());
    return goes_on(self);
  }
  template <class Combine, class Arrival>
  LOCKSTEP_NOINLINE bool pass_by_tree(member_state& self, const Combine& combine,
                                      Arrival& arrival) {
    if (self.has_left) return false;
    ++self.phase;
    if (!arrival.arrives() || !arrive(self, self.rank(), combine)) {
      arrival.meanwhile();
      wait_for_others(self);
    }
    return goes_on(self);
  }
  template <class Combine>
  bool arrive(const member_state& self, std::size_t rank, const Combine& combine) {
    return phases_.arrive(rank, self.size(), self.phase,
                          [&] { combine(phases_.value_of_all().of_phase[0]); });
  }
  bool goes_on(member_state& self) const noexcept {
    self.has_left = stop_.requested(self.region());
    return !self.has_left;
  }
  void wait_for_others(member_state& self) {
    phases_.wait_for_others(self.rank(), self.size(), [&](const word& at, std::size_t other) {
      return wait(self, at, other);
    });
  }
  bool wait(member_state& self, const word& at, std::size_t other) {
    parting_board* const known = other < self.size() ? &parting_ : nullptr;
    return at.wait(phase_reached{self.phase}, stops_with_region{stop_, self.region()}, self.history,
                   deadline::never(), whereabouts{known, self.rank(), other});
  }

  line_gap before_;
  stop_source& stop_;
  ranked_barrier<values> phases_;
  parting_board parting_;
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_TEAM_BARRIER_HPP
