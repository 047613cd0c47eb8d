// SPDX-License-Identifier: MIT
// bench/team/settled.hpp -- a peer whose threads have been dealt out over the CPUs, and are warm
//
// The scheduler may leave new threads on one CPU for a tenth of a second, longer than a sample takes. What
// settles in any longer run is done here at once: each thread moves to a CPU by its rank, then is free to go.
#pragma once

#include <cstddef>

#include "support/placement.hpp"
#include "support/stopwatch.hpp"
#include "team/catalogue.hpp"

namespace team_bench {

/// Work that no compiler removes and that takes no time.
inline constexpr auto nothing = [](std::size_t) { asm volatile("" ::: "memory"); };

/// At least one fork, and as many as `seconds` have room for.
template <class Peer>
void warm_up(Peer& peer, double seconds) {
  const bench::stopwatch watch;
  do {
    peer.fork(nothing);
  } while (watch.wall_seconds() < seconds);
}

template <class Peer>
class settled : public Peer {
 public:
  using as_made = Peer;

  explicit settled(const request& wanted) : Peer(wanted.threads) {
    deal();
    warm_up(*this, wanted.seconds);
  }

  /// Again, after a time in which the team may have slept: a woken thread begins on the CPU of its waker.
  void deal() {
    this->fork([](std::size_t rank) { bench::place(bench::placement::dealt, rank); });
  }
};

}  // namespace team_bench
