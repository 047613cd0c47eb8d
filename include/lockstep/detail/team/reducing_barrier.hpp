// SPDX-License-Identifier: MIT
// lockstep/detail/team/reducing_barrier.hpp -- a barrier whose arrivals carry values (layer: team)
//
// What a team's sync functions are made of: all wait for all, and see a value of up to 16 bytes from each.
// For threads of your own see barrier.hpp; this one takes its participants' private state from
// outside, follows a region's size and number, and ends with the region (stop_source.hpp).
//
// Up to 8 participants everyone publishes its phase, with its value on the same line, and looks
// at all others; above, arrivals go up a tree of counters, and the last one combines for all.
//
// Invariants
//   G1  As R1 and R2 of barrier.hpp: while any participant is in phase p, every phase is p - 1 or p.
//   G2  A value is written before its phase is published, and not again before all have read it: there are
//       two places for it, used in turn, and nobody is two phases ahead of anybody.
//   G3  The combined value of the last to arrive is read by all before anybody can arrive again.
//   G4  Who was released by a stop, and arrives all the same, is not counted and writes nothing: others may
//       still read what it wrote before.
//   G5  With the tree, combine() runs once, on the last to arrive; else on everyone, with the same values.
//   G6  A participant that has come may leave its arrival to another (arrive_for), and waits for it like all others.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  phase.store        release  2      others see the value, and what came before the arrival
//   2  phase.load         acquire  1      the other half
//   3  phase.store        relaxed  -      between regions: nobody arrives or waits
//   4  phase.load         relaxed  -      a look: who goes on comes through 2
//
// Store 1 and the look at the mark behind it are the notifier's side of sleeper_mark.hpp.
//
// Cost   flags: one store on one's own line, size - 1 fetches in parallel; a reduction costs no more, for
//        values travel with the phases. tree: see tree_barrier.hpp, and size fetches by the last.
// Source all-to-all dissemination [MCS91]; values on the flags' lines: ours.
#ifndef LOCKSTEP_DETAIL_TEAM_REDUCING_BARRIER_HPP
#define LOCKSTEP_DETAIL_TEAM_REDUCING_BARRIER_HPP

#include <cstddef>
#include <cstdint>

#include "../../stop_source.hpp"
#include "../../tree_barrier.hpp"
#include "parting.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// A place for a value that participants hand to each other.
struct cell {
  static constexpr std::size_t size = 16;
  alignas(8) unsigned char bytes[size];
};

/// What a participant keeps for itself, on a line of its own. One thread uses it at a time.
struct place_in_barrier {
  std::size_t rank = 0;
  std::size_t size = 1;      ///< of the region: participants are ranks below it
  std::uint32_t region = 0;  ///< its number
  std::uint32_t phase = 0;   ///< the last phase this participant has arrived in
  /// It was released because the region is stopped, and meets nobody any more.
  bool has_left = false;
  wait_history history = {};
};

/// What a participant does in a phase, usually: it arrives by itself, and does nothing else until it waits.
struct usual_arrival {
  static constexpr bool arrives() noexcept { return true; }
  static void meanwhile() noexcept {}
};

class reducing_barrier final : public sleeping_place {
 public:
  /// Above this many participants the fetches of all flags cost more than a tree: see barrier.hpp.
  static constexpr std::size_t usual_most_flags = 8;

  /// For regions of up to `most` participants, which `stop` ends. Tests pass a smaller limit for flags. `finds_cpu`: see
  /// parting.hpp; for participants that are a team's.
  reducing_barrier(std::size_t most, wait_policy policy, stop_source& stop,
                   std::size_t most_flags = usual_most_flags, bool finds_cpu = false)
      : stop_(stop),
        lines_(most),
        result_(1),
        tree_(most),
        marks_(most < most_flags ? most : most_flags),
        parting_(marks_.size(), finds_cpu),
        policy_(policy),
        most_flags_(most_flags) {
    detail::process_fence::prepare();
    stop_.add(*this);
  }
  ~reducing_barrier() { stop_.remove(*this); }
  reducing_barrier(const reducing_barrier&) = delete;
  reducing_barrier& operator=(const reducing_barrier&) = delete;

  wait_policy policy() const noexcept { return policy_; }
  stop_source& stop() const noexcept { return stop_; }

  /// Where the value of a participant that has arrived in this phase lies, or is to be put before.
  cell& value_of(std::size_t rank, std::uint32_t phase) noexcept {
    return lines_[rank].value.values[phase & 1u];
  }

  /// Blocks until all have arrived. False once the region is stopped: nobody waits for anybody any more.
  bool arrive_and_wait(place_in_barrier& self) {
    usual_arrival usual;
    return self.size <= most_flags_ ? arrive_by_flags(self, usual)
                                    : arrive_by_tree(self, [](cell&) {}, usual);
  }

  /// The same, and `out` gets what combine(out) has made of the values of all, which are at
  /// value_of(rank, self.phase) then. Requires: each participant has put its own into
  /// value_of(its rank, self.phase + 1) before the call.
  template <class Combine>
  bool meet(place_in_barrier& self, cell& out, Combine combine) {
    usual_arrival usual;
    return meet(self, out, combine, usual);
  }
  /// With `arrival` in place of usual_arrival: while arrives() is false another participant arrives for this one.
  template <class Combine, class Arrival>
  bool meet(place_in_barrier& self, cell& out, Combine combine, Arrival& arrival) {
    if (self.size <= most_flags_) {
      if (!arrive_by_flags(self, arrival)) return false;
      combine(out);
    } else {
      if (!arrive_by_tree(self, combine, arrival)) return false;
      out = result_[0].value.values[0];
    }
    return true;
  }

