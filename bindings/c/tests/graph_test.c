/* SPDX-License-Identifier: MIT
 * Graphs and plans: order, conditions, loops, feedback, failures. */
#include "check.h"

enum { most = 8 };

struct run {
  lockstep_plan* plan;
  int64_t times[most]; /* by node; each node writes its own */
  int64_t clock;       /* of nodes in a chain */
  size_t iterations;
  int result, turns;
  size_t stop_at;
};
struct node {
  struct run* run;
  size_t number;
};

/* In a chain: what the node before wrote is seen. */
static int tick(size_t iteration, void* context) {
  const struct node* node = context;
  node->run->times[node->number] = ++node->run->clock;
  node->run->iterations = iteration + 1;
  return 0;
}
static int touch(size_t iteration, void* context) {
  const struct node* node = context;
  (void)iteration;
  ++node->run->times[node->number];
  return 0;
}
static int fail_node(size_t iteration, void* context) {
  const struct node* node = context;
  return iteration == node->run->stop_at ? node->run->result : 0;
}
static int odd(size_t iteration, int* answer, void* context) {
  (void)context;
  *answer = iteration % 2 == 1;
  return 0;
}
static int three_turns(size_t iteration, int* answer, void* context) {
  const struct node* node = context;
  (void)iteration;
  *answer = ++node->run->turns % 3 != 0;
  return 0;
}
static int fail_test(size_t iteration, int* answer, void* context) {
  (void)iteration;
  (void)answer;
  (void)context;
  return 21;
}

static void chains_run_in_order(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 0};
  struct node nodes[4];
  lockstep_graph* graph;
  lockstep_plan* plan;
  const char* names[] = {"a", "b", "c", "d"};
  size_t k, number = 77, length;
  char text[4096];
  CHECK_OK(lockstep_graph_create(&graph));
  for (k = 0; k < 4; ++k) {
    nodes[k].run = &run;
    nodes[k].number = k;
    CHECK_OK(lockstep_graph_node(graph, names[k], tick, &nodes[k], &number));
    CHECK(number == k);
  }
  CHECK(lockstep_graph_size(graph) == 4);
  for (k = 0; k < 3; ++k) CHECK_OK(lockstep_graph_edge(graph, k, k + 1));
  /* On different members, where there are some. */
  if (lockstep_team_size(team) > 1) {
    CHECK_OK(lockstep_graph_pin(graph, 1, 1));
    CHECK_OK(lockstep_graph_pin(graph, 2, 0));
  }
  CHECK_OK(lockstep_graph_cost(graph, 0, 2000));
  CHECK_OK(lockstep_graph_keep_near(graph, 0, 3));
  CHECK_OK(lockstep_graph_validate(graph, text, sizeof text, &length));
  CHECK(length == 0 && text[0] == '\0');
  CHECK_OK(lockstep_graph_dot(graph, text, sizeof text, NULL));
  CHECK(strstr(text, "digraph") != NULL);
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK(lockstep_plan_members(plan) >= 1 && lockstep_plan_members(plan) <= lockstep_team_size(team));
  CHECK_OK(lockstep_plan_run(plan, 1));
  CHECK(run.times[0] == 1 && run.times[1] == 2 && run.times[2] == 3 && run.times[3] == 4);
  CHECK_OK(lockstep_plan_run(plan, 500));
  CHECK(run.clock == 4 * 501 && run.iterations == 500 && run.times[3] == 4 * 501);
  CHECK_OK(lockstep_plan_run(plan, 0));
  CHECK(run.clock == 4 * 501);
  CHECK_OK(lockstep_plan_measure(plan, 10));
  CHECK(run.clock == 4 * 511);
  CHECK_OK(lockstep_plan_report(plan, text, sizeof text, &length));
  CHECK(length > 0);
  CHECK_OK(lockstep_plan_refine(plan));
  CHECK_OK(lockstep_plan_refine(plan)); /* nothing new */
  CHECK_OK(lockstep_plan_text(plan, text, sizeof text, NULL));
  CHECK(strstr(text, "d") != NULL);
  CHECK_OK(lockstep_plan_dot(plan, text, sizeof text, NULL));
  CHECK(strstr(text, "digraph") != NULL);
  CHECK_OK(lockstep_plan_run(plan, 5));
  CHECK(run.clock == 4 * 516);
  CHECK_OK(lockstep_plan_request_stop(plan)); /* none runs: nothing */

  CHECK_FAILS(lockstep_graph_destroy(graph), LOCKSTEP_ERROR_USE, "a plan of this graph lives");
  CHECK_FAILS(lockstep_team_destroy(team), LOCKSTEP_ERROR_USE, "a plan on this team lives");
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
}

