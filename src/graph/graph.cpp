// SPDX-License-Identifier: MIT
// src/graph/graph.cpp -- graph.hpp (layer: graph)
#include <algorithm>
#include <utility>

#include <lockstep/buffer.hpp>
#include <lockstep/detail/platform/error.hpp>
#include <lockstep/graph.hpp>
#include "flow_plan.hpp"

namespace lockstep {
inline namespace LOCKSTEP_ABI {

namespace detail {

LOCKSTEP_INLINE void report_overwritten(const void* buffer, std::size_t depth, std::size_t wanted,
                                        std::size_t found, const std::string& joins) noexcept {
  end_program(
      "lockstep::buffer at %p: the value of iteration %zu is wanted, but iteration %zu has "
      "overwritten it: %s%s, the depth is %zu; make it deeper, or add a channel",
      buffer, wanted, found, joins.empty() ? "no channel orders them" : "a channel from ",
      joins.c_str(), depth);
}

LOCKSTEP_INLINE void report_missing(const void* buffer, std::size_t wanted, std::size_t current,
                                    std::size_t found) noexcept {
  const bool has_later = wanted < current && found > current && found != no_iteration;
  if (!has_later) {
    end_program(
        "lockstep::buffer at %p: iteration %zu looks for the value of iteration %zu, which is not "
        "there: put its writer first, by a channel, an edge or feedback",
        buffer, current, wanted);
  }
  end_program(
      "lockstep::buffer at %p: iteration %zu looks for the value of iteration %zu, whose place has "
      "that of iteration %zu: put its writer first, by a channel, an edge or feedback, and give "
      "nodes that run side by side a buffer each",
      buffer, current, wanted, found);
}

}  // namespace detail

LOCKSTEP_INLINE graph_node graph_node::cost(std::chrono::nanoseconds time) const {
  refuse_unless_of_graph("cost");
  of_->changed().nodes[index_].cost = time.count() < 0 ? 0 : static_cast<double>(time.count());
  return *this;
}
LOCKSTEP_INLINE graph_node graph_node::pin(std::size_t rank) const {
  refuse_unless_of_graph("pin");
  detail::checked_range("lockstep::graph_node::pin", "as the rank", rank, 0,
                        detail::max_participants - 1);
  of_->changed().nodes[index_].pin = static_cast<detail::node_index>(rank);
  return *this;
}
LOCKSTEP_INLINE graph_node graph_node::keep_near(const graph_node& other) const {
  refuse_unless_of_graph("keep_near");
  if (other.of_ != of_) {
    detail::fail_argument(
        "lockstep::graph_node::keep_near: the other node belongs to another graph");
  }
  of_->changed().wishes.push_back({index_, other.index_});
  return *this;
}
LOCKSTEP_INLINE const std::string& graph_node::name() const {
  refuse_unless_of_graph("name");
  return of_->model.nodes[index_].name;
}
LOCKSTEP_INLINE void graph_node::refuse_unless_of_graph(const char* function) const {
  if (of_ != nullptr) return;
  detail::fail_argument("lockstep::graph_node::%s: the node belongs to no graph", function);
}

LOCKSTEP_INLINE graph_block::graph_block(const graph_node& only)
    : of_(only.of_), firsts_(1, only.index_), lasts_(1, only.index_) {}

LOCKSTEP_INLINE graph::graph() : body_(new detail::graph_body()) {}
LOCKSTEP_INLINE graph::~graph() = default;
LOCKSTEP_INLINE graph::graph(graph&& other) noexcept = default;
LOCKSTEP_INLINE graph& graph::operator=(graph&& other) noexcept = default;

LOCKSTEP_INLINE detail::graph_body& graph::own() const {
  if (!body_)
    detail::fail_use("lockstep::graph: this graph was moved to another object; use that one");
  return *body_;
}

LOCKSTEP_INLINE graph_node graph::node(std::string name) {
  return add(std::move(name), detail::node_function(), 1, false);
}

LOCKSTEP_INLINE graph_node graph::add(std::string name, detail::node_function f, std::size_t width,
                                      bool is_wide) {
  detail::checked_range("lockstep::graph::node", "as the width", width, 0,
                        detail::max_participants);
  detail::model_node made;
  made.name = std::move(name);
  made.width = static_cast<std::uint32_t>(width);
  made.is_wide = is_wide;
  made.returns_bool = f.returns_bool();
  own().changed().nodes.push_back(std::move(made));
  own().functions.push_back(std::move(f));
  return graph_node(&own(), static_cast<detail::node_index>(own().model.nodes.size() - 1));
}

LOCKSTEP_INLINE void graph::check_own(const char* function, const detail::graph_body* of) const {
  if (of == &own()) return;
  detail::fail_argument(
      "lockstep::graph::%s: the node belongs to %s; give nodes that this graph has made", function,
      of == nullptr ? "no graph" : "another graph");
}

LOCKSTEP_INLINE void graph::check_join(const char* function, const graph_block& from,
                                       const graph_block& to) const {
  check_own(function, from.of_);
  check_own(function, to.of_);
  for (const detail::node_index a : from.lasts_) {
    if (std::find(to.firsts_.begin(), to.firsts_.end(), a) == to.firsts_.end()) continue;
    detail::fail_argument(
        "lockstep::graph::%s: an edge from '%s' to itself; use repeat_while for a loop", function,
        own().model.nodes[a].name.c_str());
  }
}

LOCKSTEP_INLINE void graph::join(const graph_block& from, const graph_block& to,
                                 detail::edge_kind kind) {
  for (const detail::node_index a : from.lasts_) {
    for (const detail::node_index b : to.firsts_) own().changed().edges.push_back({a, b, kind});
  }
}

LOCKSTEP_INLINE graph& graph::edge(const graph_block& from, const graph_block& to) {
  check_join("edge", from, to);
  join(from, to, detail::edge_kind::plain);
  return *this;
}
LOCKSTEP_INLINE graph& graph::edge_if(const graph_node& test, const graph_block& to) {
  check_join("edge_if", test, to);
  join(test, to, detail::edge_kind::if_true);
  return *this;
}
LOCKSTEP_INLINE graph& graph::edge_unless(const graph_node& test, const graph_block& to) {
  check_join("edge_unless", test, to);
  join(test, to, detail::edge_kind::if_false);
  return *this;
}

static constexpr std::size_t most_delay = 1000000;

LOCKSTEP_INLINE std::string graph::join_by_channel(const graph_block& from, const graph_block& to,
                                                   std::size_t depth) {
  check_join("channel", from, to);
  detail::checked_range("lockstep::graph::channel", "places", depth, 1, most_delay);
  if (from.empty() || to.empty())
    detail::fail_argument(
        "lockstep::graph::channel: an empty block; each side has a node at least");
  join(from, to, detail::edge_kind::channel);
  for (const detail::node_index a : to.lasts_) {
    for (const detail::node_index b : from.firsts_) {
      feedback(graph_node(&own(), a), graph_node(&own(), b), depth);
    }
  }
  return detail::quoted(own().model, from.firsts_[0]) + " to " +
         detail::quoted(own().model, to.lasts_[0]);
}
LOCKSTEP_INLINE graph& graph::overlap() {
  own().changed().overlaps = true;
  return *this;
}

LOCKSTEP_INLINE graph& graph::repeat_while(const graph_node& test, const graph_node& first) {
  check_own("repeat_while", test.of_);
  check_own("repeat_while", first.of_);
  own().changed().feedbacks.push_back(
      {test.index_, first.index_, std::uint32_t{detail::model_feedback::while_true}});
  return *this;
}
LOCKSTEP_INLINE graph& graph::feedback(const graph_node& from, const graph_node& to,
                                       std::size_t delay) {
  check_own("feedback", from.of_);
  check_own("feedback", to.of_);
  detail::checked_range("lockstep::graph::feedback", "as the delay", delay, 0, most_delay);
  if (delay == 0) return edge(from, to);
  own().changed().feedbacks.push_back({from.index_, to.index_, static_cast<std::uint32_t>(delay)});
  return *this;
}

LOCKSTEP_INLINE graph_block graph::series(const std::vector<graph_block>& parts) {
  std::vector<const graph_block*> all;
  for (const graph_block& each : parts) {
    if (each.empty()) continue;
    check_own("series", each.of_);
    if (!all.empty()) check_join("series", *all.back(), each);
    all.push_back(&each);
  }
  if (all.empty()) return graph_block();
  for (std::size_t i = 1; i < all.size(); ++i) join(*all[i - 1], *all[i], detail::edge_kind::plain);
  graph_block whole = *all.front();
  whole.lasts_ = all.back()->lasts_;
  return whole;
}

LOCKSTEP_INLINE graph_block graph::parallel(const std::vector<graph_block>& parts) {
  graph_block whole;
  for (const graph_block& each : parts) {
    if (each.empty()) continue;
    check_own("parallel", each.of_);
    whole.of_ = each.of_;
    whole.firsts_.insert(whole.firsts_.end(), each.firsts_.begin(), each.firsts_.end());
    whole.lasts_.insert(whole.lasts_.end(), each.lasts_.begin(), each.lasts_.end());
  }
  return whole;
}

LOCKSTEP_INLINE graph_block graph::loop(const graph_block& body) {
  check_own("loop", body.of_);
  if (body.lasts_.size() != 1) {
    detail::fail_argument(
        "lockstep::graph::loop: the block has no single last node, which says whether it runs "
        "again");
  }
  graph_block whole = body;
  const graph_node last(&own(), body.lasts_[0]);
  graph_node first(&own(), body.firsts_[0]);
  if (body.firsts_.size() > 1) {
    first = node("loop of " + last.name());
    edge(first, body);
    whole.firsts_.assign(1, first.index_);
  }
  repeat_while(last, first);
  return whole;
}

LOCKSTEP_INLINE std::size_t graph::size() const noexcept {
  return body_ ? body_->model.nodes.size() : 0;
}
LOCKSTEP_INLINE std::string graph::dot() const { return detail::dot_of(own().model); }
LOCKSTEP_INLINE std::string graph::validate() const {
  return detail::make_flow(own().model).problem;
}

}  // namespace LOCKSTEP_ABI
}  // namespace lockstep
