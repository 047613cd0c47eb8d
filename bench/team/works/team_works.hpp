// SPDX-License-Identifier: MIT
// bench/team/works/team_works.hpp -- every work for a peer with regions, or with forks only
#pragma once

#include <string>

#include "team/works/break_even_works.hpp"
#include "team/works/fork_works.hpp"
#include "team/works/program_works.hpp"

namespace team_bench {

template <class Peer>
void add_fork_works(catalogue& to, const std::string& peer) {
  add_forks<Peer>(to, peer);
  add_break_even<Peer>(to, peer);
  add_programs<runners_of<Peer>::template one_loop>(to, peer);
}

template <class Peer>
void add_region_works(catalogue& to, const std::string& peer) {
  add_forks<Peer>(to, peer);
  add_barrier<Peer>(to, peer);
  add_break_even<Peer>(to, peer);
  add_region_programs<Peer>(to, peer);
}

}  // namespace team_bench