static void conditions_skip_and_repeat(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 0};
  struct node nodes[4];
  lockstep_graph* graph;
  lockstep_plan* plan;
  size_t test, yes, no, end, body, again, k;
  for (k = 0; k < 4; ++k) {
    nodes[k].run = &run;
    nodes[k].number = k;
  }
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_test(graph, "odd?", odd, NULL, &test));
  CHECK_OK(lockstep_graph_node(graph, "yes", touch, &nodes[0], &yes));
  CHECK_OK(lockstep_graph_node(graph, "no", touch, &nodes[1], &no));
  CHECK_OK(lockstep_graph_empty_node(graph, "end", &end));
  CHECK_OK(lockstep_graph_edge_if(graph, test, yes));
  CHECK_OK(lockstep_graph_edge_unless(graph, test, no));
  CHECK_OK(lockstep_graph_edge(graph, yes, end));
  CHECK_OK(lockstep_graph_edge(graph, no, end));
  CHECK_OK(lockstep_graph_node(graph, "body", touch, &nodes[2], &body));
  CHECK_OK(lockstep_graph_test(graph, "again?", three_turns, &nodes[3], &again));
  CHECK_OK(lockstep_graph_edge(graph, end, body));
  CHECK_OK(lockstep_graph_edge(graph, body, again));
  CHECK_OK(lockstep_graph_repeat_while(graph, again, body));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_OK(lockstep_plan_run(plan, 11));
  CHECK(run.times[0] == 5 && run.times[1] == 6 && run.times[2] == 33);
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
}

static int meet(lockstep_member* me, size_t iteration, void* context) {
  struct run* run = context;
  int64_t sum = 0;
  const int code = lockstep_member_sync_int64(me, LOCKSTEP_SUM, 1, &sum);
  if (code != 0) return code;
  if (sum != (int64_t)lockstep_member_size(me)) return 1;
  if (lockstep_member_rank(me) == 0) run->times[0] = sum;
  return iteration == run->stop_at && lockstep_member_rank(me) == lockstep_member_size(me) - 1 ? run->result : 0;
}
static void wide_nodes_meet(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 5};
  lockstep_graph* graph;
  lockstep_plan* plan;
  size_t node;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_wide_node(graph, "meet", 0, meet, &run, &node));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_OK(lockstep_plan_run(plan, 20));
  CHECK(run.times[0] == (int64_t)lockstep_team_size(team));
  run.result = 13;
  CHECK_FAILS(lockstep_plan_run(plan, 20), 13, "a callback has returned 13");
  run.result = LOCKSTEP_STOPPED;
  CHECK_CODE(lockstep_plan_run(plan, 20), LOCKSTEP_STOPPED);
  CHECK_OK(lockstep_plan_run(plan, 3));
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_pin(graph, node, 0)); /* which a plan refuses */
  CHECK_FAILS(lockstep_plan_create(graph, team, 0, &plan), LOCKSTEP_ERROR_GRAPH, "meet");
  CHECK_OK(lockstep_graph_destroy(graph));

  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_wide_node(graph, "crowd", 1000, meet, &run, NULL));
  CHECK_FAILS(lockstep_plan_create(graph, team, 0, &plan), LOCKSTEP_ERROR_GRAPH, "crowd");
  CHECK(plan == NULL);
  CHECK_OK(lockstep_graph_destroy(graph));
}

