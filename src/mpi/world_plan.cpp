// SPDX-License-Identifier: MIT
// src/mpi/world_plan.cpp -- mpi/world_plan.hpp (layer: mpi)
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <lockstep/mpi/world_plan.hpp>

#include "graph_channels.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// A graph across ranks, and which member of this rank's team runs which of its nodes when.
class world_plan_body {
 public:
  world_plan_body(const lockstep::mpi::world_graph& of, const lockstep::mpi::world& ranks, team& on,
                  call_site where)
      : ranks_(ranks.comm(), ranks.thread_level(), ranks.policy(on.size())),
        graph_(world_graph_access::placed(of)) {
    agree(own_problem());
    compare();
    split_ = split_of(graph_, ranks_.size());
    if (!split_.problem.empty()) refuse(split_.problem);  // the same on all ranks
    make_room(state_, split_, ranks_.rank(), graph_.nodes->nodes.size());
    functions_.reset(
        new rank_functions(split_, world_graph_access::functions(of), state_, late_channels_));
    const node_index at = ranks_.level() == MPI_THREAD_FUNNELED ? 0 : no_node;
    const rank_part own = part_of_rank(graph_, split_, ranks_.rank());
    local_graph_ = graph_of(own, *functions_, at);
    agree(make_local(on, where));
    channels_.reset(new graph_channels(ranks_, split_, state_));
    channels_->local = local_.get();
    late_channels_.channels = channels_.get();
  }

  bool run(std::size_t iterations) {
    channels_->begin(iterations);
    bool is_complete = false;
#if LOCKSTEP_HAS_EXCEPTIONS
    std::exception_ptr thrown;
    try {
      is_complete = run_part(iterations);
    } catch (...) {
      thrown = std::current_exception();
    }
    const run_report report = channels_->end(is_complete, static_cast<bool>(thrown));
    if (thrown) std::rethrow_exception(thrown);
#else
    is_complete = run_part(iterations);
    const run_report report = channels_->end(is_complete, false);
#endif
    if (report.is_complete()) return true;
    return outcome(report);
  }

  void request_stop() { channels_->request_stop(); }

  const plan& part() const noexcept { return *local_; }
  std::size_t messages() const noexcept {
    std::size_t count = 0;
    for (const graph_message& each : split_.messages) {
      const bool is_own = each.from_rank == ranks_.rank() || each.to_rank == ranks_.rank();
      count += is_own && !each.is_local() ? 1 : 0;
    }
    return count;
  }

 private:
  /// The channels, which are made last: what they need has to be agreed on before.
  struct late_transport final : graph_transport {
    bool send(std::size_t message, const void* bytes) override {
      return channels->send(message, bytes);
    }
    bool receive(std::size_t message, void* bytes) override {
      return channels->receive(message, bytes);
    }
    void fail(node_index node) override { channels->fail(node); }
    void look() noexcept override { channels->look(); }

    graph_channels* channels = nullptr;
  };

  [[noreturn]] void refuse(const std::string& problem) {
    ranks_.free();
    fail_argument(("lockstep::mpi::world_plan: " + problem).c_str());
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
    for (const edge_bytes& each : graph_.data) {
      node_index from = 0, to = 0;
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
      return std::string("the edge from ") + quoted(*graph_.nodes, from) + " to " +
             quoted(*graph_.nodes, to) + " carries " + std::to_string(each.bytes) +
             " bytes, and its " + (is_source_missing ? "source" : "target") +
             " is a null pointer there";
    }
    return std::string();
  }

  /// Fails on all ranks unless all have the same graph.
  void compare() {
    const std::vector<std::string> own = lines_of(graph_);
    const std::uint64_t hash = hash_of(own);
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
    const std::string difference = difference_of(own, ranks_.rank(), first, 0);
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
  bool outcome(const run_report& report) const {
    const std::string begin = "lockstep::mpi::world_plan::run: ";
    if (report.iterations != -report.minus_iterations) {
      fail_argument((begin + "one rank was asked for " + std::to_string(report.iterations) +
                     " iterations, another for " + std::to_string(-report.minus_iterations))
                        .c_str());
    }
    if (report.failed == run_report::none) return false;
    const std::int64_t nodes = static_cast<std::int64_t>(graph_.nodes->nodes.size()) + 1;
    const std::int64_t rank = report.failed / nodes, node = report.failed % nodes;
    std::string text = begin + "an exception ended the run on rank " + std::to_string(rank);
    if (node + 1 < nodes) {
      text += ", in the node " + quoted(*graph_.nodes, static_cast<node_index>(node));
    }
#if LOCKSTEP_HAS_EXCEPTIONS
    throw lockstep::mpi::rank_failed(text.c_str(), static_cast<std::size_t>(rank));
#else
    print_and_abort(text.c_str());
#endif
  }

  graph_ranks ranks_;
  const placed_graph graph_;
  graph_split split_;
  part_state state_;
  late_transport late_channels_;
  std::unique_ptr<rank_functions> functions_;
  graph local_graph_;
  std::unique_ptr<plan> local_;
  std::unique_ptr<graph_channels> channels_;
};

}  // namespace mpi
}  // namespace detail

namespace mpi {

LOCKSTEP_INLINE world_plan::world_plan(const world_graph& of, const world& ranks, team& on,
                                       call_site where)
    : body_(new detail::mpi::world_plan_body(of, ranks, on, where)) {}
LOCKSTEP_INLINE world_plan::~world_plan() = default;
LOCKSTEP_INLINE bool world_plan::run(std::size_t iterations) { return body_->run(iterations); }
LOCKSTEP_INLINE void world_plan::request_stop() { body_->request_stop(); }
LOCKSTEP_INLINE const plan& world_plan::part() const noexcept { return body_->part(); }
LOCKSTEP_INLINE std::size_t world_plan::messages() const noexcept { return body_->messages(); }

}  // namespace mpi
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
