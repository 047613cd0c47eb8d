# SPDX-License-Identifier: MIT
"""What is measured: the graphs, the peers, and the settings in which each peer is tried (pure)."""

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "team"))
import plan as team_plan  # noqa: E402

RUNNERS = ("graph_lockstep", "graph_gomp", "graph_omp")
OWN = RUNNERS[0]
LOCKSTEP, MEASURED, STEPWISE, BY_HAND = "lockstep", "lockstep measured", "lockstep stepwise", "by hand"
# They find out while they run who does what.
DYNAMIC = ("oneTBB", "Taskflow", "libomp", "libgomp")
ALONE = " 1 thread"

EDGES, EMPTY, LOOPS, PLANNING = "Edges", "Nodes without work", "A loop with feedback", "Making a plan"
CROWD, BESIDE = "8 threads", "Beside a process that burns a CPU"
TIMES = {"0": EMPTY, "100ns": "Nodes of 0.1 us", "1us": "Nodes of 1 us", "10us": "Nodes of 10 us"}


@dataclass(frozen=True)
class Work(team_plan.Work):
    # What a result is divided by.
    unit: str = "node"


@dataclass(frozen=True)
class Variant(team_plan.Variant):
    # Instead of the work's; where the nodes take nothing or little, a runtime may be best alone.
    threads: int = 0


def openmp(runtime, runner, environments):
    for label, environment, uncrowded_only in environments:
        yield Variant(runtime, f"{runtime} {label}".strip(), runner, runtime, tuple(environment.items()), uncrowded_only)
    yield Variant(runtime, runtime + ALONE, runner, runtime, threads=1)


def variants():
    return [
        Variant(LOCKSTEP, LOCKSTEP, OWN, "lockstep"),
        Variant(MEASURED, MEASURED, OWN, "lockstep-measured"),
        Variant(STEPWISE, STEPWISE, OWN, "lockstep-stepwise"),
        Variant(BY_HAND, BY_HAND, OWN, "by-hand"),
        Variant(BY_HAND, "by hand, events", OWN, "by-hand-events"),
        Variant("oneTBB", "oneTBB", OWN, "tbb"),
        Variant("oneTBB", "oneTBB lightweight", OWN, "tbb-lightweight"),
        Variant("oneTBB", "oneTBB" + ALONE, OWN, "tbb", threads=1),
        Variant("Taskflow", "Taskflow", OWN, "taskflow"),
        Variant("Taskflow", "Taskflow" + ALONE, OWN, "taskflow", threads=1),
        *openmp("libomp", "graph_omp", [
            ("", {}, False),
            ("bound", {"OMP_PROC_BIND": "true"}, False),
            ("blocktime infinite", {"KMP_BLOCKTIME": "infinite"}, True),
        ]),
        *openmp("libgomp", "graph_gomp", [
            ("", {}, False),
            ("active bound", {"OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "true"}, True),
            ("passive", {"OMP_WAIT_POLICY": "passive"}, False),
        ]),
    ]


# name of the shape, size, title
SHAPES = (("chain", 1000, "chain 1000"), ("fork", 2, "diamond"), ("fork", 8, "fork 8"), ("fork", 64, "fork 64"),
          ("tree", 10, "tree of 1023"), ("wavefront", 16, "wavefront 16"), ("wavefront", 64, "wavefront 64"),
          ("wavefront", 256, "wavefront 256"), ("random", 10, "random 10"), ("random", 100, "random 100"),
          ("random", 1000, "random 1000"), ("random", 10000, "random 10000"))
# An iteration takes most of a second.
TOO_LONG = {("wavefront", 256, "10us")}
CROWDED = (("wavefront", 64, "wavefront 64"), ("fork", 64, "fork 64"), ("random", 1000, "random 1000"))


def name_of_time(time):
    return {"0": "empty", "100ns": "0.1 us", "1us": "1 us", "10us": "10 us"}[time]


def edge_works():
    yield Work(EDGES, "chain on one member", "chain/0", 2, 1000, unit="edge")
    yield Work(EDGES, "two chains beside each other", "twins/0", 2, 1000, unit="edge")
    yield Work(EDGES, "chain that crosses at each edge", "crossing/0", 2, 1000, unit="edge")
    yield Work(EDGES, "two nodes a level, all edges", "lattice/0", 2, 1000, unit="level")


def shape_works():
    for time, section in TIMES.items():
        for shape, size, title in SHAPES:
            if (shape == "chain" and time != "0") or (shape, size, time) in TOO_LONG:
                continue
            yield Work(section, f"{title}, {name_of_time(time)}", f"{shape}/{time}", 2, size)


def loop_works():
    for time, turns in (("0", 1000000), ("100ns", 1000000), ("1us", 100000), ("10us", 10000)):
        yield Work(LOOPS, f"loop of {turns} turns, {name_of_time(time)}", f"loop/{time}", 2, turns, unit="turn")


def busy_works():
    for shape, size, title in CROWDED:
        yield Work(CROWD, f"{title}, 1 us, 8 threads", f"{shape}/1us", 8, size)
    for competitor in ("bound", "free"):
        for shape, size, title in CROWDED:
            yield Work(BESIDE, f"{title}, 1 us, beside a {competitor} one", f"{shape}/1us", 2, size, competitor)


def planning_works():
    for shape, size in (("random", 10), ("random", 100), ("random", 1000), ("random", 10000), ("wavefront", 100),
                        ("fork", 10000), ("chain", 10000)):
        nodes = size * size if shape == "wavefront" else size
        yield Work(PLANNING, f"plan of {shape} {nodes}", f"plan/{shape}", 2, size, unit="plan")


def works():
    return [*edge_works(), *shape_works(), *loop_works(), *busy_works(), *planning_works()]


def is_wanted(work, variant, cpus):
    if variant.uncrowded_only and work.is_crowded(cpus):
        return False
    is_short = work.work.rpartition("/")[2] in ("0", "100ns")
    return not variant.threads or (is_short and work.threads == 2 and not work.competitor)


def arguments_of(work, variant, seconds):
    arguments = list(team_plan.arguments_of(work, variant, seconds))
    if variant.threads:
        arguments[arguments.index("--threads") + 1] = str(variant.threads)
    return tuple(arguments)


def rows(available, cpus, seconds):
    """available: for each runner that was built, its pairs of work and peer."""
    return [team_plan.Row(work, variant, arguments_of(work, variant, seconds))
            for work in works() for variant in variants()
            if (work.work, variant.peer) in available.get(variant.runner, ()) and is_wanted(work, variant, cpus)]