/* --- the early end --- */

static int stop_after(size_t iteration, int* answer, void* context) {
  struct run* run = context;
  *answer = iteration == run->stop_at;
  return 0;
}
static int stop_plan(size_t iteration, void* context) {
  struct run* run = context;
  ++run->clock;
  return iteration == run->stop_at ? lockstep_plan_request_stop(run->plan) : 0;
}
static int use_own_plan(size_t iteration, void* context) {
  struct run* run = context;
  (void)iteration;
  if (lockstep_plan_destroy(run->plan) != LOCKSTEP_ERROR_USE) return 1;
  if (lockstep_plan_text(run->plan, NULL, 0, NULL) != LOCKSTEP_ERROR_USE) return 2;
  return lockstep_plan_run(run->plan, 1);
}

static void runs_end_early(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 7};
  struct node node;
  lockstep_graph* graph;
  lockstep_plan* plan;
  node.run = &run;
  node.number = 0;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_node(graph, "one", fail_node, &node, NULL));
  CHECK_OK(lockstep_graph_node(graph, "two", stop_plan, &run, NULL));
  CHECK_OK(lockstep_graph_edge(graph, 0, 1));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  run.plan = plan;
  run.result = 31;
  CHECK_FAILS(lockstep_plan_run(plan, 100), 31, "lockstep_plan_run: a callback has returned 31");
  run.result = 0;
  CHECK_CODE(lockstep_plan_run(plan, 100), LOCKSTEP_STOPPED);
  CHECK_OK(lockstep_plan_run(plan, 5));
  run.clock = 0;
  run.stop_at = 9;
  CHECK_OK(lockstep_plan_run_until(plan, stop_after, &run));
  CHECK(run.clock == 9);
  CHECK_FAILS(lockstep_plan_run_until(plan, fail_test, &run), 21, "returned 21");
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));

  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_node(graph, "own", use_own_plan, &run, NULL));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  run.plan = plan;
  CHECK_FAILS(lockstep_plan_run(plan, 1), LOCKSTEP_ERROR_USE, "the plan runs");
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));

  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_test(graph, "bad", fail_test, NULL, NULL));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_CODE(lockstep_plan_run(plan, 1), 21);
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
}

/* A pipeline of two, one iteration ahead at most. */
static int produce(size_t iteration, void* context) {
  struct run* run = context;
  run->times[iteration % 2] = (int64_t)iteration;
  return 0;
}
static int consume(size_t iteration, void* context) {
  struct run* run = context;
  return run->times[iteration % 2] == (int64_t)iteration ? 0 : 1;
}
static void feedback_orders_iterations(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 0};
  lockstep_graph* graph;
  lockstep_plan* plan;
  size_t from, to;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_node(graph, "produce", produce, &run, &from));
  CHECK_OK(lockstep_graph_node(graph, "consume", consume, &run, &to));
  CHECK_OK(lockstep_graph_edge(graph, from, to));
  CHECK_OK(lockstep_graph_feedback(graph, to, from, 2));
  CHECK_OK(lockstep_graph_overlap(graph));
  if (lockstep_team_size(team) > 1) CHECK_OK(lockstep_graph_pin(graph, to, 1));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_OK(lockstep_plan_run(plan, 2000));
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
}

