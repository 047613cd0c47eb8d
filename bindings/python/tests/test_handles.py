# SPDX-License-Identifier: MIT
"""What stands for an object of the library has one owner in one process, and ends when nobody has it any more."""
import copy
import dataclasses
import gc
import os
import pickle
import subprocess
import sys
import threading
import time

import lockstep_threads as lockstep
import pytest


def handles():
    team, graph = lockstep.Team(2), lockstep.Graph()
    graph.node("one", lambda i: None)
    members = []
    team.run(members.append)
    yield from (team, graph, lockstep.Plan(graph, team), members[0], lockstep.default_team())
    yield from (lockstep.Event(), lockstep.Barrier(1), lockstep.Mutex(), lockstep.Native(80))


def test_none_is_copied_or_pickled():
    @dataclasses.dataclass
    class Config:
        handle: object

    ways = (copy.copy, copy.deepcopy, lambda each: dataclasses.asdict(Config(each)), lambda each: copy.deepcopy([each]))
    seen = set()
    for handle in handles():
        seen.add(type(handle))
        for way in ways:
            with pytest.raises(TypeError, match="cannot be copied"):
                way(handle)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                pickle.dumps(handle, protocol)
    assert seen == {
        each for each in vars(lockstep).values() if isinstance(each, type) and issubclass(each, lockstep._library.Handle)
    }


def threads():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else threading.active_count()


def threads_are(count):
    """A thread that was joined is listed until the system has let go of it."""
    for _ in range(2000):
        if threads() == count:
            return True
        time.sleep(0.001)
    return False


def test_a_team_that_nobody_has_ends():
    gc.collect()
    before = threads()
    team = lockstep.Team(4)
    assert team.run(lambda me: None)
    del team
    gc.collect()
    assert threads_are(before)


def test_a_team_that_is_collected_in_a_region_of_a_later_one_ends_after_it():
    gc.collect()
    first = threads()

    def leave_a_team_in_a_circle():
        team = lockstep.Team(4)
        team.itself = team

    leave_a_team_in_a_circle()
    inside = []
    with lockstep.Team(2) as late:
        late.run(lambda me: (gc.collect(), inside.append(threads())) if me.rank == 0 else None)
        assert inside == [first + 3 + 1]  # it could not be ended there
        assert threads_are(first + 1)


def test_a_circle_of_team_graph_and_plan_ends_in_any_order():
    gc.collect()
    first = threads()
    for turn in range(6):
        team, graph = lockstep.Team(3), lockstep.Graph()
        graph.node("one", lambda i: None)
        plan = lockstep.Plan(graph, team)
        assert plan.run()
        team.plan = graph.plan = graph.team = plan
        del team, graph, plan
        gc.collect()
        assert threads_are(first) and not lockstep._library._left


def test_what_uses_others_may_be_ended_after_them():
    """In the order in which the collector may come to them."""
    first = threads()
    team, graph = lockstep.Team(3), lockstep.Graph()
    graph.node("one", lambda i: None)
    plan = lockstep.Plan(graph, team)
    team._finalizer()  # a plan is on it
    graph._finalizer()
    assert threads() == first + 2 and len(lockstep._library._left) == 2
    plan._finalizer()
    assert threads_are(first) and not lockstep._library._left
    team._handle = graph._handle = plan._handle = None


# --- Ctrl-C reaches what the main thread waits for ---

INTERRUPTED = """
import lockstep_threads as lockstep, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
waiting = threading.Event()
def interrupt():
    waiting.wait()
    time.sleep(0.1)  # usually it waits by then; it need not
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
def region(me):
    me.handle  # native functions may do what others wait for: so the wait for one that has returned is not refused
    BODY
try:
    with lockstep.Team(MEMBERS) as team:
        CALL
except KeyboardInterrupt:
    print("interrupted")
    with lockstep.Team(MEMBERS) as team:
        assert team.run(lambda me: me.sync_threads())
"""


def interrupted(body="pass", call="team.run(region)", members=2):
    program = INTERRUPTED.replace("BODY", body).replace("MEMBERS", str(members)).replace("CALL", call)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("members", [2, 3, 12])
