# SPDX-License-Identifier: MIT
"""Regions, loops and reductions of Python callables: results, exceptions, the interpreter lock."""
import gc
import os
import subprocess
import sys
import threading
import time

import lockstep_threads as lockstep
import pytest


def test_every_member_is_called_once(team):
    seen = []
    assert team.run(lambda me: seen.append((me.rank, me.size)))
    assert sorted(seen) == [(rank, team.size) for rank in range(team.size)]


def test_some_members(team):
    seen = []
    assert team.run(lambda me: seen.append(me.size), members=1)
    assert seen == [1]
    for bad in (0, -1, team.size + 1):
        with pytest.raises(lockstep.ArgumentError):
            team.run(lambda me: None, members=bad)


def test_members_meet(team):
    def region(me):
        for turn in range(20):
            assert me.gather((turn, me.rank)) == [(turn, rank) for rank in range(me.size)]
            assert me.sync_sum(me.rank if me.rank else 0.5) == sum(range(me.size)) + 0.5
            assert me.sync_sum([me.rank]) == list(range(me.size))
            assert me.sync_min(-me.rank) == 1 - me.size
            assert me.sync_max(str(me.rank)) == str(me.size - 1)
            assert me.sync_count(me.rank == 0) == 1
            assert me.broadcast(turn % me.size, {"from": me.rank}) == {"from": turn % me.size}
            me.sync_threads()

    assert team.run(region)


def test_steps(team):
    trace = []

    def region(me):
        if me.rank > 0:
            me.await_step(me.rank - 1, 1)
        trace.append(me.rank)
        me.publish(1)

    assert team.run(region)
    assert trace == list(range(team.size))
    with pytest.raises(lockstep.ArgumentError):
        team.run(lambda me: me.await_step(me.size, 1))


@pytest.mark.parametrize("schedule, chunk", [("static", None), ("static", 3), ("chunks", 4), ("dynamic", 1), ("guided", 2)])
def test_loops_reach_each_index_once(team, schedule, chunk):
    counts = [0] * 100

    def block(first, last):
        assert first < last
        for i in range(first, last):
            counts[i] += 1

    assert team.for_blocks(0, 100, block, schedule=schedule, chunk=chunk)
    assert counts == [1] * 100
    assert team.for_blocks(5, 5, block, schedule=schedule, chunk=chunk)

    if (schedule, chunk) != ("static", 3):
        assert team.run(lambda me: me.for_blocks(0, 100, block, schedule=schedule, chunk=chunk))
        assert counts == [2] * 100


def test_blocks_of_members(team):
    parts = [None] * team.size

    def region(me):
        parts[me.rank] = me.block(10, 47)

    assert team.run(region)
    assert [i for part in parts for i in part] == list(range(10, 47))


def test_bad_schedules(team):
    for schedule, chunk in (("fair", 1), ("dynamic", 0), ("chunks", 0), ("dynamic", -1), (None, None)):
        with pytest.raises(lockstep.ArgumentError):
            team.for_blocks(0, 10, lambda first, last: None, schedule=schedule, chunk=chunk)


def test_reductions(team):
    x = [1 / (1 + i) for i in range(2000)]
    total = team.reduce(0, 2000, lambda first, last: sum(x[first:last]))
    assert abs(total - sum(x)) < 1e-12
    assert team.reduce(0, 2000, lambda a, b: max(x[a:b]), operation="max") == 1
    assert team.reduce(0, 2000, lambda a, b: min(x[a:b]), operation="min", init=-3.0) == -3
    assert team.reduce(0, 2000, lambda a, b: b - a, dtype=int, init=5) == 2005
    assert team.reduce(1, 11, lambda a, b: 2 ** (b - a), dtype=int, operation="product") == 1024
    assert team.reduce(3, 3, lambda a, b: 1 / 0, init=2.5) == 2.5
    for bad in ({"operation": "mean"}, {"dtype": str}):
        with pytest.raises(lockstep.ArgumentError):
            team.reduce(0, 1, lambda a, b: 0, **bad)
    with pytest.raises(TypeError):
        team.reduce(0, 1, lambda a, b: "text")


