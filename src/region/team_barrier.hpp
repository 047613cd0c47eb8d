// SPDX-License-Identifier: MIT
// src/region/team_barrier.hpp -- how the members of a team meet: with values, until a stop (layer: region)
//
// The base of a team's sync functions: all members wait for all, and see a value of up to 16 bytes from each.
// It is the barrier of ranked_phases.hpp for the members of a region: it takes their private state as an argument,
// follows the region's size and number, and ends with the region (stop_source.hpp). A member on the
// same CPU as the one it waits for moves to another.
#ifndef LOCKSTEP_SRC_REGION_TEAM_BARRIER_HPP
#define LOCKSTEP_SRC_REGION_TEAM_BARRIER_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/region/member_state.hpp>
#include "../wait/cpu_separation.hpp"
#include "../wait/ranked_phases.hpp"
#include "stop_source.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// For waits: stopped once the region is.
struct stops_with_region {
  const stop_source& source;
  std::uint32_t region;

  bool requested() const noexcept { return source.requested(region); }
};

/// Blocks until done(word). False once the region of this member is stopped.
template <class Word, class Done>
bool wait_in_region(member_state& self, published_word<Word> word, Done done, whereabouts whom) {
  word.wait(done, stops_with_region{self.stop(), self.region()}, self.history, whom);
  return !self.stop().requested(self.region());
}

/// What a participant usually does in a phase: it arrives by itself, and then only waits. Another kind of arrival may
/// be called away from its wait. It has is_called(), with acquire order, and help(): while is_called() is true, the
/// participant leaves its wait and runs help(). The thread that calls it away changes what is_called() reads, and then
/// wakes the sleepers (wake_all).
struct usual_arrival {
  static constexpr bool may_be_called = false;
  static constexpr bool is_called() noexcept { return false; }
  static void help() noexcept {}
  static constexpr bool arrives() noexcept { return true; }
  static void put(cell&) noexcept {}
  static phase_reached awaits(std::uint32_t phase, std::size_t, const cell&) noexcept {
    return {phase};
  }
  static void meanwhile() noexcept {}
};

/// The same by flags, with a value that is stored right before the phase, and read right after it. With any work in
/// between, the line may go to the other participant and has to come back: 3 ns of work made a sum of two take 1.3 to
/// 1.4 times as long as a barrier.
struct arrival_with_value : usual_arrival {
  struct takes_value {
    phase_reached reached;
    const cell* from;
    cell* to;  ///< or null

    bool operator()(std::uint32_t phase) const noexcept {
      if (!reached(phase)) return false;
      if (to != nullptr) *to = *from;
      return true;
    }
    void describe(wait_subject& to_observers) const noexcept { reached.describe(to_observers); }
  };

  const cell& mine;
  cell* const values;  ///< of all ranks, to be

  arrival_with_value(const cell& my_value, cell* all) noexcept : mine(my_value), values(all) {}
  void put(cell& into) const noexcept { into = mine; }
  takes_value awaits(std::uint32_t phase, std::size_t rank, const cell& value) const noexcept {
    return {{phase}, &value, &values[rank]};
  }
};

/// For waits: interrupted when the region is stopped, or the participant is called away.
template <class Arrival>
struct interrupts_wait {
  stops_with_region stop;
  const Arrival& arrival;

  bool requested() const noexcept { return stop.requested() || arrival.is_called(); }
};

//   MEET-1  A value is written before its phase is published, and not again before all have read it: there are
//           two cells for it, used in turn, and no member is two phases ahead of another (RANKED-1).
//   MEET-2  All read the combined value of the last to arrive before any member can arrive again.
//   MEET-3  A member that was released by a stop, and still arrives, is not counted and writes nothing: others may
//           still read what it wrote before.
//   MEET-4  With the tree, combine() runs once, on the last to arrive; else on every member, with the same values.
//   MEET-5  A participant that has come may let another arrive for it (arrive_for). It waits for that arrival as all
//           others do.
//   MEET-6  A participant that has arrived may do something else while it waits (help). It goes on only after it has
//           seen that the phase is over, or the region is stopped, as all others do.
//   MEET-7  Members that have waited for rank 0 see what its finish() did: rank 0 calls it before it arrives.
//
// Cost   as ranked_phases.hpp. With flags a reduction costs no more: values travel with the phases. With the tree the
//        last to arrive fetches the lines of all.
// Source values on the flags' lines: ours.
class team_barrier : ranked_phases<cell[2]> {
  using phases = ranked_phases<cell[2]>;
  using word = published_word<std::uint32_t>;

 public:
  static constexpr std::size_t usual_most_flags = 8;

  /// For regions of up to `most` participants, which `stop` ends. Tests pass a smaller limit for flags.
  /// `separates_cpus`: a member moves away from the CPU of one that it waits for.
  /// `groups`: of `most` ranks, or none (rank_groups.hpp).
  team_barrier(std::size_t most, wait_policy policy, stop_source& stop,
               std::size_t most_flags = usual_most_flags, bool separates_cpus = false,
               const rank_groups& groups = rank_groups())
      : phases(most, policy, most, most_flags, groups, &stop),
        stop_(stop),
        separation_(most, separates_cpus) {}

