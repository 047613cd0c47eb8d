// SPDX-License-Identifier: MIT
// bench/duty/duty_works.hpp -- a program that alternates serial work with a loop
//
// duty/KIND/P: a loop of P microseconds of serial time, after gaps of about --size microseconds each:
//   regular, tenth (+- 10 %), alternating (a half and one and a half in turns), random (from 0 to twice)
// The same gaps come before serial loops first: caches are as cold there. The value is the median time of a
// loop over that of the serial one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "duty/index_kernels.hpp"
#include "support/stopwatch.hpp"
#include "team/catalogue.hpp"
#include "team/sampling.hpp"
#include "team/settled.hpp"

namespace team_bench {

enum class gap_kind { regular, tenth, alternating, random };
constexpr const char* name_of(gap_kind kind) {
  return kind == gap_kind::regular       ? "regular"
         : kind == gap_kind::tenth       ? "tenth"
         : kind == gap_kind::alternating ? "alternating"
                                         : "random";
}

/// Works for as long as a gap lasts, in nanoseconds. The same gaps in every process.
class gaps {
 public:
  gaps(gap_kind kind, double mean) : kind_(kind), mean_(mean) {}

  void pass() {
    const double end = now_ns() + next();
    while (now_ns() < end) asm volatile("" ::: "memory");
  }

 private:
  double next() {
    ++count_;
    const double draw = std::uniform_real_distribution<double>(0, 2)(engine_);
    return kind_ == gap_kind::regular       ? mean_
           : kind_ == gap_kind::tenth       ? mean_ * (0.9 + 0.1 * draw)
           : kind_ == gap_kind::alternating ? mean_ * (count_ % 2 == 0 ? 0.5 : 1.5)
                                            : mean_ * draw;
  }

  gap_kind kind_;
  double mean_;
  std::size_t count_ = 0;
  std::mt19937_64 engine_{1};
};

/// The time of each of so many loops, each after a gap.
template <class Loop>
std::vector<double> times_after(gaps before, std::size_t repeats, const Loop& loop) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) {
    before.pass();
    const double start = now_ns();
    loop();
    times.push_back(now_ns() - start);
  }
  return times;
}

inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum / static_cast<double>(values.size());
}
inline double quantile_of(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

inline measurement compare_times(const std::vector<double>& loops,
                                 const std::vector<double>& serial,
                                 const bench::elapsed_time& time) {
  measurement result;
  result.value = median(loops) / median(serial);
  result.unit = "of serial";
  result.cpus = time.cpu_seconds / time.wall_seconds;
  result.more["loop_ns"] = median(loops);
  result.more["serial_ns"] = median(serial);
  result.more["mean_ratio"] = mean_of(loops) / mean_of(serial);
  result.more["p95_ratio"] = quantile_of(loops, 0.95) / median(serial);
  return result;
}

template <class Peer>
measurement measure_duty(const request& wanted, gap_kind kind, double loop_us) {
  constexpr std::size_t most = 1 << 16, calibrating = 20'000;
  std::vector<double> x(most, 1.0), y(most, 1.0);
  const sqrt_kernel kernel{x.data(), y.data()};
  double each_ns = 1e9;
  for (int i = 0; i < 20; ++i) {
    const double start = now_ns();
    part(kernel, 0, calibrating);
    each_ns = std::min(each_ns, (now_ns() - start) / calibrating);
  }
  const std::size_t n =
      std::clamp<std::size_t>(static_cast<std::size_t>(1000 * loop_us / each_ns), 1, most);
  const double gap_ns = 1000 * static_cast<double>(wanted.size);
  const auto repeats = static_cast<std::size_t>(
      std::clamp(1e9 * wanted.seconds / (gap_ns + 1000 * loop_us), 3.0, 3000.0));
  const gaps before(kind, gap_ns);
  const std::vector<double> serial =
      times_after(before, std::min<std::size_t>(repeats, 300), [&] { part(kernel, 0, n); });
  Peer peer(wanted);
  const auto loop = [&] { run_loop(peer, n, kernel); };
  times_after(before, std::min<std::size_t>(repeats, 20), loop);  // as in the middle of the program
  const bench::stopwatch watch;
  const std::vector<double> loops = times_after(before, repeats, loop);
  return compare_times(loops, serial, watch.elapsed());
}

template <class Peer>
void add_duty(catalogue& to, const std::string& peer) {
  for (const gap_kind kind :
       {gap_kind::regular, gap_kind::tenth, gap_kind::alternating, gap_kind::random}) {
    for (const int loop_us : {5, 20, 100, 500}) {
      to.push_back({std::string("duty/") + name_of(kind) + "/" + std::to_string(loop_us), peer,
                    [=](const request& wanted) {
                      return measure_duty<settled<Peer>>(wanted, kind, loop_us);
                    }});
    }
  }
}

}  // namespace team_bench
