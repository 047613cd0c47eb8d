// SPDX-License-Identifier: MIT
//! Graphs and plans.
use lockstep_threads::{Error, Graph, Mutex, Plan, Stopped, Team};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[test]
fn nodes_run_after_those_that_lead_to_them() {
    for size in [1, 2, 3] {
        let (team, trace) = (Team::new(size).unwrap(), Mutex::new(Vec::new()));
        let mut graph = Graph::new();
        let load = graph.node("load", |_| trace.lock().push("load")).unwrap();
        let left = graph.node("left", |_| trace.lock().push("left")).unwrap();
        let right = graph.node("right", |_| trace.lock().push("right")).unwrap();
        let store = graph.node("store", |_| trace.lock().push("store")).unwrap();
        graph.edge(load, left).unwrap().edge(load, right).unwrap();
        graph.edge(left, store).unwrap().edge(right, store).unwrap();
        assert_eq!((graph.len(), store.number()), (4, 3));
        assert!(graph.dot().unwrap().contains("load"));
        let mut plan = Plan::new(&mut graph, &team).unwrap();
        for _ in 0..100 {
            plan.run(1).unwrap();
            let run = std::mem::take(&mut *trace.lock());
            assert_eq!((run.len(), run[0], run[3]), (4, "load", "store"));
        }
        assert!(plan.members() <= size && plan.text().unwrap().contains("load"));
    }
}

#[test]
fn a_node_may_change_what_it_has_captured() {
    let team = Team::new(2).unwrap();
    let (mut count, mut iterations) = (0, Vec::new());
    {
        let mut graph = Graph::new();
        graph.node("count", |_| count += 1).unwrap();
        graph.node("note", |iteration| iterations.push(iteration)).unwrap();
        Plan::new(&mut graph, &team).unwrap().run(500).unwrap();
    }
    assert_eq!(count, 500);
    assert_eq!(iterations, (0..500).collect::<Vec<_>>());
}

#[test]
fn tests_choose_and_repeat() {
    let team = Team::new(2).unwrap();
    let (turns, even, odd) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut graph = Graph::new();
    let is_even = graph.test("is even", |iteration| iteration % 2 == 0).unwrap();
    let count = |of: &AtomicUsize| {
        of.fetch_add(1, Relaxed);
    };
    let on_even = graph.node("even", |_| count(&even)).unwrap();
    let on_odd = graph.node("odd", |_| count(&odd)).unwrap();
    graph.edge_if(is_even, on_even).unwrap().edge_unless(is_even, on_odd).unwrap();
    let body = graph.node("body", |_| count(&turns)).unwrap();
    let again = graph.test("again", |_| turns.load(Relaxed) % 5 != 0).unwrap();
    graph.edge(body, again).unwrap().repeat_while(again, body).unwrap();
    Plan::new(&mut graph, &team).unwrap().run(7).unwrap();
    drop(graph);
    assert_eq!((even.into_inner(), odd.into_inner(), turns.into_inner()), (4, 3, 35));
}

#[test]
fn feedback_lets_iterations_overlap_in_order() {
    let team = Team::new(2).unwrap();
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut graph = Graph::new();
    let a = graph
        .node("a", |i| {
            assert!(i < 3 || second.load(Relaxed) >= i - 2, "at most 3 ahead");
            first.store(i + 1, Relaxed);
        })
        .unwrap();
    let b = graph
        .node("b", |i| {
            assert!(first.load(Relaxed) > i);
            second.store(i + 1, Relaxed);
        })
        .unwrap();
    graph.edge(a, b).unwrap().feedback(b, a, 3).unwrap().overlap().unwrap();
    graph.pin(a, 0).unwrap().pin(b, 1).unwrap();
    graph.cost(a, std::time::Duration::from_micros(1)).unwrap();
    Plan::new(&mut graph, &team).unwrap().run(1000).unwrap();
    drop(graph);
    assert_eq!(second.into_inner(), 1000);
}

#[test]
fn a_channel_leaves_the_others_in_order() {
    let team = Team::new(2).unwrap();
    let (places, seen) = ([AtomicUsize::new(0), AtomicUsize::new(0)], AtomicUsize::new(0));
    let mut graph = Graph::new();
    let a = graph.node("a", |i| places[i % 2].store(i, Relaxed)).unwrap();
    let b = graph
        .node("b", |i| {
            assert_eq!(places[i % 2].load(Relaxed), i);
            seen.store(i, Relaxed);
        })
        .unwrap();
    let c = graph.node("c", |i| assert_eq!(seen.load(Relaxed), i)).unwrap();
    assert!(graph.channel(a, b, 0).is_err());
    graph.channel(a, b, 2).unwrap().edge(b, c).unwrap().pin(a, 0).unwrap().pin(b, 1).unwrap();
    Plan::new(&mut graph, &team).unwrap().run(1000).unwrap();
}

