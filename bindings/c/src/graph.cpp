// SPDX-License-Identifier: MIT
// bindings/c/src/graph.cpp -- graphs and plans
#include <cstdio>

#include "support.hpp"

using namespace lockstep_c;

struct lockstep_plan {
  lockstep_plan(const lockstep_graph& graph, lockstep_team& team, std::size_t members)
      : of(graph), on(team), at(graph.at, team.at, members, nowhere()) {
    of.plans.fetch_add(1, std::memory_order_relaxed);
    on.plans.fetch_add(1, std::memory_order_relaxed);
  }
  ~lockstep_plan() {
    // Once a thread sees no plan, it may destroy graph and team.
    of.plans.fetch_sub(1, std::memory_order_release);
    on.plans.fetch_sub(1, std::memory_order_release);
  }

  const lockstep_graph& of;
  lockstep_team& on;
  lockstep::plan at;
  std::atomic<bool> is_used{false};
};

namespace {

int fail_used(const char* function) noexcept {
  return fail(LOCKSTEP_ERROR_USE, function,
              "the plan runs, or another thread uses it: one thread at a time, and not a node");
}

/// Gives the plan to the calling thread as long as this lives, unless another thread has it.
class use {
 public:
  explicit use(lockstep_plan* of) noexcept
      : of_(of), has_it_(!of->is_used.exchange(true, std::memory_order_acquire)) {}
  ~use() {
    if (has_it_) of_->is_used.store(false, std::memory_order_release);
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;
  explicit operator bool() const noexcept { return has_it_; }

 private:
  lockstep_plan* const of_;
  const bool has_it_;
};

/// As result_of, for functions of a plan that one thread at a time may call.
template <class Body>
int result_of_use(const char* function, lockstep_plan* plan, const Body& body) {
  const use here(plan);
  return here ? result_of(function, body) : fail_used(function);
}

int fail_node(const char* function, const lockstep_graph& graph, const char* what,
              std::size_t number) noexcept {
  char text[160];
  if (graph.nodes.empty()) {
    std::snprintf(text, sizeof text, "%s is node %zu, and the graph has none", what, number);
  } else {
    std::snprintf(text, sizeof text, "%s is node %zu, must be 0 to %zu", what, number,
                  graph.nodes.size() - 1);
  }
  return fail(LOCKSTEP_ERROR_ARGUMENT, function, text);
}

/// Adds the node that `make` makes. The node's number is the one that the library gives.
template <class Make>
int add(const char* function, lockstep_graph* graph, std::size_t* node, const Make& make) {
  return result_of(function, [&] {
    // Before the graph has the node. Grows by half: reserve() alone would copy all nodes each time.
    const std::size_t size = graph->nodes.size();
    if (size == graph->nodes.capacity()) graph->nodes.reserve(size + size / 2 + 8);
    const lockstep::graph_node made = make();
    graph->nodes.push_back(made);
    if (node != nullptr) *node = made.number();
  });
}

/// An operation on two nodes.
template <class Body>
int join(const char* function, lockstep_graph* graph, const char* name_of_first, std::size_t first,
         const char* name_of_second, std::size_t second, const Body& body) {
  if (graph == nullptr) return fail_null(function, "graph");
  if (first >= graph->nodes.size()) return fail_node(function, *graph, name_of_first, first);
  if (second >= graph->nodes.size()) return fail_node(function, *graph, name_of_second, second);
  return result_of(function, [&] { body(graph->at, graph->nodes[first], graph->nodes[second]); });
}

void call_node(lockstep_node_fn function, std::size_t iteration, void* context) {
  const int code = called(function, iteration, context);
  if (code != LOCKSTEP_OK) throw callback_failure(code);
}
bool call_test(lockstep_test_fn function, std::size_t iteration, void* context) {
  int answer = 0;
  const int code = called(function, iteration, &answer, context);
  if (code != LOCKSTEP_OK) throw callback_failure(code);
  return answer != 0;
}

/// Ends a member's part of a team-wide node, because the run was stopped or to stop it. run() returns what stopped it.
[[noreturn]] void leave_stopped(lockstep::member& me) {
  if (!me.stop_requested()) me.request_stop();
  throw lockstep::region_stopped();
}

int run(const char* function, lockstep_plan* plan, std::size_t iterations, bool measures) {
  return result_of_use(function, plan, [=] {
    const bool is_complete = measures ? plan->at.measure(iterations) : plan->at.run(iterations);
    return is_complete ? LOCKSTEP_OK : LOCKSTEP_STOPPED;
  });
}

/// Gives a text of a plan. No other thread uses the plan meanwhile.
template <class Make>
int give_text_of_plan(const char* function, const lockstep_plan* plan, char* buffer,
                      std::size_t capacity, std::size_t* length, const Make& make) {
  const use here(const_cast<lockstep_plan*>(plan));
  if (!here) return fail_used(function);
  return give_text(function, buffer, capacity, length, make);
}

}  // namespace

int lockstep_graph_create(lockstep_graph** graph) {
  LOCKSTEP_C_REFUSE_NULL(graph);
  *graph = nullptr;
  return result_of(__func__, [=] { *graph = new lockstep_graph; });
}

int lockstep_graph_destroy(lockstep_graph* graph) {
  if (graph == nullptr) return LOCKSTEP_OK;
  if (graph->plans.load(std::memory_order_acquire) != 0) {
    return fail(LOCKSTEP_ERROR_USE, __func__, "a plan of this graph lives; destroy that first");
  }
  delete graph;
  return LOCKSTEP_OK;
}

int lockstep_graph_node(lockstep_graph* graph, const char* name, lockstep_node_fn function,
                        void* context, size_t* node) {
  LOCKSTEP_C_REFUSE_NULL(graph, name, function);
  return add(__func__, graph, node, [=] {
    return graph->at.node(name, [=](std::size_t i) { call_node(function, i, context); });
  });
}

int lockstep_graph_test(lockstep_graph* graph, const char* name, lockstep_test_fn function,
                        void* context, size_t* node) {
  LOCKSTEP_C_REFUSE_NULL(graph, name, function);
  return add(__func__, graph, node, [=] {
    return graph->at.node(name, [=](std::size_t i) { return call_test(function, i, context); });
  });
}

int lockstep_graph_wide_node(lockstep_graph* graph, const char* name, size_t width,
                             lockstep_wide_fn function, void* context, size_t* node) {
  LOCKSTEP_C_REFUSE_NULL(graph, name, function);
  return add(__func__, graph, node, [=] {
    return graph->at.node(name, width, [=](lockstep::member& me, std::size_t i) {
      const int code = called(function, handle_of(me), i, context);
      if (code == LOCKSTEP_STOPPED) leave_stopped(me);
      if (code != LOCKSTEP_OK) throw callback_failure(code);
    });
  });
}

int lockstep_graph_empty_node(lockstep_graph* graph, const char* name, size_t* node) {
  LOCKSTEP_C_REFUSE_NULL(graph, name);
  return add(__func__, graph, node, [=] { return graph->at.node(name); });
}

size_t lockstep_graph_size(const lockstep_graph* graph) {
  return graph != nullptr ? graph->nodes.size() : 0;
}

int lockstep_graph_edge(lockstep_graph* graph, size_t from, size_t to) {
  return join(__func__, graph, "from", from, "to", to,
              [](lockstep::graph& of, const auto& a, const auto& b) { of.edge(a, b); });
}

int lockstep_graph_edge_if(lockstep_graph* graph, size_t test, size_t to) {
  return join(__func__, graph, "test", test, "to", to,
              [](lockstep::graph& of, const auto& a, const auto& b) { of.edge_if(a, b); });
}

int lockstep_graph_edge_unless(lockstep_graph* graph, size_t test, size_t to) {
  return join(__func__, graph, "test", test, "to", to,
              [](lockstep::graph& of, const auto& a, const auto& b) { of.edge_unless(a, b); });
}

int lockstep_graph_repeat_while(lockstep_graph* graph, size_t test, size_t first) {
  return join(__func__, graph, "test", test, "first", first,
              [](lockstep::graph& of, const auto& a, const auto& b) { of.repeat_while(a, b); });
}

int lockstep_graph_feedback(lockstep_graph* graph, size_t from, size_t to, size_t delay) {
  return join(__func__, graph, "from", from, "to", to,
              [=](lockstep::graph& of, const auto& a, const auto& b) { of.feedback(a, b, delay); });
}

int lockstep_graph_channel(lockstep_graph* graph, size_t from, size_t to, size_t depth) {
  return join(__func__, graph, "from", from, "to", to,
              [=](lockstep::graph& of, const auto& a, const auto& b) { of.channel(a, b, depth); });
}

int lockstep_graph_overlap(lockstep_graph* graph) {
  return LOCKSTEP_C_ON(graph, static_cast<void>(graph->at.overlap()));
}

int lockstep_graph_cost(lockstep_graph* graph, size_t node, int64_t nanoseconds) {
  return join(__func__, graph, "node", node, "node", node,
              [=](lockstep::graph&, const auto& a, const auto&) {
                a.cost(std::chrono::nanoseconds(nanoseconds));
              });
}

int lockstep_graph_pin(lockstep_graph* graph, size_t node, size_t rank) {
  return join(__func__, graph, "node", node, "node", node,
              [=](lockstep::graph&, const auto& a, const auto&) { a.pin(rank); });
}

int lockstep_graph_keep_near(lockstep_graph* graph, size_t node, size_t other) {
  return join(__func__, graph, "node", node, "other", other,
              [](lockstep::graph&, const auto& a, const auto& b) { a.keep_near(b); });
}

int lockstep_graph_validate(const lockstep_graph* graph, char* buffer, size_t capacity,
                            size_t* length) {
  return LOCKSTEP_C_TEXT_ON(graph, graph->at.validate());
}

int lockstep_graph_dot(const lockstep_graph* graph, char* buffer, size_t capacity, size_t* length) {
  return LOCKSTEP_C_TEXT_ON(graph, graph->at.dot());
}

int lockstep_plan_create(const lockstep_graph* graph, lockstep_team* team, size_t members,
                         lockstep_plan** plan) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  *plan = nullptr;
  LOCKSTEP_C_REFUSE_NULL(graph, team);
  const std::size_t size = team->at.size();
  if (members > size) {
    char text[128];
    std::snprintf(text, sizeof text, "%zu members wanted, and the team has %zu", members, size);
    return fail(LOCKSTEP_ERROR_ARGUMENT, __func__, text);
  }
  const int code = result_of(
      __func__, [=] { *plan = new lockstep_plan(*graph, *team, members == 0 ? size : members); });
  return code == LOCKSTEP_ERROR_ARGUMENT ? LOCKSTEP_ERROR_GRAPH : code;
}

