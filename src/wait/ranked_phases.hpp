// SPDX-License-Identifier: MIT
// src/wait/ranked_phases.hpp -- all wait for all: behind ranked_barrier and the barrier of teams (layer: wait)
//
// Participants have ranks from 0. Each keeps the number of its phase and passes it to the calls. A phase begins when
// the last one is over. A value may travel with each arrival, on the same line. The owner decides how a participant
// waits, and what else ends the wait.
//
// Two ways, chosen by the number of participants of a phase:
//   flags  up to `most_flags`: each publishes the phase on its own line, and looks at the lines of all others
//   tree   above: each arrives at a tree of counters (arrival_tree); the last to arrive publishes the phase for
//          all, on one line
// One counter for all is a tree that is only a root.
//
// Crossover, microseconds a phase in a crowd on 2 virtual CPUs of an EPYC, medians of 9 to 15 runs in turns:
//   policy    participants     4     5     6     8    16    32    64
//   default   flags          7.4   9.0  11.4  16.0    35    76   163     (one counter for all: as the tree, +- 2 %)
//             tree of 4s     8.6   9.0  11.3  16.0    35    74   159
//   block()   flags         12.5  17.6  22.4  34.3   108   262   850     (a waiter may sleep once for each flag)
//             tree of 4s    12.2  16.0  20.3  26.9    60   117   260
// So with block() the limit of flags is 4 participants. Otherwise it is 8. This was calculated, not measured, for
// participants with a CPU each: they fetch all flags in parallel, but take the counters of the tree in turn.
//
//   RANKED-1  No participant leaves phase p before all have arrived in it. While one is in phase p, every published
//             phase is p - 1 or p.
//   RANKED-2  Every rank arrives at one node first. The last to arrive at a node goes on to the node above. The last at
//             the root ends the phase: exactly one member in each phase, after all others have arrived.
//   RANKED-3  A counter is 0 whenever no phase is under way, and below its node's width between arrivals.
//   RANKED-4  The member that ends a phase by the tree does not wait: it would read the line it has just published.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has that of flags and ends)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the node above
//   2  counter.store      relaxed  -      published by 1 at the node above or with the phase after it; the
//                                         next arrivals, which have waited for that phase, come later
//   3  counter.store      relaxed  -      no thread arrives: the caller orders it before the next arrival
//
// Cost   flags: one store on one's own line, participants - 1 fetches in parallel; two participants pay one line
//        transfer each, at the same time. tree: one RMW for each participant and node, log(participants) in a
//        row at most, 4 on one line at most; then participants - 1 fetches of the line of the phase. One line
//        for 3 participants. With groups: fewer of the RMWs go from cache to cache. No system call unless a thread
//        sleeps.
// Source flags: all-to-all dissemination [MCS91]; the combining tree [YTL87], in barriers [MCS91].
#ifndef LOCKSTEP_SRC_WAIT_RANKED_PHASES_HPP
#define LOCKSTEP_SRC_WAIT_RANKED_PHASES_HPP

#include <cstddef>
#include <cstdint>

#include <lockstep/detail/base/rank_groups.hpp>
#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/detail/platform/cache_line.hpp>
#include <lockstep/detail/platform/config.hpp>
#include "../base/rank_tree.hpp"
#include "published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// The most participants that meet by flags: see the crossover above.
constexpr std::size_t most_flags_for(wait_policy policy) noexcept {
  return policy.is_block() ? 4 : 8;
}

/// The counters of a combining tree, which tell the last of all participants that it is the last. Each arrives at its
/// node. The last to arrive at a node goes on to the node above. The nodes are the lines of rank_tree.hpp (LINES-3).
class arrival_tree {
 public:
  /// The fan-in of [MCS91]'s arrival tree.
  static constexpr std::size_t usual_fan_in = 4;

  /// `most_participants` may be 0: then no thread arrives here.
  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in,
                        const rank_groups& groups = rank_groups())
      : shape_(most_participants, fan_in, groups), counters_(shape_.lines()) {}

  /// In a phase of the ranks below `participants`: all arrive and pass that number. True for the last of all; every
  /// counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank, std::size_t participants) noexcept {
    return shape_.climb(rank, participants, [this](std::size_t node, std::size_t count) noexcept {
      wait_word& counter = counters_[node].value;
      const std::size_t before = counter.fetch_add(1, memory_order_acq_rel);  // 1
      if (before + 1 < count) return false;
      counter.store(0, memory_order_relaxed);  // 2
      return true;
    });
  }

  /// Resets the counters after a phase that was given up. Requires: no thread arrives.
  void reset() noexcept {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      counters_[i].value.store(0, memory_order_relaxed);  // 3
    }
  }

 private:
  rank_tree shape_;
  aligned_array<padded<wait_word>> counters_;
};

