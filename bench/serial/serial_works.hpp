// SPDX-License-Identifier: MIT
// bench/serial/serial_works.hpp -- a loop against the serial loop, over sizes and pauses
//
// Work "serial", cells KERNEL:N:PAUSE: loops of N elements, each after PAUSE microseconds: polled below 50, slept
// from there on. Serial and parallel loops take turns. The kernel "places" is a program of N different short loops
// instead, from its start: the work of many_loops.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "duty/cell_sampling.hpp"
#include "duty/duty_works.hpp"
#include "serial/many_loops.hpp"

namespace team_bench {

/// Nanoseconds of a loop: of several in a row where one is too short to be timed.
template <class Loop>
double time_of(const Loop& loop, std::size_t in_a_row) {
  const double start = now_ns();
  for (std::size_t i = 0; i < in_a_row; ++i) loop();
  return (now_ns() - start) / static_cast<double>(in_a_row);
}

/// As many as the slower of the two allows: in a crowd a loop of nothing may take milliseconds.
template <class Serial, class Parallel>
std::size_t loops_in_a_row(const Serial& serial, const Parallel& parallel) {
  constexpr double short_ns = 5'000, long_ns = 500'000;
  const auto fastest = [](const auto& loop) {
    return std::min({time_of(loop, 1), time_of(loop, 1), time_of(loop, 1)});
  };
  const double slower = std::max(fastest(serial), fastest(parallel));
  return slower < short_ns ? 50 : slower < long_ns ? 3 : 1;
}

template <class Serial, class Parallel>
void sample_turns(const request& wanted, const cell& one, cell_times& seen, const Serial& serial,
                  const Parallel& parallel) {
  const std::size_t in_a_row = one.pause_us > 0 ? 1 : loops_in_a_row(serial, parallel);
  std::vector<double> alone, together;
  const bench::stopwatch watch;
  repeat_sample(wanted, one.loops, [&] {
    pass_pause(one.pause_us);
    alone.push_back(time_of(serial, in_a_row));
    pass_pause(one.pause_us);
    together.push_back(time_of(parallel, in_a_row));
  });
  add_time(seen, watch.elapsed());
  seen.serial_ns.push_back(std::move(alone));
  seen.loops_ns.push_back(std::move(together));
}

/// The arrays of all cells.
struct operands {
  explicit operands(std::size_t n)
      : width(static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) + 1),
        x(n + 2 * width, 1.0),
        y(n, 2.0) {}

  std::size_t width;
  std::vector<double> x, y;
};

template <class Peer>
void sample_kernel(const request& wanted, Peer& peer, operands& of, std::mt19937& chance,
                   const cell& one, cell_times& seen) {
  if (one.kind == "places") return sample_many_loops<Peer>(wanted, one, seen, chance, of.x, of.y);
  const std::size_t n = std::max<std::size_t>(one.size, 1);
  const auto each = [&](const auto& kernel) {
    sample_turns(
        wanted, one, seen, [&] { part(kernel, 0, n); }, [&] { run_loop(peer, n, kernel); });
  };
  const auto sum = [&](const auto& kernel) {
    const auto use = [](double result) { asm volatile("" : : "g"(&result) : "memory"); };
    sample_turns(
        wanted, one, seen, [&] { use(part_sum(kernel, 0, n)); },
        [&] { use(run_sum(peer, n, kernel)); });
  };
  if (one.kind == "daxpy") return each(daxpy_kernel{of.x.data(), of.y.data()});
  if (one.kind == "sqrt") return each(sqrt_kernel{of.x.data(), of.y.data()});
  if (one.kind == "stencil") return each(stencil_kernel{of.x.data(), of.y.data(), of.width});
  if (one.kind == "dot") return sum(dot_kernel{of.x.data(), of.y.data()});
  throw bench::argument_error("there is no kernel '" + one.kind + "'");
}

template <class Peer>
measurement measure_serial(const request& wanted) {
  std::size_t largest = 1;
  for (const cell& one : wanted.cells) largest = std::max({largest, one.size, most_elements});
  operands of(largest);
  Peer peer(wanted);
  std::mt19937 chance(wanted.seed);
  std::vector<cell_times> unused(wanted.cells.size()), times(wanted.cells.size());
  request briefly = wanted;
  briefly.samples = 1;
  for (cell& one : briefly.cells) {
    one.loops = least_loops;
    one.pause_us = std::min(one.pause_us, 100.0);
  }
  take_turns(briefly, [&](std::size_t i) {
    sample_kernel(briefly, peer, of, chance, briefly.cells[i], unused[i]);
  });
  take_turns(wanted, [&](std::size_t i) {
    sample_kernel(wanted, peer, of, chance, wanted.cells[i], times[i]);
  });
  return measurement_of(std::move(times));
}

}  // namespace team_bench
