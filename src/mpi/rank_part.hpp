// SPDX-License-Identifier: MIT
// src/mpi/rank_part.hpp -- a rank's part of a graph across ranks, as an ordinary graph, and what its nodes do (layer: mpi)
//
// The part has the rank's nodes, a node for each message that it sends or receives, and edges that keep these in
// order. A node that receives blocks a member. A node that sends blocks while the last `slots` messages of its edge
// have not been received. So the order of messages decides whether ranks wait for each other for ever.
//
// The order of graph_messages.hpp, with iterations and turns of loops, orders all runs of all nodes on all ranks. In it
// a node waits for earlier ones only. "Lower" means earlier in it. By ordinary edges, a part's plan keeps two rules:
//   SPLIT-1  In one turn of a block, every receive comes after all lower sends of its rank.
//   SPLIT-2  A shared loop comes after all lower messages of the block around it, and before the higher ones.
//
// No deadlock. Let c be the earliest iteration that some rank has not ended, and S its lowest send that is not done.
//   1. No send of iteration c that is in no loop is blocked, since the message `slots` before it was received in an
//      earlier iteration. A send in turn t of a loop may wait for a receive of turn t - slots of that loop, which is
//      lower than S, or its own send would be unfinished.
//   2. Neither the rank of S, nor that of such a receive, has a member in a blocked receive. A blocked receive waits
//      for a send that is not done, so for S or a higher one. By SPLIT-1 and SPLIT-2 it begins only after S, and after
//      the earlier turn. The same holds for sends of later turns (the plan's GRAPH-5) and iterations (GRAPH-3).
//   3. So a plan whose nodes all return goes on to S or that receive, and it is done. When no send of iteration c is
//      left, no receive of c blocks. A rank does not begin receives of later iterations before those of c are done.
// Nothing in this depends on the number of members, nor on which member takes over what.
//
// All that is pure. graph_transport carries the messages: it is MPI, or what a test puts there. When a run has ended
// early, on this rank or another, nodes that have not begun call nothing: no value is used that was not received.
//
// Memory order (# marks the line)
//   #  access           order    pairs  why it suffices
//   1  ended.store      release  2      a thread that finds it sees what was written before, such as the error
//   2  ended.load       acquire  1      the other half
#ifndef LOCKSTEP_SRC_MPI_RANK_PART_HPP
#define LOCKSTEP_SRC_MPI_RANK_PART_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/detail/platform/atomic.hpp>
#include <lockstep/graph.hpp>
#include <lockstep/member.hpp>
#include <lockstep/region_stopped.hpp>
#include "graph_messages.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {
namespace detail {
namespace mpi {

/// The cost of a node that sends or receives, in nanoseconds. Because it is given, the plan does not learn it: it would
/// take a member that waits for another rank for one that works.
constexpr double message_cost = 1000;

/// What a node of a part does.
enum class part_role : std::uint8_t {
  user,     ///< calls the user's function
  nothing,  ///< where paths meet
  send,
  receive,
  copy,    ///< of a message between two nodes of this rank
  repeat,  ///< says what the user's node has said, once the other ranks of its loop are told
  watch,   ///< looks whether the run has ended, if no message would show that
};

/// Whether it calls the transport.
inline bool is_message(part_role role) noexcept {
  return role == part_role::send || role == part_role::receive || role == part_role::watch;
}

struct part_node {
  part_role role;
  std::uint32_t number;  ///< the user's node, or the message
};

struct rank_part {
  graph_model model;
  std::vector<part_node> nodes;  ///< one for each of the model
};

class rank_splitter {
 public:
  rank_splitter(const placed_graph& of, const graph_split& plan, std::uint32_t rank)
      : of_(of),
        from_(*of.nodes),
        plan_(plan),
        rank_(rank),
        own_(from_.nodes.size(), no_node),
        sends_of_(item_count()),
        receives_of_(item_count()),
        decision_of_(plan.checked.blocks.size()),
        loops_from_(from_.nodes.size()) {}

  rank_part make() {
    collect();
    frames_.push_back(frame());
    for (const node_index node : plan_.line) {
      for (const std::uint32_t loop : loops_from_[node]) begin_item(loop);
      add_receives(node);
      if (of_.rank_of[node] == rank_) own_[node] = add_user(node);
      add_sends(node);
      const std::uint32_t ends = plan_.checked.loop_from[node];
      if (ends != 0) end_item(ends);
    }
    add_user_edges();
    if (!has_messages_ && !made_.nodes.empty()) {
      add(part_role::watch, 0, "look whether another rank has ended the run", 0);
    }
    return std::move(made_);
  }

 private:
  /// For block 0 or a shared loop, while the line is in it.
  struct frame {
    node_index begin = no_node;  ///< of the loop
    node_index base = no_node;   ///< the loop's beginning, or the end of the last shared loop in it
    node_index gate = no_node;   ///< it comes after all sends that a receive must follow
    std::vector<node_index> sends;  ///< since the gate
    std::vector<node_index> since_base;
  };