int lockstep_plan_destroy(lockstep_plan* plan) {
  if (plan == nullptr) return LOCKSTEP_OK;
  if (plan->is_used.exchange(true, std::memory_order_acquire)) return fail_used(__func__);
  delete plan;
  return LOCKSTEP_OK;
}

int lockstep_plan_run(lockstep_plan* plan, size_t iterations) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return run(__func__, plan, iterations, false);
}

int lockstep_plan_run_until(lockstep_plan* plan, lockstep_test_fn stop, void* context) {
  LOCKSTEP_C_REFUSE_NULL(plan, stop);
  return result_of_use(__func__, plan, [=] {
    std::size_t iteration = 0;
    int code = LOCKSTEP_OK;
    const bool is_complete = plan->at.run_until([&] {
      int answer = 0;
      code = called(stop, iteration++, &answer, context);
      return code != LOCKSTEP_OK || answer != 0;
    });
    if (code != LOCKSTEP_OK) throw callback_failure(code);
    return is_complete ? LOCKSTEP_OK : LOCKSTEP_STOPPED;
  });
}

int lockstep_plan_measure(lockstep_plan* plan, size_t iterations) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return run(__func__, plan, iterations, true);
}

int lockstep_plan_refine(lockstep_plan* plan) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return result_of_use(__func__, plan, [=] { plan->at.refine(); });
}

int lockstep_plan_request_stop(lockstep_plan* plan) {
  return LOCKSTEP_C_ON(plan, plan->at.request_stop());
}

size_t lockstep_plan_members(const lockstep_plan* plan) {
  return plan != nullptr ? plan->at.members() : 0;
}

int lockstep_plan_text(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return give_text_of_plan(__func__, plan, buffer, capacity, length,
                           [=] { return plan->at.text(); });
}

int lockstep_plan_report(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return give_text_of_plan(__func__, plan, buffer, capacity, length,
                           [=] { return plan->at.report(); });
}

int lockstep_plan_dot(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length) {
  LOCKSTEP_C_REFUSE_NULL(plan);
  return give_text_of_plan(__func__, plan, buffer, capacity, length,
                           [=] { return plan->at.dot(); });
}
