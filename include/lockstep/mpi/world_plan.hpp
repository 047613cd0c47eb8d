// SPDX-License-Identifier: MIT
// lockstep/mpi/world_plan.hpp -- a graph across ranks on the teams of all ranks, and its runs (layer: mpi)
//
// Each rank splits the graph in the same way, and has an ordinary plan for its own part: its nodes, and nodes that send
// and receive. The ranks first compare their graphs: nodes, names, ranks, edges, sizes of data, hints, pins.
//
//   WPLAN-1  What happens before run() on a rank happens before its nodes, and they before its return, as PLAN-1 says.
//            No rank returns from run() before all nodes of all ranks have ended.
//   WPLAN-2  No graph that is accepted makes ranks wait for each other for ever, for any number of ranks and members
//            (rank_part.hpp has the argument).
//   WPLAN-3  The first exception of a node ends the run on all ranks: run() rethrows it there, and throws rank_failed
//            on the others, with the rank and the node. A rank notices it when it waits for a message, or at a later
//            iteration. request_stop() on any rank ends the run on all: run() returns false. The plan can run again.
//   WPLAN-4  Inside a region of the same team, a rank's part runs on the calling thread alone (PLAN-4).
//
// Making a plan, running and destroying it are collective: all ranks do so, in the same order, by one thread each. The
// plan ends before its world and team, and the graph outlives it.
//
// With MPI at FUNNELED, member 0 sends and receives all messages, and has to be the thread that initialised MPI. At
// SERIALIZED and MULTIPLE any member does. A rank that waits for a message naps after a while
// (src/mpi/polling_nap.hpp): so more ranks than CPUs do not take each other's time.
//
// Order  WPLAN-1; between nodes that of world_graph.hpp.
// Errors ranks with different graphs, a graph that makes no sense, a node that a rank's team has too few members for:
//        on all ranks std::invalid_argument, and the text names rank and node. Ranks that ask for different numbers of
//        iterations, and a graph that was changed since: std::logic_error from run() (RANKS-1). Errors of MPI:
//        std::runtime_error, also in place of what a node has thrown, if the other ranks cannot be told of it. End the
//        program then: they may wait for this rank.
// Cost   an edge between ranks: a message of MPI, and a copy of the bytes at each end. Two ranks of one node, each with
//        a CPU, Open MPI 4.1: to and fro in 1.5 us, where MPI_Send and MPI_Recv take 0.8; a run of that, 3.2 us.
//        Memory: for each edge between ranks two buffers at each end. A run: a meeting of ranks (world.hpp) at its
//        beginning, and one at its end. A turn of a loop with nodes of R ranks: R - 1 messages from the rank of its
//        test, one after the other. Within a rank: plan.hpp; nodes that send or receive count as 1 us, and the plan
//        does not learn. Making it: that of one plan for the whole graph on each rank.
// Example
//   int argc = 0;
//   char** argv = nullptr;
//   lockstep::mpi::world world(argc, argv);
//   lockstep::team team(world.options());
//   int value = 0;
//   lockstep::mpi::world_graph g;
//   auto make = g.node(0, "make", [&] { value = 42; });
//   auto use = g.node(world.size() - 1, "use", [&] { std::printf("%d\n", value); });
//   g.edge(make, use, value);
//   lockstep::mpi::world_plan plan(g, world, team);
//   plan.run(10);
#ifndef LOCKSTEP_MPI_WORLD_PLAN_HPP
#define LOCKSTEP_MPI_WORLD_PLAN_HPP

#include <cstddef>

#include <lockstep/mpi/world.hpp>
#include <lockstep/mpi/world_graph.hpp>
#include <lockstep/plan.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {
class world_plan_body;  // src/mpi/world_plan.cpp
}
}  // namespace detail
namespace mpi {

/// A graph across ranks, and which member of this rank's team runs which of its nodes when.
class world_plan {
 public:
  /// Collective. `on`: this rank's team; ranks may have teams of different sizes.
  world_plan(const world_graph& of, const world& ranks, team& on, call_site where = {});
  ~world_plan();
  world_plan(const world_plan&) = delete;
  world_plan& operator=(const world_plan&) = delete;

  /// Collective, with the same number of iterations on all ranks. WPLAN-1 to WPLAN-3. False if it was stopped.
  bool run(std::size_t iterations = 1);

  /// Ends the run on all ranks: WPLAN-3. Not collective, and any thread may call it, as long as the plan lives.
  void request_stop();

  /// The plan of this rank's part, with the nodes that send and receive: to look at, by text(), report(), dot().
  const plan& part() const noexcept;
  /// Messages that this rank sends or receives in an iteration, each turn of a loop counted once.
  std::size_t messages() const noexcept;

 private:
  detail::owner<detail::mpi::world_plan_body> body_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_WORLD_PLAN_HPP