  /// By a participant that is in a phase: whether another has arrived in it; with the tree, whether all have.
  bool has_arrived(const place_in_barrier& self, std::size_t rank) const noexcept {
    const line& at = self.size <= most_flags_ ? lines_[rank].value : result_[0].value;
    const std::uint32_t phase = at.phase.load(detail::memory_order_relaxed);  // 4
    return static_cast<std::int32_t>(phase - self.phase) >= 0;
  }
  bool have_all_arrived(const place_in_barrier& self) const noexcept {
    if (self.size > most_flags_) return has_arrived(self, self.rank);
    std::size_t rank = 0;
    while (rank < self.size && (rank == self.rank || has_arrived(self, rank))) ++rank;
    return rank == self.size;
  }
  /// By a participant that is in a phase: the arrival of another, which has come and left it to this one.
  template <class Combine>
  void arrive_for(const place_in_barrier& self, std::size_t rank, Combine& combine) {
    if (self.size <= most_flags_) {
      publish(lines_[rank].value, rank, self.phase);
    } else if (tree_.arrive(rank, self.size)) {
      publish_result(self.phase, combine);
    }
  }

  /// Between regions: the next one begins after `phase`, whatever has been before.
  void reset(std::uint32_t phase) noexcept {
    for (std::size_t rank = 0; rank < marks_.size(); ++rank) {
      lines_[rank].value.phase.store(phase, detail::memory_order_relaxed);  // 3
    }
    result_[0].value.phase.store(phase, detail::memory_order_relaxed);  // 3
    tree_.reset();
  }

  void notify_all_sleepers() override {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      marks_[i].notify(fence_payer_of(policy_));
    }
  }

 private:
  struct line {
    detail::wait_word phase{0};
    cell values[2];
  };

  /// What the wait engine looks at.
  struct reached {
    reducing_barrier& owner;
    line& at;
    std::size_t mark;
    std::uint32_t target;
    std::uint32_t region;
    std::size_t rank;  ///< who waits
    bool is_flag;      ///< of participant `mark`

    bool is_elsewhere(std::uint64_t now) noexcept {
      return is_flag && owner.parting_.is_elsewhere(rank, mark, now);
    }
    bool ready() const noexcept {
      const std::uint32_t phase = at.phase.load(detail::memory_order_acquire);  // 2
      return static_cast<std::int32_t>(phase - target) >= 0 || owner.stop_.requested(region);
    }
    void sleep(deadline until) {
      owner.marks_[mark].sleep(*this, until, fence_payer_of(owner.policy_));
    }
  };

  template <class Arrival>
  bool arrive_by_flags(place_in_barrier& self, Arrival& arrival) {
    if (self.has_left) return false;
    const std::uint32_t target = ++self.phase;
    if (arrival.arrives()) publish(lines_[self.rank].value, self.rank, target);
    arrival.meanwhile();
    // Readers that begin with different writers disturb each other less.
    for (std::size_t i = 1, other = self.rank; i < self.size; ++i) {
      if (++other == self.size) other = 0;
      wait(self, lines_[other].value, other, target);
    }
    if (!arrival.arrives()) wait(self, lines_[self.rank].value, self.rank, target);
    return goes_on(self);
  }

  template <class Combine, class Arrival>
  bool arrive_by_tree(place_in_barrier& self, Combine combine, Arrival& arrival) {
    if (self.has_left) return false;
    const std::uint32_t target = ++self.phase;
    if (arrival.arrives() && tree_.arrive(self.rank, self.size)) {
      publish_result(target, combine);
    } else {
      arrival.meanwhile();
      wait(self, result_[0].value, 0, target);
    }
    return goes_on(self);
  }
  /// By the last to arrive.
  template <class Combine>
  void publish_result(std::uint32_t target, Combine& combine) {
    line& result = result_[0].value;
    combine(result.values[0]);
    publish(result, 0, target);
  }

  bool goes_on(place_in_barrier& self) const noexcept {
    self.has_left = stop_.requested(self.region);
    return !self.has_left;
  }
  void publish(line& at, std::size_t mark, std::uint32_t target) {
    at.phase.store(target, detail::memory_order_release);  // 1
    marks_[mark].notify(fence_payer_of(policy_));
  }
  void wait(place_in_barrier& self, line& at, std::size_t mark, std::uint32_t target) {
    reached condition{*this, at, mark, target, self.region, self.rank, self.size <= most_flags_};
    wait_engine::wait(condition, policy_, self.history);
  }

  detail::line_gap before_;
  stop_source& stop_;
  detail::aligned_array<detail::padded<line>> lines_;
  detail::aligned_array<detail::padded<line>> result_;
  arrival_tree tree_;
  detail::aligned_array<sleeper_mark> marks_;
  parting_board parting_;
  const wait_policy policy_;
  const std::size_t most_flags_;
  detail::line_gap after_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_TEAM_REDUCING_BARRIER_HPP
