// SPDX-License-Identifier: MIT
// lockstep/detail/wait/ranked_phases.hpp -- all wait for all: behind ranked_barrier and the barrier of teams (layer: wait)
//
// Participants have ranks from 0. Each keeps the number of the phase that it is in and passes it along: a phase
// begins when the last one is over. A value may travel with each arrival, on its line. How a participant waits, and
// what ends its wait otherwise, is up to the owner.
//
// Two ways, chosen by the number of participants of a phase:
//   flags  up to `most_flags`: each publishes the phase on its own line, and looks at the lines of all others
//   tree   above: each counts itself in at a leaf of a tree of counters; the last one publishes the phase of all
// A counter for all is the tree whose root is its only node.
//
// Crossover, microseconds a phase in a crowd on 2 virtual CPUs of an EPYC, medians of 9 to 15 runs in turns:
//   policy    participants     4     5     6     8    16    32    64
//   default   flags          7.4   9.0  11.4  16.0    35    76   163     (one counter for all: as the tree, +- 2 %)
//             tree of 4s     8.6   9.0  11.3  16.0    35    74   159
//   block()   flags         12.5  17.6  22.4  34.3   108   262   850     (a waiter may sleep once for each flag)
//             tree of 4s    12.2  16.0  20.3  26.9    60   117   260
// So flags end at 4 participants with block(). Else the limit is 8, by the costs on paper of participants with a CPU
// each: all flags are fetched in parallel, while the counters of the tree are taken in turn.
//
//   RANKED-1  No participant leaves phase p before all have arrived in it. While one is in phase p, every published
//             phase is p - 1 or p.
//   RANKED-2  Every rank arrives at one leaf. The last to arrive at a node goes on to its parent, and the last at
//             the root ends the phase: exactly one each phase, after all others have arrived.
//   RANKED-3  A counter is 0 whenever no phase is under way, and below its node's width between arrivals.
//   RANKED-4  Whoever ends a phase by the tree does not wait for it: it would read the line that it has just published.
//
// Memory order (# marks the line; each weakening must fail a test; published_words.hpp has the rest)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the parent
//   2  counter.store      relaxed  -      published by 1 at the parent or with the phase after it; the
//                                         next arrivals, which have waited for that phase, come later
//   3  counter.store      relaxed  -      nobody arrives: the caller orders it before the next arrival
//
// Cost   flags: one store on one's own line, participants - 1 fetches in parallel; two participants pay one line
//        transfer each, at the same time. tree: one RMW for each participant and node, log(participants) in a
//        row at most, 4 on one line at most; then participants - 1 fetches of the line of the phase. One line
//        for 3 participants. No system call unless somebody sleeps.
// Source flags: all-to-all dissemination [MCS91]; the combining tree [YTL87], in barriers [MCS91].
#ifndef LOCKSTEP_DETAIL_WAIT_RANKED_PHASES_HPP
#define LOCKSTEP_DETAIL_WAIT_RANKED_PHASES_HPP

#include <cstddef>
#include <cstdint>

#include "../platform/cache_line.hpp"
#include "published_words.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {

/// Where the nodes of a combining tree lie in an array: the leaves first, level by level, the root last.
/// A pure function of the number of participants and the fan-in, which is at least 2.
class tree_shape {
 public:
  struct node {
    std::size_t index;   ///< in the array
    std::size_t width;   ///< how many arrive here
    std::size_t parent;  ///< index; the node's own for the root
  };

  constexpr tree_shape(std::size_t participants, std::size_t fan_in) noexcept
      : participants_(participants), fan_in_(fan_in) {}

  std::size_t nodes() const noexcept {
    std::size_t sum = 0, level = participants_;
    do {
      level = parents_of(level);
      sum += level;
    } while (level > 1);
    return sum;
  }

  /// Calls f(node) for each node from the rank's leaf up while f returns true. Returns whether f
  /// returned true at the root as well.
  template <class Function>
  bool climb(std::size_t rank, Function f) const {
    std::size_t below = participants_, first = 0, at = rank;
    while (true) {
      const std::size_t level = parents_of(below);
      at /= fan_in_;
      const std::size_t rest = below - at * fan_in_;
      const std::size_t index = first + at;
      first += level;
      const bool root = level == 1;
      const node here = {index, rest < fan_in_ ? rest : fan_in_,
                         root ? index : first + at / fan_in_};
      if (!f(here)) return false;
      if (root) return true;
      below = level;
    }
  }

 private:
  std::size_t parents_of(std::size_t level) const noexcept {
    return (level + fan_in_ - 1) / fan_in_;
  }

  std::size_t participants_;
  std::size_t fan_in_;
};

