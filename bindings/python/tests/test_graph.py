# SPDX-License-Identifier: MIT
"""Graphs and plans."""
import ctypes

import lockstep_threads as lockstep
import pytest


def test_nodes_run_after_those_that_lead_to_them(team):
    trace = []
    graph = lockstep.Graph()
    names = ["load", "left", "right", "store"]
    load, left, right, store = (graph.node(name, lambda i, name=name: trace.append(name)) for name in names)
    for before, after in ((load, left), (load, right), (left, store), (right, store)):
        graph.edge(before, after)
    assert len(graph) == 4 and store == 3 and "load" in graph.dot()
    plan = lockstep.Plan(graph, team)
    for _ in range(20):
        assert plan.run()
        run, trace[:] = list(trace), []
        assert run[0] == "load" and run[3] == "store" and len(run) == 4
    assert plan.members <= team.size and "load" in plan.text() and plan.report()


def test_tests_choose_and_repeat(team):
    trace = []
    graph = lockstep.Graph()
    even = graph.test("is even", lambda i: i % 2 == 0)
    graph.edge_if(even, graph.node("even", lambda i: trace.append(i)))
    graph.edge_unless(even, graph.node("odd", lambda i: trace.append(-i)))
    turns = []
    body = graph.node("body", lambda i: turns.append(i))
    again = graph.test("again", lambda i: len(turns) % 5 != 0)
    graph.edge(body, again)
    graph.repeat_while(again, body)
    assert lockstep.Plan(graph, team).run(4)
    assert trace == [0, -1, 2, -3] and len(turns) == 20


def test_a_plan_runs_what_was_added_to_its_graph(team):
    trace = []
    graph = lockstep.Graph()
    first = graph.node("first", lambda i: trace.append("first"))
    plan = lockstep.Plan(graph, team)
    assert plan.run()
    second = graph.node("second", lambda i: trace.append("second"))
    graph.edge(first, second)
    assert plan.run() and trace == ["first", "first", "second"]
    graph.edge(second, first)
    with pytest.raises(lockstep.ArgumentError, match="'first' -> 'second' -> 'first'"):
        plan.run()


def test_wide_nodes_have_members(team):
    sums = []

    def wide(me, iteration):
        total = me.sync_sum(me.rank + iteration)
        if me.rank == 0:
            sums.append((me.size, total))

    graph = lockstep.Graph()
    graph.wide_node("wide", wide)
    assert lockstep.Plan(graph, team).run(3)
    n = team.size
    assert sums == [(n, n * (n - 1) // 2 + i * n) for i in range(3)]


def test_a_member_that_leaves_a_wide_node_early_is_named(team):
    if team.size == 1:
        pytest.skip("nobody waits")
    is_wrong = []

    def wide(me, iteration):
        for _ in range(3 * iteration % 5):
            me.sync_threads()
        if not (is_wrong and me.rank == 1):
            me.sync_threads()

    graph = lockstep.Graph()
    graph.wide_node("wide", wide)
    plan = lockstep.Plan(graph, team)
    for _ in range(3):
        assert plan.run(20)
        is_wrong.append(True)
        with pytest.raises(lockstep.UseError, match="waits for member 1, which has returned"):
            plan.run(2)
        is_wrong.clear()


def test_native_nodes(team, kernels):
    graph, total = lockstep.Graph(), ctypes.c_int64()
    node = graph.node("native", kernels.node, total)
    graph.pin(node, 0)
    graph.cost(node, 1e-6)
    assert lockstep.Plan(graph, team).run(100)
    assert total.value == sum(range(100))


def test_feedback_orders_iterations(team):
    first, second = [], []
    graph = lockstep.Graph()
    a = graph.node("a", lambda i: first.append(len(second)))
    b = graph.node("b", lambda i: second.append(len(first)))
    graph.edge(a, b)
    graph.feedback(b, a, 2)
    graph.overlap()
    assert lockstep.Plan(graph, team).run(50)
    assert all(done >= i - 1 for i, done in enumerate(first)) and all(done > i for i, done in enumerate(second))


def test_a_channel_leaves_the_others_in_order(team):
    places, seen, wrong = [None, None], [], []
    graph = lockstep.Graph()
    a = graph.node("a", lambda i: places.__setitem__(i % 2, i))
    b = graph.node("b", lambda i: seen.append(places[i % 2]))
    c = graph.node("c", lambda i: wrong.append(i) if seen[-1] != i else None)
    with pytest.raises(ValueError, match="0 places given"):
        graph.channel(a, b, 0)
    graph.channel(a, b, 2)
    graph.edge(b, c)
    assert lockstep.Plan(graph, team).run(200)
    assert seen == list(range(200)) and not wrong


def test_exceptions_of_nodes_come_back(team):
    runs, after = [], []

    def bad(iteration):
        runs.append(iteration)
        if len(runs) == 1:
            raise KeyError("the first time")

    graph = lockstep.Graph()
    graph.edge(graph.node("bad", bad), graph.node("then", after.append))
    plan = lockstep.Plan(graph, team)
    with pytest.raises(KeyError, match="the first time"):
        plan.run()
    assert after == []
    assert plan.run(2) and after == [0, 1]


def test_a_node_stops_the_run(team):
    def stop(iteration):
        if iteration == 3:
            raise lockstep.Stopped()

    graph = lockstep.Graph()
    graph.node("stop", stop)
    assert lockstep.Plan(graph, team).run(10) is False


def test_what_makes_no_sense_is_refused_by_name(team):
    graph = lockstep.Graph()
    a, b = graph.node("first one", lambda i: None), graph.node("second one", lambda i: None)
    with pytest.raises(lockstep.ArgumentError):
        graph.edge(a, a)
    with pytest.raises(lockstep.ArgumentError):
        graph.edge(a, 17)
    graph.edge(a, b)
    graph.edge(b, a)
    with pytest.raises(lockstep.GraphError, match="first one"):
        lockstep.Plan(graph, team)


def test_one_plan_of_a_graph_runs_at_a_time(team):
    refused = []
    graph = lockstep.Graph()

    def again(iteration):
        for plan in plans:
            try:
                plan.run()
            except lockstep.UseError:
                refused.append(1)

    graph.node("again", again)
    plans = [lockstep.Plan(graph, team), lockstep.Plan(graph, team)]
    assert plans[0].run() and refused == [1, 1]


def test_plans_end_with_their_team():
    graph = lockstep.Graph()
    graph.node("one", lambda i: None)
    with lockstep.Team(2) as team:
        plan = lockstep.Plan(graph, team)
        assert plan.run()
    with pytest.raises(lockstep.UseError, match="closed"):
        plan.run()