/* What a channel joins overlaps; what an edge joins stays in order beside it. */
static int note(size_t iteration, void* context) {
  struct run* run = context;
  run->clock = (int64_t)iteration;
  return consume(iteration, context);
}
static int follow(size_t iteration, void* context) {
  const struct run* run = context;
  return run->clock == (int64_t)iteration ? 0 : 2;
}
static void a_channel_leaves_the_others_in_order(lockstep_team* team) {
  struct run run = {NULL, {0}, 0, 0, 0, 0, 0};
  lockstep_graph* graph;
  lockstep_plan* plan;
  size_t from, to, last;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_OK(lockstep_graph_node(graph, "produce", produce, &run, &from));
  CHECK_OK(lockstep_graph_node(graph, "consume", note, &run, &to));
  CHECK_OK(lockstep_graph_node(graph, "follow", follow, &run, &last));
  CHECK_FAILS(lockstep_graph_channel(graph, from, to, 0), LOCKSTEP_ERROR_ARGUMENT, "0 places given");
  CHECK_OK(lockstep_graph_channel(graph, from, to, 2));
  CHECK_OK(lockstep_graph_edge(graph, to, last));
  if (lockstep_team_size(team) > 1) CHECK_OK(lockstep_graph_pin(graph, to, 1));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_OK(lockstep_plan_run(plan, 2000));
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_destroy(graph));
}

static void bad_graphs_are_refused(lockstep_team* team) {
  lockstep_graph* graph;
  lockstep_plan* plan;
  char text[1024];
  size_t length = 0;
  CHECK_OK(lockstep_graph_create(&graph));
  CHECK_FAILS(lockstep_graph_edge(graph, 0, 0), LOCKSTEP_ERROR_ARGUMENT, "the graph has none");
  CHECK_OK(lockstep_graph_empty_node(graph, "here", NULL));
  CHECK_OK(lockstep_graph_empty_node(graph, "there", NULL));
  CHECK_FAILS(lockstep_graph_edge(graph, 0, 2), LOCKSTEP_ERROR_ARGUMENT, "to is node 2, must be 0 to 1");
  CHECK_FAILS(lockstep_graph_edge(graph, 5, 1), LOCKSTEP_ERROR_ARGUMENT, "from is node 5");
  CHECK_FAILS(lockstep_graph_edge(graph, 1, 1), LOCKSTEP_ERROR_ARGUMENT, "there");
  CHECK_OK(lockstep_graph_edge(graph, 0, 1));
  CHECK_OK(lockstep_plan_create(graph, team, 0, &plan));
  CHECK_OK(lockstep_plan_run(plan, 1));
  CHECK_OK(lockstep_graph_edge(graph, 1, 0));
  CHECK_FAILS(lockstep_plan_run(plan, 1), LOCKSTEP_ERROR_ARGUMENT, "'here' -> 'there' -> 'here'");
  CHECK_OK(lockstep_plan_destroy(plan));
  CHECK_OK(lockstep_graph_validate(graph, text, sizeof text, &length));
  CHECK(length > 0 && strstr(text, "here") != NULL);
  CHECK_FAILS(lockstep_plan_create(graph, team, 0, &plan), LOCKSTEP_ERROR_GRAPH, "here");
  CHECK(plan == NULL);
  CHECK_FAILS(lockstep_plan_create(graph, team, 1000, &plan), LOCKSTEP_ERROR_ARGUMENT, "1000 members");
  CHECK_OK(lockstep_graph_destroy(graph));
}

int main(void) {
  const size_t sizes[] = {1, 2, 4};
  size_t k;
  for (k = 0; k < 3; ++k) {
    lockstep_team* team = check_team(sizes[k]);
    chains_run_in_order(team);
    conditions_skip_and_repeat(team);
    wide_nodes_meet(team);
    runs_end_early(team);
    feedback_orders_iterations(team);
    a_channel_leaves_the_others_in_order(team);
    bad_graphs_are_refused(team);
    CHECK_OK(lockstep_team_destroy(team));
  }
  CHECK_OK(lockstep_graph_destroy(NULL));
  CHECK_OK(lockstep_plan_destroy(NULL));
  CHECK(lockstep_graph_size(NULL) == 0 && lockstep_plan_members(NULL) == 0);
  return check_result();
}