def test_types_of_reductions_may_be_those_of_numpy(team):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    for dtype in (numpy.float64, numpy.dtype("float64"), "float64", "double", float):
        value = team.reduce(0, 3, lambda a, b: 0.5 * (b - a), dtype=dtype)
        assert value == 1.5 and type(value) is float
    for dtype in (numpy.int64, numpy.dtype("int64"), "int64", int):
        value = team.reduce(0, 3, lambda a, b: b - a, dtype=dtype)
        assert value == 3 and type(value) is int
    for dtype in (numpy.float32, numpy.dtype("int32"), "text", None, 3):
        with pytest.raises(lockstep.ArgumentError, match="dtype is"):
            team.reduce(0, 3, lambda a, b: 0, dtype=dtype)


# --- exceptions ---


class Mistake(Exception):
    pass


def test_the_exception_of_the_lowest_rank_comes_back(team):
    for who in range(team.size):

        def region(me):
            if me.rank == who:
                raise Mistake(who)
            while True:
                me.sync_threads()

        with pytest.raises(Mistake) as caught:
            team.run(region)
        assert caught.value.args == (who,)
        assert caught.traceback[-1].name == "region"

    def all_raise(me):
        raise Mistake(me.rank)

    with pytest.raises(Mistake) as caught:
        team.run(all_raise)
    assert caught.value.args == (0,)
    assert team.run(lambda me: me.sync_threads())


def test_exceptions_of_loops_and_reductions_come_back(team):
    def block(first, last):
        if first <= 50 < last:
            raise Mistake(first)
        return 0

    with pytest.raises(Mistake):
        team.for_blocks(0, 100, block)
    with pytest.raises(Mistake):
        team.reduce(0, 100, block)
    with pytest.raises(Mistake):
        team.run(lambda me: me.for_blocks(0, 100, block))
    with pytest.raises(SystemExit):
        team.for_blocks(0, 1, lambda first, last: sys.exit(3))


def test_exceptions_are_not_kept(team):
    class Big:
        alive = 0

        def __init__(self):
            Big.alive += 1

        def __del__(self):
            Big.alive -= 1

    def region(me):
        big = Big()
        raise Mistake(me.rank)

    for _ in range(3):
        try:
            team.run(region)
        except Mistake:
            pass
    gc.collect()
    assert Big.alive == 0


def test_stops(team):
    def region(me):
        if me.rank == me.size - 1:
            me.request_stop()
        while True:
            me.sync_threads()

    assert team.run(region) is False

    def stop(me):
        raise lockstep.Stopped()

    assert team.run(stop) is False
    assert team.run(lambda me: me.sync_threads()) is True


def test_another_thread_may_stop_a_team(team):
    begun = threading.Event()

    def region(me):
        begun.set()
        while not me.stop_requested:
            time.sleep(0.001)

    def stop():
        begun.wait()
        team.request_stop()

    thread = threading.Thread(target=stop)
    thread.start()
    assert team.run(region) is False
    thread.join()


# --- the interpreter lock ---


def test_members_that_wait_for_each_other_do_not_hold_the_lock():
    """Members hand the lock on while they wait, also where a Python thread outside works."""
    done = False

    def work():
        while not done:
            sum(range(100))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        with lockstep.Team(3) as team:

            def region(me):
                for _ in range(30):
                    me.sync_threads()

            assert team.run(region)
    finally:
        done = True
        worker.join()


@pytest.mark.parametrize(
    "wait, missing",
    [
        (lambda me, other: me.sync_threads(), ""),
        (lambda me, other: me.sync_sum(1), ""),
        (lambda me, other: me.for_blocks(0, 100, lambda first, last: None), ""),
        (lambda me, other: me.await_step(other, 1), "step 1 of "),
    ],
)
@pytest.mark.parametrize("comes_late", [False, True])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_member_that_returns_early_is_named(size, wait, missing, comes_late):
    with lockstep.Team(size) as team:
        for early in 0, size - 1:

            def region(me):
                me.sync_threads()
                me.for_blocks(0, 10, lambda first, last: None)
                if me.rank == early:
                    time.sleep(0 if comes_late else 0.01)
                    return
                time.sleep(0.01 if comes_late else 0)
                wait(me, early)

            for _ in range(2):
                with pytest.raises(lockstep.UseError, match=f"waits for {missing}member {early}, which has returned"):
                    team.run(region)
        assert team.run(lambda me: me.sync_threads())


