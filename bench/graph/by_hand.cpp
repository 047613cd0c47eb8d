// SPDX-License-Identifier: MIT
#include "graph/peers/by_hand.hpp"

#include "graph/graph_entries.hpp"
#include "graph/graph_works.hpp"

namespace graph_bench {

void add_by_hand(catalogue& to) {
  add_graphs<hand_chain>(to, "by-hand", {"chain"});
  add_graphs<hand_crossing>(to, "by-hand", {"crossing"});
  add_graphs<event_crossing>(to, "by-hand-events", {"crossing"});
  add_graphs<hand_lattice>(to, "by-hand", {"lattice"});
  add_graphs<hand_fork>(to, "by-hand", {"fork"});
  add_graphs<hand_tree>(to, "by-hand", {"tree"});
  add_graphs<hand_wavefront>(to, "by-hand", {"wavefront"});
  add_loops<hand_loop>(to, "by-hand");
}

}  // namespace graph_bench
