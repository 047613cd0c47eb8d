// SPDX-License-Identifier: MIT
// bench/team/overheads.hpp -- what OpenMP's constructs and ours cost, after the method of EPCC's suite
//
// [EPCC] The construct, with a delay inside, is performed many times; the same delays, as they would be done
// without it, are performed by one thread; the difference is the overhead. Here the delay is 0.1 us, and a
// loop has 128 iterations a thread, a long one 2048: 205 us, so that the chunks' cost is more than the noise.
// Constructs that let in one thread after the other (critical, lock, ordered, single, atomic) are compared
// with all of their delays in a row.
#pragma once

#include <cstddef>
#include <string>

#include "team/catalogue.hpp"
#include "team/kernels.hpp"
#include "team/sampling.hpp"

namespace team_bench {

constexpr std::size_t iterations_per_thread = 128, iterations_of_a_long_loop = 2048;

struct overhead_setup {
  std::size_t threads;
  std::size_t rounds;  ///< of delay()
  std::size_t chunk;   ///< 0: the schedule's own
  std::size_t iterations = iterations_per_thread;
};

/// What one thread does in place of a construct.
enum class reference { one_delay, loop, long_loop, addition, delay_and_addition };

inline void perform_reference(reference kind, std::size_t rounds, std::size_t times) {
  double sum = 0;
  for (std::size_t i = 0; i < times; ++i) {
    const std::size_t delays = kind == reference::loop        ? iterations_per_thread
                               : kind == reference::long_loop ? iterations_of_a_long_loop
                               : kind == reference::addition  ? 0
                                                              : 1;
    for (std::size_t j = 0; j < delays; ++j) delay(rounds);
    if (kind == reference::addition || kind == reference::delay_and_addition) {
      sum += 1;
      asm volatile("" : "+m"(sum));
    }
  }
}

/// `construct(setup, times)` performs the construct so often, on the settled peer.
template <class Peer, class Construct>
measurement measure_overhead(Peer& peer, const request& wanted, reference kind,
                             Construct construct) {
  const bool is_long = kind == reference::long_loop;
  const overhead_setup setup{wanted.threads, delay_rounds(), wanted.size,
                             is_long ? iterations_of_a_long_loop : iterations_per_thread};
  return take_overhead(
      wanted, [&] { peer.deal(); }, [&](std::size_t times) { construct(setup, times); },
      [&](std::size_t times) { perform_reference(kind, setup.rounds, times); });
}

}  // namespace team_bench