/// The counters of a combining tree: tells the last of all participants that it is the last.
class arrival_tree {
 public:
  /// The fan-in of [MCS91]'s arrival tree.
  static constexpr std::size_t usual_fan_in = 4;

  /// `most_participants` may be 0: then nobody arrives here.
  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in)
      : participants_(most_participants),
        fan_in_(fan_in),
        counters_(tree_shape(most_participants, fan_in).nodes()) {}

  /// True for the last of all; every counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank) noexcept { return arrive(rank, participants_); }

  /// The same in a phase of fewer: the ranks below `participants`, all of whom pass that number.
  bool arrive(std::size_t rank, std::size_t participants) noexcept {
    return tree_shape(participants, fan_in_)
        .climb(rank, [this](const tree_shape::node& at) noexcept {
          detail::wait_word& counter = counters_[at.index].value;
          const std::size_t before = counter.fetch_add(1, detail::memory_order_acq_rel);  // 1
          if (before + 1 < at.width) return false;
          counter.store(0, detail::memory_order_relaxed);  // 2
          return true;
        });
  }

  /// Resets the counters after a phase that was given up. Requires: no thread arrives.
  void reset() noexcept {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      counters_[i].value.store(0, detail::memory_order_relaxed);  // 3
    }
  }

 private:
  std::size_t participants_;
  std::size_t fan_in_;
  detail::aligned_array<detail::padded<detail::wait_word>> counters_;
};

/// The most participants that meet by flags: see the crossover above.
constexpr std::size_t most_flags_for(wait_policy policy) noexcept {
  return policy.is_block() ? 4 : 8;
}

template <class Value = nothing_beside>
class ranked_phases {
 public:
  using words = published_words<std::uint32_t, Value>;

  /// For phases of up to `most` participants: up to `most_flags` meet by flags, more by the tree. `lines`: of flags, one
  /// for each participant that may meet so, or for all where they carry values.
  ranked_phases(std::size_t most, wait_policy policy, std::size_t lines, std::size_t most_flags)
      : flags_(lines, policy),
        end_(1, policy),
        tree_(most > most_flags ? most : 0),
        most_flags_(most_flags) {}

  wait_policy policy() const noexcept { return end_.policy(); }
  bool has_flags(std::size_t size) const noexcept { return size <= most_flags_; }

  /// What travels with a rank's arrival, or with the end of a phase by the tree: to be written before.
  Value& value_of(std::size_t rank) noexcept { return flags_.beside(rank); }
  Value& value_of_all() noexcept { return end_.beside(0); }

  /// Tells the others that `rank` has arrived in `phase`, one of `size` participants. Never blocks. By the tree the
  /// last to arrive calls finish() and ends the phase: true for that one.
  template <class Finish>
  bool arrive(std::size_t rank, std::size_t size, std::uint32_t phase, Finish finish) {
    if (has_flags(size)) {
      flags_[rank].publish(phase);
      return false;
    }
    if (!tree_.arrive(rank, size)) return false;
    finish();
    end_[0].publish(phase);
    return true;
  }

  /// Waits until all others have arrived, unless arrive() has returned true: wait(word, other) waits for one word, a
  /// flag of participant `other`, or the end of the phase, where `other` is `size`. Stops where it returns false.
  template <class Wait>
  bool wait_for_others(std::size_t rank, std::size_t size, Wait wait) {
    if (!has_flags(size)) return wait(end_[0], size);
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
  /// By a participant that is in a phase: whether another has arrived in it; by the tree, whether all have.
  bool has_arrived(std::size_t rank, std::size_t size, phase_reached phase) const noexcept {
    return phase(has_flags(size) ? flags_[rank].peek() : end_[0].peek());
  }

  /// For observers, by a participant that is in a phase: the ranks below 64 that have arrived, a bit each. None by the
  /// tree.
  std::uint64_t arrived_ranks(std::size_t size, phase_reached phase) const noexcept {
    std::uint64_t found = 0;
    for (std::size_t rank = 0; has_flags(size) && rank < size && rank < 64; ++rank) {
      if (phase(flags_[rank].peek())) found |= std::uint64_t{1} << rank;
    }
    return found;
  }

  /// The next phase is the one after `phase`. Requires: no thread arrives or waits.
  void reset(std::uint32_t phase) noexcept {
    flags_.reset(phase, flags_.size() < most_flags_ ? flags_.size() : most_flags_);
    end_[0].reset(phase);
    tree_.reset();
  }

  /// After a stop was requested.
  void wake_all() const {
    flags_.wake_all();
    end_.wake_all();
  }

 private:
  words flags_;
  words end_;
  arrival_tree tree_;
  const std::size_t most_flags_;
};

}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_DETAIL_WAIT_RANKED_PHASES_HPP
