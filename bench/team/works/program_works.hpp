// SPDX-License-Identifier: MIT
// bench/team/works/program_works.hpp -- a program's step: serial, many steps in a region, a region a step
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "team/catalogue.hpp"
#include "team/executors.hpp"
#include "team/programs.hpp"
#include "team/sampling.hpp"
#include "team/settled.hpp"

namespace team_bench {

template <class Program>
struct serial_runner {
  explicit serial_runner(const request&) {}
  void run(Program& program, typename Program::scalars& now, std::size_t steps) {
    serial_executor on;
    for (std::size_t i = 0; i < steps; ++i) now = program.step(on, now);
  }
};

/// One fork for all steps.
template <class Peer, class Program>
struct region_runner {
  explicit region_runner(const request& wanted) : peer(wanted) {}
  void run(Program& program, typename Program::scalars& now, std::size_t steps) {
    typename Program::scalars after = now;
    peer.region([&](auto& member) {
      region_executor on(member);
      typename Program::scalars mine = now;
      for (std::size_t i = 0; i < steps; ++i) mine = program.step(on, mine);
      if (member.rank() == 0) after = mine;
    });
    now = after;
  }
  Peer peer;
};

/// A fork for every step.
template <class Peer, class Program>
struct step_runner : region_runner<Peer, Program> {
  using region_runner<Peer, Program>::region_runner;
  void run(Program& program, typename Program::scalars& now, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) region_runner<Peer, Program>::run(program, now, 1);
  }
};

/// A fork for every loop: for peers whose threads cannot meet inside.
template <class Peer, class Program>
struct phase_runner {
  explicit phase_runner(const request& wanted) : peer(wanted) {}
  void run(Program& program, typename Program::scalars& now, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) now = program.step(peer, now);
  }
  Peer peer;
};

/// Throws std::runtime_error if the runner's results are not the serial ones.
template <class Program, class Runner>
void check_program(Runner& runner, const request& wanted) {
  constexpr std::size_t steps = 24;
  Program ours(wanted.size), serial(wanted.size);
  typename Program::scalars our_scalars, serial_scalars;
  runner.run(ours, our_scalars, steps);
  serial_runner<Program>(wanted).run(serial, serial_scalars, steps);
  const auto& all_right = serial.result();
  const auto& all_got = ours.result();
  for (std::size_t i = 0; i < all_right.size(); ++i) {
    const double right = all_right[i], got = all_got[i];
    if (std::abs(got - right) <= Program::tolerance * (1 + std::abs(right))) continue;
    throw std::runtime_error("the result differs from the serial one at " + std::to_string(i) +
                             ": " + std::to_string(got) + " for " + std::to_string(right));
  }
}

template <class Program, class Runner>
measurement measure_program(const request& given, std::size_t usual_size) {
  request wanted = given;
  if (wanted.size == 0) wanted.size = usual_size;
  Runner runner(wanted);
  check_program<Program>(runner, wanted);
  Program program(wanted.size);
  typename Program::scalars now;
  return take_sample(wanted, [&](std::size_t steps) { runner.run(program, now, steps); });
}

/// The programs with one way to run them, as entries of `peer`. The size is --size.
template <template <class> class Runner>
void add_programs(catalogue& to, const std::string& peer) {
  const auto add = [&](const char* work, auto program, std::size_t size) {
    using type = typename decltype(program)::type;
    to.push_back({work, peer, [size](const request& wanted) {
                    return measure_program<type, Runner<type>>(wanted, size);
                  }});
  };
  add("n-body", std::type_identity<n_body>(), 32);
  add("jacobi", std::type_identity<jacobi_program>(), 64);
  add("gauss-seidel", std::type_identity<gauss_seidel_program>(), 64);
  add("cg", std::type_identity<cg_program>(), 64);
}

/// The runners of a peer, as templates of the program alone.
template <class Peer>
struct runners_of {
  template <class Program>
  using many_steps = region_runner<settled<Peer>, Program>;
  template <class Program>
  using one_step = step_runner<settled<Peer>, Program>;
  template <class Program>
  using one_loop = phase_runner<settled<Peer>, Program>;
};

/// What a peer with regions offers: one region of many steps, and one for every step.
template <class Peer>
void add_region_programs(catalogue& to, const std::string& peer) {
  add_programs<runners_of<Peer>::template many_steps>(to, peer);
  add_programs<runners_of<Peer>::template one_step>(to, peer + "/stepwise");
}

}  // namespace team_bench
