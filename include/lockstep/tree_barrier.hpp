// SPDX-License-Identifier: MIT
// lockstep/tree_barrier.hpp -- barrier for many ranked threads: arrivals by a tree (layer: sync)
//
// The interface and the promise of barrier: no thread returns from arrive_and_wait(rank) before all
// participants have called it, and what happens before any arrival in a phase happens before every
// return from it. Arrivals spread over counters on lines of their own, so that many threads that arrive
// at once do not queue for one line. For few participants barrier is simpler and smaller; where the two
// meet has not been measured.
//
// Invariants
//   T1  Every rank arrives at one leaf; the last to arrive at a node goes on to its parent, the last at
//       the root ends the phase: exactly one a phase, after all others have arrived.
//   T2  A node's counter is 0 whenever no phase is under way, and below its width between arrivals.
//   T3  While any thread is between arrive and wait of phase p, every phase is p or p + 1.
// Lifetime: by structure; destroy only after every call has returned.
//
// Memory order (# marks the line; each weakening must fail a test)
//   #  access             order    pairs  why it suffices
//   1  counter.fetch_add  acq_rel  1      the last at a node has seen all arrivals below it, and takes
//                                         them along to the parent
//   2  counter.store      relaxed  -      published by 1 at the parent or by the advance after it; the
//                                         next arrivals, which have waited for that advance, come later
//   3  counter.store      relaxed  -      nobody arrives: the caller orders it before the next arrival
//
// Cost   per phase: one RMW per participant and per node, log(participants) in a row at most, 4 on one
//        line at most; then participants - 1 fetches of the line of the phase. One line per 3
//        participants. No system call unless somebody sleeps.
// Source [YTL87] for the combining tree, [MCS91] for its use in barriers.
#ifndef LOCKSTEP_TREE_BARRIER_HPP
#define LOCKSTEP_TREE_BARRIER_HPP

#include <cstddef>
#include <cstdint>

#include "detail/platform/error.hpp"
#include "detail/wait/phase_board.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

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
  template <class F>
  bool climb(std::size_t rank, F f) const {
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
  /// The fan-in of [MCS91]'s arrival tree. Not measured against 8 here.
  static constexpr std::size_t usual_fan_in = 4;

  explicit arrival_tree(std::size_t most_participants, std::size_t fan_in = usual_fan_in)
      : participants_(most_participants),
        fan_in_(fan_in),
        counters_(tree_shape(most_participants, fan_in).nodes()) {}

  /// True for the last of all; every counter is 0 again then. Never blocks.
  bool arrive(std::size_t rank) noexcept { return arrive(rank, participants_); }

  /// The same in a phase of fewer, all of whom say so: the ranks below `participants`.
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

  /// After a phase that was given up: as new. While nobody arrives.
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

class tree_barrier {
 public:
  /// Fails if participants is 0 or above 65536. Tests pass `first_phase` to start next to wrap-around.
  explicit tree_barrier(std::size_t participants, wait_policy policy = wait_policy(),
                        std::uint32_t first_phase = 0)
      : board_(1, detail::checked_count("lockstep::tree_barrier", "participants", participants),
               policy.when_crowded(participants > detail::usable_cpus()), first_phase),
        tree_(participants) {}
  tree_barrier(const tree_barrier&) = delete;
  tree_barrier& operator=(const tree_barrier&) = delete;
  ~tree_barrier() { detail::misuse::destroying(&board_, "lockstep::tree_barrier"); }

  std::size_t participants() const noexcept { return board_.readers(); }
  wait_policy policy() const noexcept { return board_.policy(); }

  /// Blocks until all participants have arrived; false once terminated.
  /// Requires: each rank used by one thread at a time. Fails if rank >= participants().
  bool arrive_and_wait(std::size_t rank) {
    arrive(rank);
    return wait_until(rank, deadline::never()) == wait_status::ready;
  }

  /// The first half: tells the others that this thread is here. Never blocks.
  /// Requires: the rank's previous arrival has been waited for.
  void arrive(std::size_t rank) {
    if (tree_.arrive(checked(rank))) board_.advance(0);
  }

  /// The second half: blocks until all have arrived; false once terminated.
  /// Requires: arrive(rank) was called before.
  bool wait(std::size_t rank) { return wait_until(rank, deadline::never()) == wait_status::ready; }
  /// As wait() if all are there, else false; never blocks.
  bool try_wait(std::size_t rank) { return board_.try_wait(checked(rank)); }
  /// As wait(), for at most `time`; after a time-out the arrival still counts: wait again.
  template <class Rep, class Period>
  wait_status wait_for(std::size_t rank, std::chrono::duration<Rep, Period> time) {
    return wait_until(rank, deadline::after(time));
  }
  template <class Clock, class Duration>
  wait_status wait_until(std::size_t rank, std::chrono::time_point<Clock, Duration> point) {
    return wait_until(rank, deadline::at(point));
  }
  wait_status wait_until(std::size_t rank, deadline until) {
    return board_.wait_until(checked(rank), 0, 1, until);
  }

  /// Releases everybody; from now on every wait returns at once. Any thread may call it.
  void terminate() { board_.terminate(); }
  bool terminated() const noexcept { return board_.terminated(); }

 private:
  std::size_t checked(std::size_t rank) const {
    return detail::checked_rank("lockstep::tree_barrier", "participants", rank, participants());
  }

  detail::phase_board board_;
  arrival_tree tree_;
};

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_TREE_BARRIER_HPP
