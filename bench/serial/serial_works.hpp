// SPDX-License-Identifier: MIT
// bench/serial/serial_works.hpp -- a loop against the serial loop, over sizes and pauses
//
// serial/KERNEL/PAUSE: loops of --size elements, each after PAUSE microseconds: polled below 50, slept from
// there on. Serial and parallel loops take turns. The value is the median time over that of the serial loop.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "duty/duty_works.hpp"

namespace team_bench {

enum class serial_kernel { daxpy, dot, sqrt, stencil };
constexpr const char* name_of(serial_kernel kernel) {
  return kernel == serial_kernel::daxpy  ? "daxpy"
         : kernel == serial_kernel::dot  ? "dot"
         : kernel == serial_kernel::sqrt ? "sqrt"
                                         : "stencil";
}

inline void pass_pause(double pause_us) {
  if (pause_us >= 50) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(pause_us));
    return;
  }
  const double end = now_ns() + 1000 * pause_us;
  while (now_ns() < end) asm volatile("" ::: "memory");
}

/// Nanoseconds of a loop: of several in a row where one is too short to be timed.
template <class Loop>
double time_of(const Loop& loop, std::size_t in_a_row) {
  const double start = now_ns();
  for (std::size_t i = 0; i < in_a_row; ++i) loop();
  return (now_ns() - start) / static_cast<double>(in_a_row);
}

template <class Serial, class Parallel>
measurement measure_turns(const request& wanted, double pause_us, const Serial& serial,
                          const Parallel& parallel) {
  const double once = time_of(serial, 1) * 1e-9 + pause_us * 1e-6;
  const auto repeats =
      static_cast<std::size_t>(std::clamp(wanted.seconds / (2 * once), 5.0, 401.0));
  const std::size_t in_a_row = pause_us > 0 ? 1 : once < 5e-6 ? 50 : 3;
  std::vector<double> alone, together;
  const bench::stopwatch watch;
  for (std::size_t i = 0; i < repeats; ++i) {
    pass_pause(pause_us);
    alone.push_back(time_of(serial, in_a_row));
    pass_pause(pause_us);
    together.push_back(time_of(parallel, in_a_row));
  }
  return compare_times(together, alone, watch.elapsed());
}

template <class Peer>
measurement measure_serial(const request& wanted, serial_kernel which, double pause_us) {
  const std::size_t n = wanted.size == 0 ? 1 : wanted.size;
  const auto width = static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) + 1;
  std::vector<double> x(n + 2 * width, 1.0), y(n, 2.0);
  Peer peer(wanted);
  const auto measure = [&](const auto& kernel) {
    return measure_turns(
        wanted, pause_us, [&] { part(kernel, 0, n); }, [&] { run_loop(peer, n, kernel); });
  };
  switch (which) {
    case serial_kernel::daxpy: return measure(daxpy_kernel{x.data(), y.data()});
    case serial_kernel::sqrt: return measure(sqrt_kernel{x.data(), y.data()});
    case serial_kernel::stencil: return measure(stencil_kernel{x.data(), y.data(), width});
    case serial_kernel::dot: break;
  }
  const dot_kernel kernel{x.data(), y.data()};
  const auto use = [](double sum) { asm volatile("" : : "g"(&sum) : "memory"); };
  return measure_turns(
      wanted, pause_us, [&] { use(part_sum(kernel, 0, n)); },
      [&] { use(run_sum(peer, n, kernel)); });
}

template <class Peer>
void add_serial(catalogue& to, const std::string& peer) {
  for (const serial_kernel kernel :
       {serial_kernel::daxpy, serial_kernel::dot, serial_kernel::sqrt, serial_kernel::stencil}) {
    for (const int pause_us : {0, 10, 100, 1000, 10'000, 100'000}) {
      to.push_back({std::string("serial/") + name_of(kernel) + "/" + std::to_string(pause_us), peer,
                    [=](const request& wanted) {
                      return measure_serial<settled<Peer>>(wanted, kernel, pause_us);
                    }});
    }
  }
}

/// Loops between other things.
template <class Peer>
void add_loops_between(catalogue& to, const std::string& peer) {
  add_duty<Peer>(to, peer);
  add_serial<Peer>(to, peer);
}

}  // namespace team_bench
