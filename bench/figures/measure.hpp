// SPDX-License-Identifier: MIT
// bench/figures/measure.hpp -- timing an operation that several threads perform together
#pragma once

#include <chrono>
#include <cstddef>
#include <lockstep/lockstep.hpp>

#include "support/crew.hpp"
#include "support/placement.hpp"

namespace figures {

using bench::place;
using bench::placement;

class nanosecond_clock {
 public:
  double elapsed() const {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A quarter of the operations beforehand: time for caches, learning, and the scheduler to spread threads.
inline std::size_t warm_up(std::size_t operations) { return operations / 4 + 1; }

/// Nanoseconds per operation, of `operations` calls of operation(rank) by each of `threads` threads.
template <class Operation>
double time_per_operation(std::size_t threads, std::size_t operations, placement where,
                          Operation operation) {
  double result = 0;
  bench::crew crew(threads, [&](std::size_t rank) {
    place(where, rank);
    for (std::size_t i = 0; i < warm_up(operations); ++i) operation(rank);
    const nanosecond_clock clock;
    for (std::size_t i = 0; i < operations; ++i) operation(rank);
    if (rank == 0) result = clock.elapsed() / static_cast<double>(operations);
  });
  crew.join();
  return result;
}

/// The same for an operation that one thread calls, as a fork/join is.
template <class Operation>
double time_per_call(std::size_t operations, Operation operation) {
  for (std::size_t i = 0; i < warm_up(operations); ++i) operation();
  const nanosecond_clock clock;
  for (std::size_t i = 0; i < operations; ++i) operation();
  return clock.elapsed() / static_cast<double>(operations);
}

/// t1: the one-way time of a cache line between CPU 0 and CPU 1, in nanoseconds.
double probe_line_transfer();

}  // namespace figures
