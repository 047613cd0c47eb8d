// SPDX-License-Identifier: MIT
// bench/duty/duty_works.hpp -- a program that alternates serial work with a loop
//
// Work "duty", cells KIND:P:S: loops of P microseconds of serial time after gaps of about S microseconds:
//   regular, tenth (+- 10 %), alternating (a half and one and a half in turns), random (from 0 to twice)
// A sample of loops is compared with serial loops of the same time: pass_gap(). Where gaps are too short for these, it is
// compared with a sample of serial loops after the same gaps, from before there was a team.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "duty/cell_sampling.hpp"
#include "duty/index_kernels.hpp"
#include "support/argument_error.hpp"
#include "team/catalogue.hpp"
#include "team/sampling.hpp"
#include "team/settled.hpp"

namespace team_bench {

enum class gap_kind { regular, tenth, alternating, random };

inline gap_kind gap_kind_of(const std::string& name) {
  if (name == "regular") return gap_kind::regular;
  if (name == "tenth") return gap_kind::tenth;
  if (name == "alternating") return gap_kind::alternating;
  if (name == "random") return gap_kind::random;
  throw bench::argument_error("there are no gaps of the kind '" + name + "'");
}

inline void poll_for(double nanoseconds) {
  const double end = now_ns() + nanoseconds;
  while (now_ns() < end) asm volatile("" ::: "memory");
}

/// The lengths of gaps, in nanoseconds. The same for all peers.
class gaps {
 public:
  gaps(gap_kind kind, double mean, unsigned seed) : kind_(kind), mean_(mean), engine_(seed) {}

  double next() {
    ++count_;
    const double draw = std::uniform_real_distribution<double>(0, 2)(engine_);
    return kind_ == gap_kind::regular       ? mean_
           : kind_ == gap_kind::tenth       ? mean_ * (0.9 + 0.1 * draw)
           : kind_ == gap_kind::alternating ? mean_ * (count_ % 2 == 0 ? 0.5 : 1.5)
                                            : mean_ * draw;
  }

 private:
  gap_kind kind_;
  double mean_;
  std::size_t count_ = 0;
  std::mt19937_64 engine_;
};

/// Fastest of several short looks within 60 ms: a virtual CPU may run at a tenth of its clock for 15 ms, and be slow for
/// 40 ms after it (docs/maintainers/decisions/0081).
template <class Kernel>
double nanoseconds_per_iteration(const Kernel& kernel) {
  constexpr std::size_t looks = 20, iterations = 2'000;
  constexpr double pause_ns = 3e6;
  double least = 1e9;
  for (std::size_t i = 0; i < looks; ++i) {
    poll_for(pause_ns);
    const double start = now_ns();
    part(kernel, 0, iterations);
    least = std::min(least, (now_ns() - start) / iterations);
  }
  return least;
}

/// A sample: loops of so many iterations, each after a gap, which pause() passes; a first one does not count.
template <class Pause, class Loop>
std::vector<double> times_after(const request& wanted, const Pause& pause, std::size_t loops,
                                const Loop& loop) {
  std::vector<double> times;
  pause();
  loop();
  repeat_sample(wanted, loops, [&] {
    pause();
    const double start = now_ns();
    loop();
    times.push_back(now_ns() - start);
  });
  return times;
}

/// Passes a gap, and notes what the serial loop takes meanwhile. The clock of a virtual CPU changes within milliseconds: over
/// serial loops of another time a ratio says which of the two met more slow spells (docs/maintainers/decisions/0081). So
/// half way through each gap that is as long as the loop, the caller runs the first quarter of the loop, whose data it has
/// in its cache.
template <class Kernel>
void pass_gap(double gap_ns, double loop_ns, const Kernel& kernel, std::size_t iterations,
              std::vector<double>& serial_ns) {
  const double end = now_ns() + gap_ns;
  const std::size_t quarter = iterations / 4;
  if (gap_ns >= loop_ns && quarter > 0) {
    poll_for(gap_ns / 2);
    const double start = now_ns();
    part(kernel, 0, quarter);
    serial_ns.push_back((now_ns() - start) * static_cast<double>(iterations) /
                        static_cast<double>(quarter));
  }
  poll_for(end - now_ns());
}

/// As in the middle of the program: the team has seen such gaps.
template <class Loop>
void get_used_to(gaps before, const Loop& loop) {
  constexpr std::size_t loops = 16;
  constexpr double longest_seconds = 0.5;
  const bench::stopwatch watch;
  for (std::size_t i = 0; i < loops && watch.wall_seconds() < longest_seconds; ++i) {
    poll_for(before.next());
    loop();
  }
}

/// Loops by the microseconds that the serial one takes.
class loops_by_time {
 public:
  /// Iterations of a loop of so many microseconds.
  [[nodiscard]] std::size_t iterations(double microseconds) const {
    const double fitting = 1000 * microseconds / each_ns_;
    return std::clamp<std::size_t>(static_cast<std::size_t>(fitting), 1, most);
  }
  [[nodiscard]] const sqrt_kernel& kernel() const { return kernel_; }

 private:
  static constexpr std::size_t most = 1 << 16;

  std::vector<double> x_ = std::vector<double>(most, 1.0), y_ = x_;
  sqrt_kernel kernel_{x_.data(), y_.data()};
  double each_ns_ = nanoseconds_per_iteration(kernel_);
};

template <class Peer>
measurement measure_duty(const request& wanted) {
  const loops_by_time work;
  const sqrt_kernel& kernel = work.kernel();
  const std::size_t count = wanted.cells.size();
  std::vector<cell_times> times(count);
  std::vector<std::size_t> lengths;
  std::vector<gaps> before;
  for (const cell& one : wanted.cells) {
    lengths.push_back(work.iterations(static_cast<double>(one.size)));
    before.emplace_back(gap_kind_of(one.kind), 1000 * one.pause_us, wanted.seed);
  }
  std::vector<gaps> before_serial = before;
  take_turns(wanted, [&](std::size_t i) {
    const std::size_t loops = std::max(wanted.cells[i].loops / 3, least_loops);
    times[i].serial_ns.push_back(times_after(
        wanted, [&] { poll_for(before_serial[i].next()); }, loops,
        [&] { part(kernel, 0, lengths[i]); }));
  });
  Peer peer(wanted);
  get_used_to(before[0], [&] { run_loop(peer, lengths[0], kernel); });
  take_turns(wanted, [&](std::size_t i) {
    const double loop_ns = 1000 * static_cast<double>(wanted.cells[i].size);
    std::vector<double> meanwhile;
    const bench::stopwatch watch;
    times[i].loops_ns.push_back(times_after(
        wanted, [&] { pass_gap(before[i].next(), loop_ns, kernel, lengths[i], meanwhile); },
        wanted.cells[i].loops, [&] { run_loop(peer, lengths[i], kernel); }));
    add_time(times[i], watch.elapsed());
    if (!meanwhile.empty()) times[i].serial_ns[times[i].loops_ns.size() - 1] = meanwhile;
  });
  return measurement_of(std::move(times));
}

}  // namespace team_bench