template <class Value = nothing_beside>
class ranked_phases {
 public:
  using words = published_words<std::uint32_t, Value>;

  /// For phases of up to `most` participants: up to `most_flags` use flags, more use the tree. `lines`: the number of
  /// flags; one for each participant that may use them, or for all if they carry values. `groups`: of `most` ranks, or
  /// none. `stop`: see published_words.
  ranked_phases(std::size_t most, wait_policy policy, std::size_t lines, std::size_t most_flags,
                const rank_groups& groups, sleeping_places* stop = nullptr)
      : tree_(most > most_flags ? most : 0, arrival_tree::usual_fan_in, groups),
        flags_(lines, policy, stop),
        end_(1, policy, stop),
        most_flags_(most_flags) {}

  wait_policy policy() const noexcept { return end_.policy(); }
  bool has_flags(std::size_t size) const noexcept { return size <= most_flags_; }

  /// The value that travels with a rank's arrival: write it before the arrival. value_of_all() is the one that all get
  /// with the end of a phase by the tree.
  Value& value_of(std::size_t rank) noexcept { return flags_.beside(rank); }
  Value& value_of_all() noexcept { return end_.beside(0); }

  /// Tells the others that `rank`, one of `size` participants, has arrived in `phase`. Never blocks. True if it ends
  /// the phase: by the tree, the last to arrive first calls finish(value). This value travels with the end.
  template <class Finish>
  bool arrive(std::size_t rank, std::size_t size, std::uint32_t phase, Finish finish) {
    if (has_flags(size)) {
      flags_[rank].publish(phase);
      return false;
    }
    if (diagnoses_misuse && rank < flags_.size()) flags_[rank].publish_quietly(phase);
    if (!tree_.arrive(rank, size)) return false;
    finish(end_.beside(0));
    end_[0].publish(phase);
    return true;
  }

  /// Waits until all others have arrived. Requires: arrive() has not returned true. wait(word, other) waits for one
  /// word: the flag of participant `other`, or the end of the phase, where `other` is whereabouts::everybody. If it
  /// returns false, this does. Always inlined, to keep the parts of the closure in registers. GCC 12 copies a closure on
  /// the stack by a read that is wider than the writes before it. Such a read waits until those writes, and the arrival
  /// before them, are out of the store buffer: a barrier of 2 took 1.09 to 1.17 of the time.
  template <class Wait>
  LOCKSTEP_ALWAYS_INLINE bool wait_for_others(std::size_t rank, std::size_t size,
                                              const Wait& wait) {
    if (!has_flags(size)) return wait(end_[0], whereabouts::everybody);
    // Readers that begin with different writers disturb each other less.
    for (std::size_t i = 1, other = rank; i < size; ++i) {
      if (++other == size) other = 0;
      if (!wait(flags_[other], other)) return false;
    }
    return true;
  }
  /// The flag of a participant.
  published_word<std::uint32_t> flag(std::size_t rank) const noexcept { return flags_[rank]; }

  /// Whether all others have arrived; never blocks. Acquires what came before.
  bool have_others_arrived(std::size_t rank, std::size_t size, phase_reached phase) noexcept {
    return wait_for_others(rank, size, [&](const published_word<std::uint32_t>& word, std::size_t) {
      return phase(word.value());
    });
  }
  /// Called by a participant in its phase: with flags, whether `rank` has arrived; by the tree, whether all have.
  bool has_arrived(std::size_t rank, std::size_t size, phase_reached phase) const noexcept {
    return phase(has_flags(size) ? flags_[rank].peek() : end_[0].peek());
  }

  /// For observers, called by a participant in its phase: a bit for each rank below 64 that has arrived; 0 by the tree.
  std::uint64_t arrived_ranks(std::size_t size, phase_reached phase) const noexcept {
    return has_flags(size) ? flags_.those_that(phase) : 0;
  }

  /// The next phase is the one after `phase`. Requires: no thread arrives or waits.
  void reset(std::uint32_t phase) noexcept {
    flags_.reset(phase,
                 diagnoses_misuse || flags_.size() < most_flags_ ? flags_.size() : most_flags_);
    end_.reset(phase, end_.size());
    tree_.reset();
  }

  /// After a stop was requested.
  void wake_all() const {
    flags_.wake_all();
    end_.wake_all();
  }

 private:
  arrival_tree tree_;
  words flags_;
  words end_;
  const std::size_t most_flags_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_WAIT_RANKED_PHASES_HPP