@pytest.mark.parametrize(
    "body",
    [
        # The other members have returned: the main thread would wait for ever.
        "if me.rank == 0: waiting.set(); me.sync_threads()",
        "if me.rank == 0: waiting.set(); me.sync_max(1)",
        "if me.rank == 0: waiting.set(); me.gather(1)",
        "if me.rank == 0: waiting.set(); me.broadcast(1, 1)",
        "if me.rank == 0: waiting.set(); me.await_step(1, 1)",
        # The main thread has returned from its callable, and another member waits for it.
        "if me.rank == 1: waiting.set(); me.sync_threads()",
        # In a region inside the region.
        "if me.rank == 0: waiting.set(); lockstep.Team(2).run(lambda you: you.handle and you.sync_threads() if you.rank else you.handle)",
    ],
)
def test_a_region_in_which_the_main_thread_waits_is_interrupted(body, members):
    assert interrupted(body, members=members) == (0, "interrupted\n", "")


@pytest.mark.parametrize("policy", ["spin", "block"])
def test_a_region_is_interrupted_however_it_waits(policy):
    body = "if me.rank == 0: waiting.set(); me.sync_threads()"
    assert interrupted(body, f"lockstep.Team(2, policy='{policy}').run(region)") == (0, "interrupted\n", "")


def test_a_plan_and_a_loop_are_interrupted():
    wide = """graph = lockstep.Graph()
        graph.wide_node("wide", lambda me, i: me.handle and (waiting.set(), me.sync_threads()) if me.rank == 0 else me.handle)
        lockstep.Plan(graph, team).run()"""
    assert interrupted(call=wide) == (0, "interrupted\n", "")
    loop = """team.run(lambda me: me.handle and (waiting.set(), me.sync_threads()) if me.rank == 0 else me.for_blocks(0, 4, lambda a, b: me.handle, nowait=True))"""
    assert interrupted(call=loop) == (0, "interrupted\n", "")


def test_objects_are_interrupted():
    assert interrupted(call="waiting.set(); lockstep.Barrier(2).wait()") == (0, "interrupted\n", "")
    assert interrupted(call="waiting.set(); lockstep.Event().wait()") == (0, "interrupted\n", "")
    # In a region, too.
    for wait in ("lockstep.Barrier(2).wait()", "lockstep.Event().wait()"):
        assert interrupted(f"if me.rank == 0: waiting.set(); {wait}") == (0, "interrupted\n", "")


def test_the_callable_that_waits_gets_the_exception_before_the_others_return():
    body = """
    if me.rank == 1:
        return left.wait()
    waiting.set()
    try:
        me.sync_threads()
    except KeyboardInterrupt:
        print("in the callable")
        raise
    finally:
        left.set()
"""
    call = "globals().update(left=threading.Event()); team.run(region)"
    assert interrupted(body.strip(), call) == (0, "in the callable\ninterrupted\n", "")


def test_an_interrupted_barrier_is_broken():
    barrier, refused = lockstep.Barrier(3), []

    def wait():
        try:
            barrier.wait()
        except lockstep.UseError as error:
            refused.append(str(error))

    waiters = [threading.Thread(target=wait) for _ in range(2)]
    for each in waiters:
        each.start()
    barrier.broken = True  # as an interrupted wait leaves it
    for each in waiters:
        each.join()
    with pytest.raises(lockstep.UseError, match="broken"):
        barrier.wait()
    assert len(refused) == 2 and "broken" in refused[0]


def test_handlers_of_other_signals_may_raise_in_a_wait():
    program = """
import lockstep_threads as lockstep, signal
class TimeOut(Exception): pass
def handler(*_): raise TimeOut
signal.signal(signal.SIGALRM, handler)
calls = []
with lockstep.Team(2) as team:
    for turn in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            team.run(lambda me: me.handle and me.sync_threads() if me.rank == turn % 2 else me.handle)
        except TimeOut:
            calls.append(turn)
    signal.signal(signal.SIGALRM, lambda *_: calls.append("handled") or team.request_stop())
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    assert team.run(lambda me: me.handle and me.sync_threads() if me.rank == 0 else me.handle) is False
assert calls == [0, 1, 2, "handled"], calls
print("done")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


def test_the_watchdog_says_who_is_stuck():
    program = """
import lockstep_threads as lockstep
with lockstep.Team(2, name="solver") as team:
    team.run(lambda me: me.handle and me.sync_threads() if me.rank == 0 else me.handle)
"""
    environment = {**os.environ, "LOCKSTEP_WATCHDOG": "0.3,abort"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment)
    assert run.returncode != 0 and "sync_threads" in run.stderr and "solver" in run.stderr