def test_members_return_at_different_times_and_after_a_stop(team):
    def steps(me):
        me.publish(me.rank + 1)
        for rank in range(me.size):
            me.await_step(rank, rank + 1)
        if me.rank == 0:
            me.request_stop()
            return
        with pytest.raises(lockstep.Stopped):
            while True:
                me.sync_threads()

    for _ in range(5):
        assert not team.run(steps)
        assert team.run(lambda me: time.sleep(0.001 * me.rank))


def test_threads_take_turns_at_a_team():
    counts = []
    with lockstep.Team(2) as team:

        def use():
            for _ in range(30):
                assert team.run(lambda me: (counts.append(me.rank), me.sync_threads()))

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(counts) == [0] * 90 + [1] * 90


def test_a_region_inside_a_region_runs_on_its_caller_alone(team):
    inner = []

    def region(me):
        assert team.run(lambda other: inner.append((other.rank, other.size)))
        with pytest.raises(lockstep.UseError):
            team.pause()
        with pytest.raises(Mistake):
            team.for_blocks(0, 1, fail)

    def fail(first, last):
        raise Mistake()

    assert team.run(region)
    assert inner == [(0, 1)] * team.size


# --- life ---


def test_a_member_is_of_its_region_and_thread(team):
    kept = []
    refused = []

    def region(me):
        kept.append(me)

        def elsewhere():
            try:
                me.sync_threads()
            except lockstep.UseError as error:
                refused.append(str(error))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    assert team.run(region)
    assert len(refused) == team.size and "another thread" in refused[0]
    with pytest.raises(lockstep.UseError, match="over"):
        kept[0].sync_threads()


def test_a_closed_team_is_refused():
    team = lockstep.Team(2)
    team.close()
    team.close()
    with pytest.raises(lockstep.UseError, match="closed"):
        team.run(lambda me: None)
    assert "closed" in repr(team)


def test_a_team_is_not_closed_by_its_own_region(team):
    def region(me):
        with pytest.raises(lockstep.UseError):
            team.close()

    assert team.run(region)
    assert team.run(lambda me: None)


def test_options():
    with lockstep.Team(
        2, policy=1e-6, name="named", bind="none", anticipate=False, learn=True, cpu_separation=False, ledger=True
    ) as team:
        assert team.run(lambda me: me.sync_threads())
        assert "sync_threads" in team.ledger_table()
        team.keep_ledger(False)
        team.pause()
        team.resume()
    with lockstep.Team(2, bind=[0], policy="block") as team:
        assert team.run(lambda me: None)
    for bad in ({"members": 0}, {"members": -2}, {"members": 65537}, {"bind": "here"}, {"learn": "yes"}):
        with pytest.raises(lockstep.ArgumentError):
            lockstep.Team(**bad)


def test_a_cpu_that_the_process_has_not_is_refused():
    for bind in ([99999], [0, 99999]):
        with pytest.raises(lockstep.ArgumentError, match="has CPU 99999, which this process may not use; it may use"):
            lockstep.Team(2, bind=bind)


def test_the_default_team_is_one():
    team = lockstep.default_team()
    assert team is lockstep.default_team()
    team.close()
    assert team.run(lambda me: None)


def test_what_is_no_function_is_refused(team):
    for bad in (None, 3, "text", object()):
        with pytest.raises(lockstep.ArgumentError):
            team.run(bad)


def test_numbers_that_do_not_fit_are_refused(team):
    """ctypes would take their lowest 64 bits: 2**64 + 1 members are one."""
    never = lambda *_: 1 / 0  # noqa: E731
    graph = lockstep.Graph()
    node = graph.node("node", lambda i: None)
    for number in (2**64 + 1, -(2**63) - 1, 1.5, "1", None):
        for call in (
            lambda: team.for_blocks(0, number, never),
            lambda: team.for_blocks(number, 10, never),
            lambda: team.for_blocks(0, 10, never, schedule="dynamic", chunk=number or "1"),
            lambda: team.run(lambda me: me.block(number, 10)),
            lambda: team.run(lambda me: me.for_blocks(0, number, never)),
            lambda: team.run(lambda me: me.publish(number)),
            lambda: team.run(lambda me: me.await_step(0, number)),
            lambda: team.run(lambda me: me.broadcast(number)),
            lambda: team.run(never, members=number or "1"),
            lambda: team.reduce(0, number, never),
            lambda: team.reduce(0, 10, never, dtype=int, init=number or "1"),
            lambda: lockstep.Team(number or "1"),
            lambda: lockstep.Team(2, bind=[number]),
            lambda: lockstep.Barrier(number),
            lambda: graph.edge(node, number),
            lambda: graph.pin(node, number),
            lambda: graph.wide_node("wide", never, width=number),
            lambda: lockstep.Plan(graph, team, number),
            lambda: lockstep.Plan(graph, team).run(number),
        ):
            with pytest.raises(lockstep.ArgumentError):
                call()
    for text in ("a\0b", b"name", 3):
        with pytest.raises(lockstep.ArgumentError, match="zero"):
            lockstep.Team(2, name=text)
        with pytest.raises(lockstep.ArgumentError, match="zero"):
            graph.node(text, never)


