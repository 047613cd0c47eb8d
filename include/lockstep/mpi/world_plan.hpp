// SPDX-License-Identifier: MIT
// lockstep/mpi/world_plan.hpp -- a graph across ranks on the teams of all ranks, and its runs (layer: mpi)
//
// Each rank splits the graph in the same way, and has an ordinary plan for its own part: its nodes, and nodes that send
// and receive. The ranks first compare their graphs: nodes, names, ranks, edges, sizes of data, hints, pins.
//
//   WPLAN-1  What happens before run() on a rank happens before its nodes, and they before its return, as PLAN-1 says. No
//            rank returns from run() before all nodes of all ranks have ended.
//   WPLAN-2  No graph that is accepted makes ranks wait for each other for ever, for any number of ranks and members
//            (rank_part.hpp has the argument).
//   WPLAN-3  The first exception of a node ends the run on all ranks: run() rethrows it on that rank, and throws rank_failed on
//            the others, with the rank and the node. A rank notices where it waits for a message; one that has none, at some later iteration.
//            request_stop() on any rank ends the run on all: run() returns false everywhere. The plan can be run again.
//   WPLAN-4  Inside of a region of the same team a rank's part runs on the calling thread alone (PLAN-4).
//
// Making a plan, running and destroying it are collective: all ranks do so, in the same order, by one thread each. The
// plan ends before its world and team, and the graph outlives it.
//
// MPI at THREAD_FUNNELED: all messages are sent and received by member 0, which has to be the thread that initialised
// MPI. At SERIALIZED and MULTIPLE by any member. A rank that waits for a message naps after a while (requests.hpp): so
// more ranks than CPUs do not take each other's time.
//
// Order  WPLAN-1; between nodes that of world_graph.hpp.
// Errors ranks with different graphs, a graph that makes no sense, a node that a rank's team has too few members for: on
//        all ranks std::invalid_argument, and the text names rank and node. Ranks that ask for different numbers of
//        iterations: the same, from run(). Errors of MPI: std::runtime_error.
// Cost   an edge between ranks: a message of MPI, and a copy of the bytes at each end. Two ranks of one node, each with a
//        CPU, Open MPI 4.1: to and fro in 1.5 us, where MPI_Send and MPI_Recv take 0.8; a run of that, 3.2 us. Memory: for
//        each edge between ranks two buffers at each end, and one for each iteration of a delay. A run: one
//        MPI_Iallreduce at its beginning, which nobody waits for, and one at its end. A turn of a loop with nodes of R
//        ranks: R - 1 messages from the rank of its test, one after the other. Within a rank: plan.hpp; nodes that send or
//        receive count as 1 us, and the plan does not learn. Making it: that of one plan for the whole graph on each rank.
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
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <lockstep/detail/mpi/graph_channels.hpp>
#include <lockstep/mpi/world.hpp>
#include <lockstep/mpi/world_graph.hpp>
#include <lockstep/plan.hpp>

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace mpi {

/// A graph across ranks, and which member of this rank's team runs which of its nodes when.
class world_plan {
 public:
  /// Collective. `on`: this rank's team; ranks may have teams of different sizes.
  world_plan(const world_graph& of, const world& ranks, team& on, call_site where = {})
      : ranks_(ranks.comm(), ranks.thread_level(), ranks.policy(on.size())),
        graph_(detail::mpi::world_graph_access::placed(of)) {
    agree(own_problem());
    compare();
    split_ = detail::mpi::split_of(graph_, ranks_.size());
    if (!split_.problem.empty()) refuse(split_.problem);  // the same on all ranks
    detail::mpi::make_room(state_, split_, ranks_.rank(), graph_.nodes->nodes.size());
    functions_.reset(new detail::mpi::rank_functions(
        split_, detail::mpi::world_graph_access::functions(of), state_, late_channels_));
    const detail::node_index at = ranks_.level() == MPI_THREAD_FUNNELED ? 0 : detail::no_node;
    const detail::mpi::rank_part own = detail::mpi::part_of_rank(graph_, split_, ranks_.rank());
    local_graph_ = detail::mpi::graph_of(own, *functions_, at);
    agree(make_local(on, where));
    channels_.reset(new detail::mpi::graph_channels(ranks_, split_, state_));
    channels_->local = local_.get();
    late_channels_.channels = channels_.get();
  }
  ~world_plan() = default;
  world_plan(const world_plan&) = delete;
  world_plan& operator=(const world_plan&) = delete;

  /// So many iterations, the same number on all ranks. Collective. WPLAN-1 to WPLAN-3. False if it was stopped.
  bool run(std::size_t iterations = 1) {
    channels_->begin(iterations);
    bool is_complete = false;
#if LOCKSTEP_HAS_EXCEPTIONS
    std::exception_ptr thrown;
    try {
      is_complete = run_part(iterations);
    } catch (...) {
      thrown = std::current_exception();
    }
    const detail::mpi::run_report report = channels_->end(is_complete, static_cast<bool>(thrown));
    if (thrown) std::rethrow_exception(thrown);
#else
    is_complete = run_part(iterations);
    const detail::mpi::run_report report = channels_->end(is_complete, false);
#endif
    if (report.is_complete()) return true;
    return outcome(report);
  }

  /// Ends the run on all ranks: WPLAN-3. Not collective, and any thread may call it, as long as the plan lives.
  void request_stop() { channels_->request_stop(); }

  /// The plan of this rank's part, with the nodes that send and receive: to look at, by text(), report(), dot().
  const plan& part() const noexcept { return *local_; }
  /// Messages that this rank sends or receives in an iteration, each turn of a loop counted once.
  std::size_t messages() const noexcept {
    std::size_t count = 0;
    for (const detail::mpi::graph_message& each : split_.messages) {
      const bool is_own = each.from_rank == ranks_.rank() || each.to_rank == ranks_.rank();
      count += is_own && !each.is_local() ? 1 : 0;
    }
    return count;
  }

 private:
  /// The channels, which are made last: what they need has to be agreed on before.
  struct late_transport final : detail::mpi::graph_transport {
    bool send(std::size_t message, const void* bytes) override {
      return channels->send(message, bytes);
    }
    bool receive(std::size_t message, void* bytes) override {
      return channels->receive(message, bytes);
    }
    void fail(detail::node_index node) override { channels->fail(node); }
    void look() noexcept override { channels->look(); }

    detail::mpi::graph_channels* channels = nullptr;
  };

  [[noreturn]] void refuse(const std::string& problem) {
    ranks_.free();
    detail::fail_argument(("lockstep::mpi::world_plan: " + problem).c_str());
  }

  /// Fails on all ranks if one has a problem: with that of the lowest.
  void agree(const std::string& problem) {
    std::int64_t first =
        problem.empty() ? std::int64_t{ranks_.size()} : std::int64_t{ranks_.rank()};
    ranks_.combine(&first, 1, MPI_MIN);
    if (first == std::int64_t{ranks_.size()}) return;
    const std::string text = ranks_.broadcast(static_cast<std::uint32_t>(first), problem);
    refuse("on rank " + std::to_string(first) + ": " + text);
  }

  /// What only this rank can see.
  std::string own_problem() const {
    for (const detail::mpi::edge_bytes& each : graph_.data) {
      detail::node_index from = 0, to = 0;
      if (each.is_feedback) {
        from = graph_.nodes->feedbacks[each.index].from;
        to = graph_.nodes->feedbacks[each.index].to;
      } else {
        from = graph_.nodes->edges[each.index].from;
        to = graph_.nodes->edges[each.index].to;
      }
      const bool reads = graph_.rank_of[from] == ranks_.rank(),
                 writes = graph_.rank_of[to] == ranks_.rank();
      const bool is_source_missing = reads && each.source == nullptr && each.bytes > 0,
                 is_target_missing = writes && each.target == nullptr && each.bytes > 0;
      if (!is_source_missing && !is_target_missing) continue;
      return std::string("the edge from ") + detail::quoted(*graph_.nodes, from) + " to " +
             detail::quoted(*graph_.nodes, to) + " carries " + std::to_string(each.bytes) +
             " bytes, and its " + (is_source_missing ? "source" : "target") +
             " is a null pointer there";
    }
    return std::string();
  }

  /// Fails on all ranks unless all have the same graph.
  void compare() {
    const std::vector<std::string> own = detail::mpi::lines_of(graph_);
    const std::uint64_t hash = detail::mpi::hash_of(own);
    std::int64_t halves[4] = {static_cast<std::int64_t>(hash >> 32),
                              static_cast<std::int64_t>(hash & 0xFFFFFFFFu), 0, 0};
    halves[2] = -halves[0];
    halves[3] = -halves[1];
    ranks_.combine(halves, 4, MPI_MIN);
    if (halves[0] == -halves[2] && halves[1] == -halves[3]) return;
    std::string text;
    for (const std::string& each : own) text += each + '\n';
    text = ranks_.broadcast(0, text);
    std::vector<std::string> first;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      first.push_back(text.substr(begin, end - begin));
    }
    const std::string difference = detail::mpi::difference_of(own, ranks_.rank(), first, 0);
    agree(difference.empty() ? difference : "the graph differs from that of rank 0: " + difference);
  }

  /// What was wrong.
  std::string make_local(team& on, call_site where) {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      local_.reset(new plan(local_graph_, on, where));
    } catch (const std::exception& wrong) {
      return wrong.what();
    }
#else
    local_.reset(new plan(local_graph_, on, where));
#endif
    return std::string();
  }

  /// A rank without nodes is ready at once.
  bool run_part(std::size_t iterations) {
    return local_graph_.size() == 0 || local_->run(iterations);
  }

  /// What run() returns or throws where another rank ended it.
  bool outcome(const detail::mpi::run_report& report) const {
    const std::string begin = "lockstep::mpi::world_plan::run: ";
    if (report.iterations != -report.minus_iterations) {
      detail::fail_argument((begin + "one rank was asked for " + std::to_string(report.iterations) +
                             " iterations, another for " + std::to_string(-report.minus_iterations))
                                .c_str());
    }
    if (report.failed == detail::mpi::run_report::none) return false;
    const std::int64_t nodes = static_cast<std::int64_t>(graph_.nodes->nodes.size()) + 1;
    const std::int64_t rank = report.failed / nodes, node = report.failed % nodes;
    std::string text = begin + "an exception ended the run on rank " + std::to_string(rank);
    if (node + 1 < nodes) {
      text +=
          ", in the node " + detail::quoted(*graph_.nodes, static_cast<detail::node_index>(node));
    }
#if LOCKSTEP_HAS_EXCEPTIONS
    throw rank_failed(text.c_str(), static_cast<std::size_t>(rank));
#else
    detail::print_and_abort(text.c_str());
#endif
  }

  detail::mpi::graph_ranks ranks_;
  const detail::mpi::placed_graph graph_;
  detail::mpi::graph_split split_;
  detail::mpi::part_state state_;
  late_transport late_channels_;
  std::unique_ptr<detail::mpi::rank_functions> functions_;
  graph local_graph_;
  std::unique_ptr<plan> local_;
  std::unique_ptr<detail::mpi::graph_channels> channels_;
};

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_MPI_WORLD_PLAN_HPP