  using phases::has_flags;  ///< whether a region of that size meets by flags
  using phases::policy;
  using phases::wake_all;
  /// Between regions: the next one begins after `phase`, whatever has been before.
  using phases::reset;
  stop_source& stop() const noexcept { return stop_; }
  /// Shared with the members' other waits: a member that never waits in one kind of wait is not observed there.
  cpu_separation& separation() noexcept { return separation_; }
  /// For a wait for member `other`, or for everybody.
  whereabouts whom(const member_state& self, std::size_t other) noexcept {
    return {&separation_, self.rank(), other, nullptr};
  }
  /// For a wait for a turn. In the order of ranks it is that of the member before; of two members, always.
  whereabouts whom_before(const member_state& self) noexcept {
    return whom(self, (self.rank() != 0 ? self.rank() : self.size()) - 1);
  }

  /// The place of a value of this phase: the participant writes it before it arrives, others read it afterwards.
  cell& value_of(std::size_t rank, std::uint32_t phase) noexcept {
    return phases::value_of(rank)[phase & 1u];
  }

  /// Blocks until all have arrived. False once the region is stopped: then no member waits any more.
  template <class Arrival = usual_arrival>
  bool arrive_and_wait(member_state& self, Arrival&& arrival = Arrival()) {
    return pass(self, [](cell&) {}, arrival);
  }

  /// The same, with values. When all have arrived, their values are at value_of(rank, self.phase), and `out` gets what
  /// combine(out) makes of them. Requires: before the call each participant has put its own value into
  /// value_of(its rank, self.phase + 1). While arrival.arrives() is false another participant arrives for this one.
  template <class Combine, class Arrival = usual_arrival>
  bool meet(member_state& self, cell& out, const Combine& combine, Arrival&& arrival = Arrival()) {
    if (!pass(self, combine, arrival)) return false;
    if (has_flags(self.size())) {
      combine(out);
    } else {
      out = value_of_all()[0];
    }
    return true;
  }

  /// By flags only. Rank 0 calls finish() when all others have arrived, and arrives after it. So the others see what
  /// finish() has put into value_of(0, phase) when the phase ends.
  template <class Finish>
  bool meet_at_first(member_state& self, const Finish& finish) {
    if (self.rank() != 0) return arrive_and_wait(self);
    if (self.has_left) return false;
    ++self.phase;
    wait_for_others(self, usual_arrival());
    if (!goes_on(self)) return false;
    finish();
    flag(0).publish(self.phase);
    return goes_on(self);
  }

  /// Called by a participant that is in a phase: whether another has arrived in it; with the tree, whether all have.
  bool has_arrived(const member_state& self, std::size_t rank) const noexcept {
    return phases::has_arrived(rank, self.size(), {self.phase});
  }
  /// Where misuse is diagnosed: whether another has arrived in the next phase of a member that is in none.
  bool has_arrived_before(const member_state& self, std::size_t rank) const noexcept {
    return phase_reached{self.next_phase()}(flag(rank).value());
  }
  bool have_all_arrived(const member_state& self) noexcept {
    return phases::have_others_arrived(self.rank(), self.size(), {self.phase});
  }
  /// Called by a participant that is in a phase: it arrives for `rank`, that is for itself, or for another one that has
  /// come and waits for it. True if that ends the phase.
  template <class Combine>
  bool arrive_for(const member_state& self, std::size_t rank, const Combine& combine) {
    return phases::arrive(rank, self.size(), self.phase,
                          [&](cell(&of_all)[2]) { combine(of_all[0]); });
  }

 private:
  template <class Combine, class Arrival>
  bool pass(member_state& self, const Combine& combine, Arrival& arrival) {
    if (self.has_left) return false;
    ++self.phase;
    if (arrival.arrives()) {
      arrival.put(value_of(self.rank(), self.phase));
      if (arrive_for(self, self.rank(), combine)) return goes_on(self);
    }
    arrival.meanwhile();
    wait_for_others(self, arrival);
    if (!arrival.arrives() && has_flags(self.size())) {
      wait(self, flag(self.rank()), self.rank(), arrival);
    }
    return goes_on(self);
  }
  bool goes_on(member_state& self) const noexcept {
    self.has_left = stop_.requested(self.region());
    return !self.has_left;
  }
  template <class Arrival>
  LOCKSTEP_NOINLINE void wait_for_others(member_state& self, Arrival&& arrival) {
    phases::wait_for_others(self.rank(), self.size(), [&](const word& at, std::size_t other) {
      return wait(self, at, other, arrival);
    });
  }
  template <class Arrival>
  bool wait(member_state& self, const word& at, std::size_t other, Arrival& arrival) {
    const whereabouts them = whom(self, other);
    const cell& value = value_of(them.other == whereabouts::everybody ? 0 : other, self.phase);
    const stops_with_region stop{stop_, self.region()};
    while (true) {
      at.wait(arrival.awaits(self.phase, other, value), interrupts_wait<Arrival>{stop, arrival},
              self.history, them);
      if (!Arrival::may_be_called) return true;
      if (phase_reached{self.phase}(at.value()) || stop.requested()) return true;
      arrival.help();
    }
  }

  stop_source& stop_;
  cpu_separation separation_;
  line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_REGION_TEAM_BARRIER_HPP