  std::size_t item_count() const { return from_.nodes.size() + plan_.checked.blocks.size(); }
  std::uint32_t item_of(std::uint32_t loop) const {
    return static_cast<std::uint32_t>(from_.nodes.size()) + loop;
  }

  void collect() {
    for (std::uint32_t m = 0; m < plan_.messages.size(); ++m) {
      const graph_message& each = plan_.messages[m];
      if (each.from_rank == rank_) sends_of_[each.from_item].push_back(m);
      if (each.to_rank != rank_) continue;
      if (each.is_decision()) {
        decision_of_[each.block] = m;
      } else {
        receives_of_[each.to_item].push_back(m);
      }
    }
    // If several loops begin with the same node, the outer one comes first: it has the lower number.
    for (std::uint32_t b = 1; b < plan_.checked.blocks.size(); ++b) {
      loops_from_[plan_.checked.blocks[b].to].push_back(b);
    }
  }

  // --- nodes and edges of the part ---

  node_index add(part_role role, std::uint32_t number, std::string name, double cost) {
    model_node made;
    made.name = std::move(name);
    made.cost = cost;
    made.returns_bool = role != part_role::nothing;
    made_.model.nodes.push_back(std::move(made));
    made_.nodes.push_back({role, number});
    return static_cast<node_index>(made_.nodes.size() - 1);
  }
  node_index add_nothing(const std::string& name) { return add(part_role::nothing, 0, name, 0); }
  node_index add_user(node_index node) {
    const node_index made = add(part_role::user, node, from_.nodes[node].name, -1);
    made_.model.nodes[made] = from_.nodes[node];
    made_.model.nodes[made].returns_bool = true;  // as run_user() does for every function
    return made;
  }
  node_index add_message(part_role role, std::uint32_t message, const char* what) {
    const graph_message& of = plan_.messages[message];
    has_messages_ = has_messages_ || !of.is_local();
    return add(role, message,
               std::string(what) + " " + std::to_string(message) + ", from " +
                   quoted(from_, of.from) + " to " + quoted(from_, of.to),
               message_cost);
  }
  void join(node_index from, node_index to, edge_kind kind = edge_kind::plain) {
    if (from != no_node && to != no_node) made_.model.edges.push_back({from, to, kind});
  }
  void repeat(node_index test, node_index first) {
    made_.model.feedbacks.push_back({test, first, std::uint32_t{model_feedback::while_true}});
  }

  // --- messages ---

  void add_receives(std::uint32_t item) {
    for (const std::uint32_t m : receives_of_[item]) {
      const graph_message& each = plan_.messages[m];
      if (each.is_local()) continue;
      const node_index made = add_message(part_role::receive, m, "receive");
      enter_order(made, false);
      wanted_.push_back({made, each.to, each.edge});
    }
  }
  void add_sends(std::uint32_t item) {
    for (const std::uint32_t m : sends_of_[item]) {
      const graph_message& each = plan_.messages[m];
      if (each.is_local()) {
        copy(m);
        continue;
      }
      const node_index made = add_message(part_role::send, m, "send");
      enter_order(made, true);
      join(own_[each.from], made);
    }
  }

  /// A message between two nodes of this rank. It blocks no member.
  void copy(std::uint32_t m) {
    const graph_message& each = plan_.messages[m];
    const node_index made = add_message(part_role::copy, m, "copy");
    join(own_[each.from], made);
    wanted_.push_back({made, each.to, each.edge});
  }
  /// SPLIT-1. A send or receive takes its place in the innermost shared loop that the line is in.
  void enter_order(node_index made, bool is_send) {
    frame& in = frames_.back();
    join(in.base, made);
    if (!is_send) {
      close_gate(in);
      join(in.gate, made);
    }
    if (is_send) in.sends.push_back(made);
    in.since_base.push_back(made);
  }
  void close_gate(frame& in) {
    if (in.sends.empty()) return;
    node_index gate = in.sends[0];
    if (in.gate != no_node || in.sends.size() > 1) {
      gate = add_nothing("all sent, " + std::to_string(made_.nodes.size()));
      join(in.gate, gate);
      for (const node_index each : in.sends) join(each, gate);
    }
    in.gate = gate;
    in.sends.clear();
  }

  // --- shared loops ---

  bool has_shared(std::uint32_t loop) const {
    return plan_.is_shared(loop) && plan_.has_part(loop, rank_);
  }
  std::string loop_name(std::uint32_t loop) const {
    const flow_block& of = plan_.checked.blocks[loop];
    return "the loop from " + quoted(from_, of.to) + " to " + quoted(from_, of.from);
  }