#[test]
fn wide_nodes_have_members() {
    let team = Team::new(3).unwrap();
    let sum = AtomicUsize::new(0);
    let mut graph = Graph::new();
    graph
        .wide_node("wide", 0, |me, iteration| {
            assert_eq!(me.size(), 3);
            let all = me.sync_sum(me.rank() + iteration)?;
            me.single(|| sum.store(all, Relaxed))
        })
        .unwrap();
    Plan::new(&mut graph, &team).unwrap().run(3).unwrap();
    drop(graph);
    assert_eq!(sum.into_inner(), 3 + 3 * 2);
}

#[test]
fn a_plan_runs_until_it_is_told() {
    let team = Team::new(2).unwrap();
    let mut count = 0;
    let mut graph = Graph::new();
    graph.node("count", |_| count += 1).unwrap();
    let mut plan = Plan::new(&mut graph, &team).unwrap();
    plan.run_until(|iteration| iteration == 20).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| plan.run_until(|i| if i == 5 { panic!("stop") } else { false })));
    assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "stop");
    plan.measure(10).unwrap();
    assert!(plan.report().unwrap().contains("count"));
    plan.refine().unwrap();
    drop(plan);
    drop(graph);
    assert_eq!(count, 20 + 5 + 10);
}

#[test]
fn the_panic_of_a_node_comes_back_and_the_plan_runs_again() {
    for size in [1, 2] {
        let team = Team::new(size).unwrap();
        let (mut runs, after) = (0, AtomicUsize::new(0));
        let mut graph = Graph::new();
        let bad = graph
            .node("bad", |_| {
                runs += 1;
                assert!(runs != 1, "the first time");
            })
            .unwrap();
        let then = graph
            .node("then", |_| {
                after.fetch_add(1, Relaxed);
            })
            .unwrap();
        graph.edge(bad, then).unwrap();
        let mut plan = Plan::new(&mut graph, &team).unwrap();
        let panic = catch_unwind(AssertUnwindSafe(|| plan.run(1))).unwrap_err();
        assert_eq!(*panic.downcast::<&str>().unwrap(), "the first time");
        assert_eq!(after.load(Relaxed), 0);
        plan.run(2).unwrap();
        assert_eq!(after.load(Relaxed), 2);
    }
}

#[test]
fn a_node_can_stop_the_run() {
    let team = Team::new(2).unwrap();
    let mut graph = Graph::new();
    graph.node("stop", |i| if i == 3 { Err(Stopped) } else { Ok(()) }).unwrap();
    assert_eq!(Plan::new(&mut graph, &team).unwrap().run(10), Err(Error::Stopped));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let team = Team::new(2).unwrap();
    let (mut graph, mut other) = (Graph::new(), Graph::new());
    let a = graph.node("first one", |_| ()).unwrap();
    let b = graph.node("second one", |_| ()).unwrap();
    let foreign = other.node("foreign", |_| ()).unwrap();
    assert!(matches!(graph.edge(a, foreign), Err(Error::Argument(_))));
    assert!(matches!(graph.edge(a, a), Err(Error::Argument(_))));
    assert!(matches!(graph.node("a\0b", |_| ()), Err(Error::Argument(_))));
    graph.edge(a, b).unwrap().edge(b, a).unwrap();
    match Plan::new(&mut graph, &team) {
        Err(Error::Graph(text)) => assert!(text.contains("first one"), "{text}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(Plan::on(&mut other, &team, 3), Err(Error::Argument(_))));
    other.node("foreign", |_| ()).unwrap();
    assert!(Plan::new(&mut other, &team).is_ok(), "two nodes may have one name");
}

#[test]
fn closures_are_dropped_with_the_graph() {
    let counted = std::sync::Arc::new(());
    let mut graph = Graph::new();
    for name in ["a", "b"] {
        let mine = counted.clone();
        graph.node(name, move |_| drop(mine.clone())).unwrap();
    }
    let mine = counted.clone();
    assert!(graph.node("a\0b", move |_| drop(mine.clone())).is_err());
    assert_eq!(std::sync::Arc::strong_count(&counted), 3);
    drop(graph);
    assert_eq!(std::sync::Arc::strong_count(&counted), 1);
}

#[test]
fn a_leaked_plan_does_no_harm() {
    let team = Team::new(2).unwrap();
    let mut graph = Graph::new();
    graph.node("one", |_| ()).unwrap();
    std::mem::forget(Plan::new(&mut graph, &team).unwrap());
    Plan::new(&mut graph, &team).unwrap().run(1).unwrap();
}
