// SPDX-License-Identifier: MIT
// 19_graph_errors -- the messages for graphs that make no sense
//
// A plan is refused with a sentence that names the nodes. graph::validate() gives the same sentence without a plan.
// The lines that this program prints are in docs/graphs.md.
#include <lockstep/lockstep.hpp>
#include <stdexcept>
#include <string>

#include "numbered.hpp"

namespace {

/// Builds a graph of three nodes, lets `wire` connect them, and prints why there is no plan for it.
template <class Wire>
void refuse(const char* what, Wire wire) {
  lockstep::graph g;
  bool is_right = false;
  const auto ask = [&] { return is_right; };
  lockstep::graph_node read = g.node("read", [] {});
  lockstep::graph_node work = g.node("work", ask);
  lockstep::graph_node write = g.node("write", ask);
  std::string why = "accepted";
  try {
    g.series(read, work, write);
    wire(g, read, work, write);
    const lockstep::plan plan(g, 2);
  } catch (const std::invalid_argument& refusal) {
    why = refusal.what();
  }
  numbered::print_line(std::string(what) + ":\n  " + why);
}

}  // namespace

int main(int argc, char** argv) {
  numbered::arguments(argc, argv).end();
  using graph = lockstep::graph;
  using node = lockstep::graph_node;

  refuse("an edge back in place of a loop",
         [](graph& g, node, node work, node write) { g.edge(write, work); });
  refuse("an edge from a node to itself",
         [](graph& g, node, node work, node) { g.edge(work, work); });
  refuse("feedback without a delay",
         [](graph& g, node, node work, node write) { g.feedback(write, work, 0); });
  refuse("iterations that overlap without a bound",
         [](graph& g, node, node work, node write) { g.overlap().feedback(write, work, 1); });
  refuse("a loop that nothing ends",
         [](graph& g, node read, node, node) { g.repeat_while(read, read); });
  refuse("a loop back to a node that comes later",
         [](graph& g, node, node work, node write) { g.repeat_while(work, write); });
  refuse("a condition and its opposite", [](graph& g, node, node work, node) {
    const node both = g.node("both", [] {});
    g.edge_if(work, both).edge_unless(work, both);
  });
  refuse("loops that cross", [](graph& g, node read, node work, node write) {
    g.repeat_while(work, read).repeat_while(write, work);
  });
  refuse("a node of another graph", [](graph& g, node, node, node write) {
    graph other;
    g.edge(write, other.node("stranger", [] {}));
  });
  refuse("a node wider than the team", [](graph& g, node, node, node write) {
    g.edge(write, g.node("together", 4, [](lockstep::member&) {}));
  });
  refuse("a node on a member that is not there",
         [](graph&, node, node, node write) { write.pin(5); });
}
