// SPDX-License-Identifier: MIT
// bench/periodic/periodic_works.hpp -- a program that wakes up at fixed times for a short loop; and one that has ended
//
// Work "periodic", cells KIND:P:S, loops of P microseconds of serial time:
//   sleeps   one every S microseconds, at fixed times; the caller sleeps until then
//   ends     a burst of them, S microseconds apart (polled); then nothing. CPU time of the process in the first quarter of
//            a second after it, "idle_first_s", and in the second, "idle_second_s". The caller sleeps meanwhile.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "duty/duty_works.hpp"

namespace team_bench {

template <class Loop>
std::vector<double> times_at_fixed_times(const request& wanted, const cell& one, const Loop& loop) {
  using clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<clock::duration>(
      std::chrono::duration<double, std::micro>(one.pause_us));
  std::vector<double> times;
  auto due = clock::now();
  repeat_sample(wanted, one.loops, [&] {
    due += period;
    std::this_thread::sleep_until(due);
    const double start = now_ns();
    loop();
    times.push_back(now_ns() - start);
  });
  return times;
}

/// CPU time of the process in a quarter of a second, in seconds.
inline double cpu_seconds_of_idling() {
  const bench::stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  return watch.elapsed().cpu_seconds;
}

template <class Loop>
void sample_end(const request& wanted, const cell& one, cell_times& seen, const Loop& loop) {
  gaps before(gap_kind::regular, 1000 * one.pause_us, wanted.seed);
  const bench::stopwatch watch;
  seen.loops_ns.push_back(times_after(wanted, [&] { poll_for(before.next()); }, one.loops, loop));
  add_time(seen, watch.elapsed());
  const double first = cpu_seconds_of_idling(), second = cpu_seconds_of_idling();
  const std::string turn = " " + std::to_string(seen.loops_ns.size() - 1);
  seen.more["idle_first_s" + turn] = first;
  seen.more["idle_second_s" + turn] = second;
}

template <class Loop>
void sample_period(const request& wanted, const cell& one, cell_times& seen, const Loop& loop) {
  cell few = one;
  few.loops = 16;
  times_at_fixed_times(wanted, few, loop);  // the team has seen such gaps
  const bench::stopwatch watch;
  seen.loops_ns.push_back(times_at_fixed_times(wanted, one, loop));
  add_time(seen, watch.elapsed());
}

template <class Peer>
measurement measure_periodic(const request& wanted) {
  const loops_by_time work;
  const sqrt_kernel& kernel = work.kernel();
  std::vector<cell_times> times(wanted.cells.size());
  const auto length = [&](const cell& one) {
    return work.iterations(static_cast<double>(one.size));
  };
  take_turns(wanted, [&](std::size_t i) {
    cell fewer = wanted.cells[i];
    fewer.loops = std::max(fewer.loops / 3, least_loops);
    times[i].serial_ns.push_back(
        times_at_fixed_times(wanted, fewer, [&] { part(kernel, 0, length(fewer)); }));
  });
  Peer peer(wanted);
  take_turns(wanted, [&](std::size_t i) {
    const cell& one = wanted.cells[i];
    const auto loop = [&] { run_loop(peer, length(one), kernel); };
    if (one.kind == "ends") return sample_end(wanted, one, times[i], loop);
    if (one.kind == "sleeps") return sample_period(wanted, one, times[i], loop);
    throw bench::argument_error("there is no program '" + one.kind + "'");
  });
  return measurement_of(std::move(times));
}

}  // namespace team_bench