def test_numbers_may_be_of_other_types(team):
    class Seven:
        def __index__(self):
            return 7

    seen = []
    assert team.for_blocks(0, Seven(), lambda first, last: seen.extend(range(first, last)))
    assert sorted(seen) == list(range(7))


PROGRAMS = {
    # A team, an event and a plan that live until the interpreter ends.
    "leaves all to the end": """
import lockstep_threads as lockstep
team = lockstep.Team(3)
event = lockstep.Event()
graph = lockstep.Graph()
graph.node("one", lambda i: None)
plan = lockstep.Plan(graph, team)
assert team.run(lambda me: me.sync_threads()) and plan.run(3) and lockstep.default_team().run(lambda me: None)
print("done")
""",
    "forks": """
import lockstep_threads as lockstep, os
team = lockstep.Team(3)
ranks = []
team.run(lambda me: ranks.append(me.rank))
child = os.fork()
if child == 0:
    mine = []
    team.run(lambda me: (mine.append(me.rank), me.sync_threads()))
    os._exit(0 if sorted(mine) == [0, 1, 2] else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
""",
    # Wherever the main thread is: none may be lost, or ctypes gives the library any number as what a member has returned.
    "is interrupted again and again": """
import lockstep_threads as lockstep, os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
more, sent, came = True, 0, 0
def interrupt():
    global more, sent
    for sent in range(1, 201):
        seen = came
        os.kill(os.getpid(), signal.SIGINT)
        while came == seen:
            pass
    more = False
def region(me):
    for _ in range(3):
        me.sync_threads()
graph = lockstep.Graph()
graph.wide_node("wide", lambda me, i: me.sync_threads())
with lockstep.Team(2) as team:
    plan = lockstep.Plan(graph, team)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
    except KeyboardInterrupt:
        came += 1
    while more:
        try:
            while more:
                team.run(region)
                team.for_blocks(0, 100, lambda first, last: None)
                team.reduce(0, 100, lambda first, last: 1.0)
                plan.run()
        except KeyboardInterrupt:
            came += 1
    thread.join()
    assert team.run(region) and came == sent == 200
print("done")
""",
    "sets its own handler in a region": """
import lockstep_threads as lockstep, signal
def handler(*_):
    pass
with lockstep.Team(2) as team:
    team.run(lambda me: signal.signal(signal.SIGINT, handler) if me.rank == 0 else None)
    assert signal.getsignal(signal.SIGINT) is handler
    team.run(lambda me: None)
    assert signal.getsignal(signal.SIGINT) is handler
print("done")
""",
    # The interpreter would end such threads inside of their regions.
    "leaves a thread in a region": """
import lockstep_threads as lockstep, threading
team, begun = lockstep.Team(2), threading.Event()
def use():
    def region(me):
        begun.set()
        while True:
            me.sync_threads()
    team.run(region)
threading.Thread(target=use, daemon=True).start()
begun.wait()
print("done")
""",
    "leaves a thread that runs regions": """
import lockstep_threads as lockstep, threading
team, begun = lockstep.Team(2), threading.Event()
def use():
    while True:
        team.run(lambda me: (begun.set(), me.sync_threads()))
threading.Thread(target=use, daemon=True).start()
begun.wait()
print("done")
""",
    "ends in a region": """
import lockstep_threads as lockstep, sys
team = lockstep.Team(2)
try:
    team.run(lambda me: sys.exit("done"))
except SystemExit as end:
    print(end)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that(name):
    run = subprocess.run([sys.executable, "-c", PROGRAMS[name]], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")
