// SPDX-License-Identifier: MIT
// bench/serial/many_loops.hpp -- a program of many different short loops, from its start: the shape of most solvers
//
// A round is one loop after the other, of 50 to 500 elements, each at a place of its own in the program. A sample is the
// mean time of a round over that of the serial round, of so many rounds by a team that is new: what it takes to get to
// know the loops counts, and nobody is dealt out over the CPUs: the serial program is not either, and would not begin
// beside the same process. A sample has several pairs of programs, and chance says which of a pair is first: it lasts
// as long as a few time slices, or a period of a quota, which would meet the same one of both each time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "duty/cell_sampling.hpp"
#include "duty/duty_works.hpp"

namespace team_bench {

inline void pass_pause(double pause_us) {
  if (pause_us >= 50) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(pause_us));
  } else {
    poll_for(1000 * pause_us);
  }
}

constexpr std::size_t least_elements = 50, most_elements = 500;

constexpr std::size_t elements_of(std::size_t place) {
  return least_elements + (place * 7919 + 13) % (most_elements - least_elements + 1);
}

/// About a nanosecond an element.
template <std::size_t Place>
struct placed_kernel {
  const double* x;
  double* y;
  void operator()(std::size_t i) const { y[i] = (1.0 + Place) / 256 + x[i] / (1.0 + y[i]); }
};

/// How many places are compiled. For a peer that does not learn by place, further places are the same code.
template <class Peer>
constexpr std::size_t compiled_places() {
  if constexpr (requires { Peer::learns_by_place; }) return 128;
  return 8;
}

template <class Peer>
class many_loops {
 public:
  many_loops(std::size_t places, const double* x, double* y) : places_(places), x_(x), y_(y) {}

  void serial_round() const {
    for (std::size_t place = 0; place < places_; ++place) {
      serial_loops[place % compiled](elements_of(place), x_, y_);
    }
  }
  void round(Peer& peer) const {
    for (std::size_t place = 0; place < places_; ++place) {
      loops[place % compiled](peer, elements_of(place), x_, y_);
    }
  }

 private:
  static constexpr std::size_t compiled = compiled_places<Peer>();
  using serial_loop = void (*)(std::size_t n, const double* x, double* y);
  using loop = void (*)(Peer& peer, std::size_t n, const double* x, double* y);

  template <std::size_t Place>
  static void run_serially(std::size_t n, const double* x, double* y) {
    part(placed_kernel<Place>{x, y}, 0, n);
  }
  template <std::size_t Place>
  static void run(Peer& peer, std::size_t n, const double* x, double* y) {
    run_loop(peer, n, placed_kernel<Place>{x, y});
  }
  template <std::size_t... Places>
  static constexpr std::array<serial_loop, compiled> serial_loops_of(
      std::index_sequence<Places...>) {
    return {run_serially<Places>...};
  }
  template <std::size_t... Places>
  static constexpr std::array<loop, compiled> loops_of(std::index_sequence<Places...>) {
    return {run<Places>...};
  }
  static constexpr std::array<serial_loop, compiled> serial_loops =
      serial_loops_of(std::make_index_sequence<compiled>());
  static constexpr std::array<loop, compiled> loops =
      loops_of(std::make_index_sequence<compiled>());

  std::size_t places_;
  const double* x_;
  double* y_;
};

/// Those of the peer that is judged are many; the others' take as long, and are looked at by no verdict.
template <class Peer>
constexpr std::size_t pairs_of_programs() {
  if constexpr (requires { Peer::learns_by_place; }) return 5;
  return 1;
}

template <class Peer>
void sample_many_loops(const request& wanted, const cell& one, cell_times& seen,
                       std::mt19937& chance, const std::vector<double>& x, std::vector<double>& y) {
  const many_loops<typename Peer::as_made> program(one.size, x.data(), y.data());
  const auto mean_of = [&](const auto& round) {
    double sum = 0, rounds = 0;
    repeat_sample(wanted, one.loops, [&] {
      pass_pause(one.pause_us);
      const double start = now_ns();
      round();
      sum += now_ns() - start;
      ++rounds;
    });
    return sum / rounds;
  };
  std::vector<double> alone, together;
  const auto run_serially = [&] { alone.push_back(mean_of([&] { program.serial_round(); })); };
  for (std::size_t pair = 0; pair < pairs_of_programs<Peer>(); ++pair) {
    const bool serial_is_first = chance() % 2 == 0;
    if (serial_is_first) run_serially();
    {
      typename Peer::as_made peer(wanted.threads);
      warm_up(peer, 0);
      const bench::stopwatch watch;
      together.push_back(mean_of([&] { program.round(peer); }));
      add_time(seen, watch.elapsed());
    }
    if (!serial_is_first) run_serially();
  }
  seen.serial_ns.push_back(std::move(alone));
  seen.loops_ns.push_back(std::move(together));
}

}  // namespace team_bench