  void begin_item(std::uint32_t loop) {
    add_receives(item_of(loop));
    if (!has_shared(loop)) return;
    frame inner;
    inner.begin = inner.base = add_nothing("begin " + loop_name(loop));
    const frame& outer = frames_.back();
    join(outer.base, inner.base);
    for (const node_index each : outer.since_base) join(each, inner.base);  // SPLIT-2
    const node_index first = plan_.checked.blocks[loop].to;
    if (of_.rank_of[first] == rank_) begins_.push_back({inner.base, first});
    frames_.push_back(std::move(inner));
  }
  void end_item(std::uint32_t loop) {
    if (has_shared(loop)) {
      const frame inner = frames_.back();
      frames_.pop_back();
      const node_index test = plan_.checked.blocks[loop].from;
      const bool decides = of_.rank_of[test] == rank_;
      const node_index last = decides
                                  ? add(part_role::repeat, test, "the end of " + loop_name(loop), 0)
                                  : add_message(part_role::receive, decision_of_[loop], "receive");
      join(inner.base, last);
      for (const node_index each : inner.since_base) join(each, last);
      if (decides) join(own_[test], last);
      repeat(last, inner.begin);
      frame& outer = frames_.back();
      outer.base = last;
      outer.gate = no_node;
      outer.sends.clear();
      outer.since_base.clear();
    }
    add_sends(item_of(loop));
  }

  // --- the user's ---

  void add_user_edges() {
    for (const std::pair<node_index, node_index>& each : begins_)
      join(each.first, own_[each.second]);
    for (const wanted_edge& each : wanted_) join(each.from, own_[each.to], each.kind);
    const auto is_here = [this](node_index a, node_index b) {
      return own_[a] != no_node && own_[b] != no_node;
    };
    for (const model_edge& each : from_.edges) {
      if (is_here(each.from, each.to)) join(own_[each.from], own_[each.to], each.kind);
    }
    for (const model_feedback& each : from_.feedbacks) {
      if (!is_here(each.from, each.to)) continue;
      if (!plan_.is_shared(plan_.checked.loop_from[each.from])) {
        repeat(own_[each.from], own_[each.to]);
      }
    }
    for (const model_wish& each : from_.wishes) {
      if (is_here(each.node, each.other)) {
        made_.model.wishes.push_back({own_[each.node], own_[each.other]});
      }
    }
  }

  struct wanted_edge {
    node_index from;  ///< of the part
    node_index to;    ///< of the user
    edge_kind kind;
  };

  const placed_graph& of_;
  const graph_model& from_;
  const graph_split& plan_;
  const std::uint32_t rank_;
  rank_part made_;
  bool has_messages_ = false;
  std::vector<node_index> own_;  ///< of each of the user's nodes: that of the part
  std::vector<std::vector<std::uint32_t>> sends_of_, receives_of_;  ///< of each item
  std::vector<std::uint32_t> decision_of_;  ///< of each loop with a test elsewhere: the message
  std::vector<std::vector<std::uint32_t>> loops_from_;  ///< of each node: loops that begin with it
  std::vector<frame> frames_;
  std::vector<std::pair<node_index, node_index>> begins_;
  std::vector<wanted_edge> wanted_;
};

inline rank_part part_of_rank(const placed_graph& of, const graph_split& plan, std::uint32_t rank) {
  return rank_splitter(of, plan, rank).make();
}

/// Carries the messages of one rank. Several threads may use different messages at once, but not the same one.
class graph_transport {
 public:
  virtual ~graph_transport() = default;

  /// `bytes`: as many as the message has; they may change afterwards. False if the run has ended early.
  virtual bool send(std::size_t message, const void* bytes) = 0;
  virtual bool receive(std::size_t message, void* bytes) = 0;
  /// The user's node `node` has thrown on this rank. Ends the run on all ranks.
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

/// What the nodes of a part do when they are called.
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
      case part_role::receive: return receive(what.number);
      case part_role::copy: return copy(plan_.messages[what.number]);
      case part_role::repeat: return state_.answers[what.number] != 0;
      default: return watch(iteration);
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
    return transport_.send(number, what.is_answer() ? &state_.answers[what.from] : what.source);
  }
  bool receive(std::size_t number) const {
    const graph_message& what = plan_.messages[number];
    if (!what.is_answer()) return transport_.receive(number, what.target);
    char answer = 0;
    return transport_.receive(number, &answer) && answer != 0;
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
  using detail::alone_on_node;
  using detail::together_on_node;
  if (what.role == part_role::nothing) return node_function();
  if (what.role != part_role::user) {
    return node_function::of<alone_on_node>(
        [&run, what](std::size_t iteration) { return run.run(what, iteration); });
  }
  if (!is_wide) {
    return node_function::of<alone_on_node>([&run, what](std::size_t iteration) {
      return run.run_user(what.number, iteration, nullptr);
    });
  }
  return node_function::of<together_on_node>([&run, what](member& me, std::size_t iteration) {
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

#endif  // LOCKSTEP_SRC_MPI_RANK_PART_HPP
