// SPDX-License-Identifier: MIT
// bench/team/works/overhead_works.hpp -- the overheads that a peer without constructs of its own has
#pragma once

#include <cstddef>
#include <string>

#include "team/catalogue.hpp"
#include "team/overheads.hpp"
#include "team/settled.hpp"

namespace team_bench {

template <class Peer>
measurement measure_fork_overhead(const request& wanted) {
  Peer peer(wanted);
  return measure_overhead(peer, wanted, reference::one_delay,
                          [&](const overhead_setup& with, std::size_t times) {
                            const std::size_t rounds = with.rounds;
                            for (std::size_t i = 0; i < times; ++i) {
                              peer.fork([rounds](std::size_t) { delay(rounds); });
                            }
                          });
}

template <class Peer>
measurement measure_loop_overhead(const request& wanted) {
  Peer peer(wanted);
  return measure_overhead(peer, wanted, reference::one_delay,
                          [&](const overhead_setup& with, std::size_t times) {
                            const std::size_t rounds = with.rounds;
                            const auto body = [rounds](std::size_t first, std::size_t last) {
                              for (std::size_t j = first; j < last; ++j) delay(rounds);
                            };
                            for (std::size_t i = 0; i < times; ++i)
                              peer.loop(0, with.threads, body);
                          });
}

template <class Peer>
void add_overheads_of_forks(catalogue& to, const std::string& peer) {
  to.push_back({"overhead/parallel", peer, measure_fork_overhead<settled<Peer>>});
  to.push_back({"overhead/parallel_for", peer, measure_loop_overhead<settled<Peer>>});
}

}  // namespace team_bench
