// SPDX-License-Identifier: MIT
// bench/team/works/break_even_works.hpp -- the size from which on a loop is faster in parallel
//
// Serial and parallel loops take turns, each for half a millisecond after as long to warm up: the other's have
// left half of the data in another CPU's cache, or the team asleep. Their medians are compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/stopwatch.hpp"
#include "team/break_even.hpp"
#include "team/catalogue.hpp"
#include "team/executors.hpp"
#include "team/kernels.hpp"
#include "team/sampling.hpp"
#include "team/settled.hpp"

namespace team_bench {

/// Sizes are numbers of elements, or sides of squares.
struct daxpy_loop {
  static constexpr std::size_t smallest = 64, largest = 1 << 20;
  explicit daxpy_loop(std::size_t size) : size_(size), x(size, 1.0), y(size, 2.0) {}
  template <class Executor>
  void run(Executor& on) {
    on.loop(0, size_, [&](std::size_t first, std::size_t last) {
      daxpy(first, last, 1e-9, x.data(), y.data());
    });
  }
  std::size_t size_;
  std::vector<double> x, y;
};

struct dot_loop : daxpy_loop {
  using daxpy_loop::daxpy_loop;
  template <class Executor>
  void run(Executor& on) {
    sum += on.sum(0, size_, [&](std::size_t first, std::size_t last) {
      return dot(first, last, x.data(), y.data());
    });
  }
  double sum = 0;
};

struct stencil_loop {
  static constexpr std::size_t smallest = 4, largest = 1024;
  explicit stencil_loop(std::size_t size)
      : size_(size), in((size + 2) * (size + 2), 1.0), out(in) {}
  template <class Executor>
  void run(Executor& on) {
    on.loop(0, size_, [&](std::size_t first, std::size_t last) {
      stencil(first, last, size_, in.data(), out.data());
    });
  }
  std::size_t size_;
  std::vector<double> in, out;
};

struct filter_loop {
  static constexpr std::size_t smallest = 4, largest = 512;
  explicit filter_loop(std::size_t size)
      : size_(size), in((size + 4) * (size + 4), 1.0f), out(size * size) {}
  template <class Executor>
  void run(Executor& on) {
    on.loop(0, size_, [&](std::size_t first, std::size_t last) {
      filter(first, last, size_, in.data(), out.data());
    });
  }
  std::size_t size_;
  std::vector<float> in, out;
};

struct matrix_loop {
  static constexpr std::size_t smallest = 8, largest = 512;
  explicit matrix_loop(std::size_t size)
      : size_(size), matrix(size * size, 0.5), x(size, 1.0), y(size) {}
  template <class Executor>
  void run(Executor& on) {
    on.loop(0, size_, [&](std::size_t first, std::size_t last) {
      multiply(first, last, size_, matrix.data(), x.data(), y.data());
    });
  }
  std::size_t size_;
  std::vector<double> matrix, x, y;
};

/// Nanoseconds of a loop: serial and parallel.
struct both_times {
  double serial, parallel;
};

/// Nanoseconds of a loop, of `repeats` of them, or fewer where others have the CPUs: two spinners on one
/// would need minutes.
template <class Loop, class Executor>
double time_loop(Loop& loop, Executor& on, std::size_t repeats, double longest_ns) {
  constexpr std::size_t look = 16;  // so rarely that looking costs nothing
  const double start = now_ns();
  std::size_t done = 0;
  double elapsed = 0;
  while (done < repeats && elapsed < longest_ns) {
    for (std::size_t i = 0; i < look; ++i) loop.run(on);
    done += look;
    elapsed = now_ns() - start;
  }
  return elapsed / static_cast<double>(done);
}

template <class Loop, class Executor>
double time_warm_loop(Loop& loop, Executor& on, std::size_t repeats, double longest_ns) {
  time_loop(loop, on, repeats, longest_ns);
  return time_loop(loop, on, repeats, longest_ns);
}

template <class Loop, class Peer>
both_times time_both(Peer& peer, const request& wanted, std::size_t size) {
  const double batch_ns = std::clamp(wanted.seconds * 1e7, 50'000.0, 500'000.0);
  const double longest_ns = 20 * batch_ns;
  // A turn takes four batches; seven to ten sizes are asked about.
  const auto turns = std::max<std::size_t>(3, static_cast<std::size_t>(wanted.seconds * 100));
  Loop loop(size);
  serial_executor alone;
  const double once = time_warm_loop(loop, alone, 1, longest_ns);
  const std::size_t repeats = std::max<std::size_t>(1, static_cast<std::size_t>(batch_ns / once));
  std::vector<double> serial, parallel;
  for (std::size_t i = 0; i < turns; ++i) {
    serial.push_back(time_warm_loop(loop, alone, repeats, longest_ns));
    peer.deal();
    parallel.push_back(time_warm_loop(loop, peer, repeats, longest_ns));
  }
  return {median(serial), median(parallel)};
}

/// NaN if parallel never wins; with --size, the time of that size instead.
template <class Peer, class Loop>
measurement measure_break_even(const request& wanted) {
  Peer peer(wanted);
  measurement result;
  const bench::stopwatch watch;
  if (wanted.size != 0) {
    const both_times times = time_both<Loop>(peer, wanted, wanted.size);
    result.value = times.parallel;
    result.more["serial_ns"] = times.serial;
  } else {
    const auto wins = [&](std::size_t size) {
      const both_times times = time_both<Loop>(peer, wanted, size);
      return times.parallel < times.serial;
    };
    const auto least = break_even(ladder_of_sizes(Loop::smallest, Loop::largest, 1.19), wins);
    result.value = least ? static_cast<double>(*least) : std::numeric_limits<double>::quiet_NaN();
    result.unit = std::is_base_of_v<daxpy_loop, Loop> ? "elements" : "rows";
  }
  const bench::elapsed_time time = watch.elapsed();
  result.cpus = time.cpu_seconds / time.wall_seconds;
  return result;
}

template <class Peer>
void add_break_even(catalogue& to, const std::string& peer) {
  to.push_back({"break-even/daxpy", peer, measure_break_even<settled<Peer>, daxpy_loop>});
  to.push_back({"break-even/dot", peer, measure_break_even<settled<Peer>, dot_loop>});
  to.push_back({"break-even/stencil", peer, measure_break_even<settled<Peer>, stencil_loop>});
  to.push_back({"break-even/filter", peer, measure_break_even<settled<Peer>, filter_loop>});
  to.push_back({"break-even/matrix", peer, measure_break_even<settled<Peer>, matrix_loop>});
}

}  // namespace team_bench
