// SPDX-License-Identifier: MIT
// bench/team/works/scheduled_works.hpp -- ForkUnion's two benchmarks as entries: with blocks, and with claims
#pragma once

#include <string>
#include <type_traits>

#include "team/scheduled_programs.hpp"
#include "team/works/program_works.hpp"

namespace team_bench {

/// Both programs with one schedule. The size is --size: bodies, communities.
template <template <class> class Runner, class Schedule>
void add_scheduled(catalogue& to, const std::string& schedule, const std::string& peer) {
  const auto add = [&](const std::string& work, auto program, std::size_t size) {
    using type = typename decltype(program)::type;
    to.push_back({work + "/" + schedule, peer, [size](const request& wanted) {
                    return measure_program<type, Runner<type>>(wanted, size);
                  }});
  };
  add("bodies-in-box", std::type_identity<bodies_in_box<Schedule>>(), 512);
  add("components", std::type_identity<components_of_necklace<Schedule>>(), 64);
}

template <template <class> class Runner>
void add_in_blocks(catalogue& to, const std::string& peer) {
  add_scheduled<Runner, in_blocks>(to, "static", peer);
}

/// For peers that have claims: claimed_loop() and claimed_sum().
template <template <class> class Runner>
void add_by_claims(catalogue& to, const std::string& peer) {
  add_scheduled<Runner, by_claims>(to, "dynamic", peer);
}

/// Both ways, each with one region of many steps and with one for every step.
template <class Peer>
void add_scheduled_in_regions(catalogue& to, const std::string& peer) {
  add_in_blocks<runners_of<Peer>::template many_steps>(to, peer);
  add_by_claims<runners_of<Peer>::template many_steps>(to, peer);
  add_in_blocks<runners_of<Peer>::template one_step>(to, peer + "/stepwise");
  add_by_claims<runners_of<Peer>::template one_step>(to, peer + "/stepwise");
}

/// Both ways, with a fork for every loop.
template <class Peer>
void add_scheduled_by_forks(catalogue& to, const std::string& peer) {
  add_in_blocks<runners_of<Peer>::template one_loop>(to, peer);
  add_by_claims<runners_of<Peer>::template one_loop>(to, peer);
}

}  // namespace team_bench
