// SPDX-License-Identifier: MIT
// src/mpi/rank_graph.hpp -- a rank's part as a graph of the functions that it runs (layer: mpi)
//
// graph_transport carries the messages: it is MPI, or what a test puts there. When a run has ended early, on this rank
// or another, nodes that have not begun call nothing: no value is used that was not received.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  ended.store      release  2      a thread that finds it sees what was written before, such as the error
//   2  ended.load       acquire  1      the other half
#ifndef LOCKSTEP_SRC_MPI_RANK_GRAPH_HPP
#define LOCKSTEP_SRC_MPI_RANK_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/member.hpp>
#include <lockstep/region_stopped.hpp>
#include "rank_part.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// Carries the messages of one rank. Several threads may use different messages at once, but not the same one.
class graph_transport {
 public:
  virtual ~graph_transport() = default;

  /// `bytes`: as many as the message has; they may change afterwards. False if the run has ended early.
  virtual bool send(std::size_t message, const void* bytes) = 0;
  virtual bool receive(std::size_t message, void* bytes) = 0;
  /// The user's node `node` has thrown on this rank: ends the run on all ranks.
  virtual void fail(node_index node) = 0;
  /// Looks whether another rank has ended the run.
  virtual void look() noexcept = 0;
};

/// What the nodes of a rank share.
struct part_state {
  detail::atomic<std::uint32_t> ended{0};
  std::vector<char> answers;  ///< of each of the user's nodes: what it has returned last

  bool has_ended() const noexcept {
    return ended.load(memory_order_acquire) != 0;  // 2
  }
  void end() noexcept { ended.store(1, memory_order_release); }    // 1
  void begin() noexcept { ended.store(0, memory_order_release); }  // 1
};

/// The functions of a part's nodes.
class rank_functions {
 public:
  /// All of them outlive the graph.
  rank_functions(const graph_split& plan, const std::vector<node_function>& functions,
                 part_state& state, graph_transport& transport)
      : plan_(plan), functions_(functions), state_(state), transport_(transport) {}

  bool run_user(node_index node, std::size_t iteration, member* me) const {
    if (state_.has_ended()) return false;
    const node_function& f = functions_[node];
    const bool said = f ? call(node, iteration, me) : true;
    if (me == nullptr || me->rank() == 0) state_.answers[node] = said ? 1 : 0;
    return said;
  }

  bool run(const part_node& what, std::size_t iteration) const {
    if (state_.has_ended()) return false;
    switch (what.role) {
      case part_role::send: return send(what.number);
      case part_role::receive:
      case part_role::learn: return receive(what.number);
      case part_role::copy: return copy(plan_.messages[what.number]);
      case part_role::tell: return tell(what.number);
      case part_role::watch: return watch(iteration);
      default: return true;
    }
  }

 private:
  bool call(node_index node, std::size_t iteration, member* me) const {
#if LOCKSTEP_HAS_EXCEPTIONS
    try {
      return functions_[node](iteration, me);
    } catch (const region_stopped&) {
      throw;  // of a team-wide node: the run has ended
    } catch (...) {
      transport_.fail(node);
      throw;
    }
#else
    return functions_[node](iteration, me);
#endif
  }

  bool send(std::size_t number) const {
    const graph_message& what = plan_.messages[number];
    const void* const bytes =
        what.kind == message_kind::bytes ? what.source : &state_.answers[what.from];
    return transport_.send(number, bytes);
  }
  bool receive(std::size_t number) const {
    const graph_message& what = plan_.messages[number];
    if (what.kind == message_kind::bytes) return transport_.receive(number, what.target);
    char answer = 0;
    return transport_.receive(number, &answer) && answer != 0;
  }
  bool tell(std::uint32_t loop) const {
    const node_index test = plan_.checked.blocks[loop].from;
    for (std::size_t m = 0; m < plan_.messages.size(); ++m) {
      const graph_message& each = plan_.messages[m];
      if (each.kind != message_kind::decision || each.block != loop) continue;
      if (!transport_.send(m, &state_.answers[test])) return false;
    }
    return state_.answers[test] != 0;
  }
  bool watch(std::size_t iteration) const {
    constexpr std::size_t often = 16;
    if (iteration % often == 0) transport_.look();
    return true;
  }
  static bool copy(const graph_message& what) {
    if (what.bytes > 0) std::memmove(what.target, what.source, what.bytes);
    return true;
  }
  const graph_split& plan_;
  const std::vector<node_function>& functions_;
  part_state& state_;
  graph_transport& transport_;
};

inline node_function function_of(part_node what, bool is_wide, const rank_functions& run) {
  using counted = std::integral_constant<int, 1>;
  using wide_counted = std::integral_constant<int, 3>;
  if (what.role == part_role::nothing) return node_function();
  if (what.role != part_role::user) {
    return node_function::of<counted>(
        [&run, what](std::size_t iteration) { return run.run(what, iteration); });
  }
  if (!is_wide) {
    return node_function::of<counted>([&run, what](std::size_t iteration) {
      return run.run_user(what.number, iteration, nullptr);
    });
  }
  return node_function::of<wide_counted>([&run, what](member& me, std::size_t iteration) {
    return run.run_user(what.number, iteration, &me);
  });
}

/// The part as a graph. `run` outlives it. `member_for_messages`: all sends and receives are pinned to it; or no_node.
inline graph graph_of(rank_part part, const rank_functions& run, node_index member_for_messages) {
  graph made;
  graph_body& body = graph_access::body_of(made);
  body.model = std::move(part.model);
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    model_node& node = body.model.nodes[i];
    if (is_message(part.nodes[i].role) && member_for_messages != no_node) {
      node.pin = member_for_messages;
    }
    body.functions.push_back(function_of(part.nodes[i], node.is_wide, run));
  }
  return made;
}

}  // namespace mpi
}  // namespace detail
}  // namespace LOCKSTEP_ABI
}  // namespace lockstep

#endif  // LOCKSTEP_SRC_MPI_RANK_GRAPH_HPP
