// SPDX-License-Identifier: MIT
// lockstep/mpi/world_graph.hpp -- a graph whose nodes are on the ranks of a world (layer: mpi)
//
// Every rank builds the same graph, with all nodes and edges. Each node says on which rank it runs. Its function uses
// the variables of that rank. An edge between ranks is a message. It carries the bytes that the edge was given, or
// none. A world_plan (world_plan.hpp) gives it persistent requests and buffers.
//
//   WGRAPH-1  GRAPH-1, GRAPH-2, GRAPH-5 and GRAPH-6 of graph.hpp hold for all nodes of all ranks. So loops may have
//             nodes of several ranks: the rank of the test decides, and all ranks run the same number of turns.
//   WGRAPH-2  GRAPH-3 holds on each rank: its iterations do not overlap. Between ranks only edges order iterations: a
//             rank may be two messages ahead of the ranks that receive from it. A value for the next iteration goes by
//             an edge to an empty node: nothing else of this iteration waits for that.
//   WGRAPH-3  The bytes of an edge are read on the rank of `from` when that node has returned, and written on the rank
//             of `to` before that node begins. No node may write the source until `from` runs again. `to`, and nodes
//             that come after it, may read the target.
//   WGRAPH-4  An edge with data inside one rank copies them, unless source and target are the same. So nodes may be
//             moved from rank to rank freely.
//
// Results are those of the same graph in one process, for any number of ranks and members, if the nodes are
// deterministic and get what they need by edges.
//
// A node that another rank waits for must not be skipped (GRAPH-6): a plan refuses the graph, and names the nodes.
//
// Order  WGRAPH-1 to WGRAPH-3. An edge between ranks orders memory as MPI does: what `from` wrote is seen where its
//        bytes arrive.
// Errors as graph.hpp. Data for an edge that is given twice, or a null pointer where this rank reads or writes:
//        std::invalid_argument, when a plan is made.
// Cost   as graph.hpp; each rank keeps the functions of all nodes.
// Example
//   double half = 0, whole = 0;
//   lockstep::mpi::world_graph g;
//   auto work = g.node(1, "work", [&] { half = 21; });         // on rank 1
//   auto gather = g.node(0, "gather", [&] { whole = 2 * half; });  // on rank 0
//   g.edge(work, gather, half);  // the same variable on both ranks
#ifndef LOCKSTEP_MPI_WORLD_GRAPH_HPP
#define LOCKSTEP_MPI_WORLD_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/graph.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {
namespace mpi {

struct world_graph_access;

/// What travels along an edge. An address counts only on the rank that reads or writes there.
struct edge_bytes {
  std::size_t edge;  ///< of the model
  const void* source;
  void* target;
  std::size_t bytes;
};

}  // namespace mpi
}  // namespace detail

namespace mpi {

/// Nodes on ranks, edges between them, and loops. Handles are those of an ordinary graph: cost() and pin() count
/// on the node's own rank, keep_near() between nodes of one rank.
class world_graph : private graph {
 public:
  /// The width of a team-wide node that all members of its rank's team run.
  using graph::whole_team;

  // --- nodes ---

  /// As graph::node, on that rank. A rank that the world does not have is refused when a plan is made.
  template <class Function>
  graph_node node(std::size_t rank, std::string name, Function&& f) {
    return added(graph::node(std::move(name), std::forward<Function>(f)), rank);
  }
  graph_node node(std::size_t rank, std::string name) {
    return added(graph::node(std::move(name)), rank);
  }
  /// A team-wide node: `width` members of the rank's team.
  template <class Function>
  graph_node node(std::size_t rank, std::string name, std::size_t width, Function&& f) {
    return added(graph::node(std::move(name), width, std::forward<Function>(f)), rank);
  }

  // --- edges ---

  /// As graph::edge. Between ranks: an empty message.
  world_graph& edge(const graph_block& from, const graph_block& to) {
    graph::edge(from, to);
    return *this;
  }
  /// The edge carries `count` values from `source`, on the rank of `from`, to `target`, on the rank of `to`: WGRAPH-3.
  /// Other ranks do not look at the pointers. Values are copied as bytes, so all ranks need the same kind of machine.
  template <class Type>
  world_graph& edge(const graph_node& from, const graph_node& to, const Type* source, Type* target,
                    std::size_t count) {
    static_assert(
        std::is_trivially_copyable<Type>::value,
        "lockstep::mpi::world_graph: data of an edge are copied as bytes: their type must "
        "be trivially copyable");
    graph::edge(from, to);
    carry(source, target, sizeof(Type), count);
    return *this;
  }
  /// It carries the value of a variable, or array, that both ranks have.
  template <class Type>
  world_graph& edge(const graph_node& from, const graph_node& to, Type& value) {
    return edge(from, to, &value, &value, 1);
  }

  /// As graph::edge_if and graph::edge_unless; between ranks what `test` has returned travels along. `test` must not be
  /// skipped itself then.
  world_graph& edge_if(const graph_node& test, const graph_block& to) {
    graph::edge_if(test, to);
    return *this;
  }
  world_graph& edge_unless(const graph_node& test, const graph_block& to) {
    graph::edge_unless(test, to);
    return *this;
  }

  /// As graph::repeat_while. Where the loop has nodes of several ranks, the rank of `test` tells the others, by a
  /// message to each in each turn. Neither `test` nor `first` may be skipped then.
  world_graph& repeat_while(const graph_node& test, const graph_node& first) {
    graph::repeat_while(test, first);
    return *this;
  }

  // --- blocks ---

  /// As those of graph. An empty node that loop() adds is on the rank of the block's last node.
  using graph::parallel;
  using graph::series;
  graph_block loop(const graph_block& body);

  // --- looks ---

  using graph::size;
  /// The rank of a node of this graph.
  std::size_t rank_of(const graph_node& node) const { return rank_of_[node.number()]; }
  /// What depends on the number of ranks is found when a plan is made.
  using graph::validate;
  /// For Graphviz, without ranks.
  using graph::dot;

 private:
  friend struct detail::mpi::world_graph_access;

  graph_node added(const graph_node& made, std::size_t rank) {
    constexpr std::uint32_t most = ~std::uint32_t{0};
    rank_of_.push_back(rank < most ? static_cast<std::uint32_t>(rank) : std::uint32_t{most});
    return made;
  }
  /// The edge that was added last carries `count` values of `each` bytes.
  void carry(const void* source, void* target, std::size_t each, std::size_t count);

  std::vector<std::uint32_t> rank_of_;
  std::vector<detail::mpi::edge_bytes> data_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_WORLD_GRAPH_HPP
