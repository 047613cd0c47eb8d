# SPDX-License-Identifier: MIT
"""Events, barriers, mutexes."""
import threading

import lockstep_threads as lockstep
import pytest


def in_threads(*functions):
    raised = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@pytest.mark.parametrize("policy", [None, "adaptive", "block", 1e-5])
def test_notifications_are_counted(policy):
    event = lockstep.Event(policy)
    in_threads(event.notify, event.wait)
    assert not event.wait(0) and not event.wait(0.15)  # longer than a slice
    event.notify()
    event.notify()
    assert event.wait(0) and event.wait(10) and not event.wait(0.001)
    event.terminate()
    assert event.terminated and not event.wait()


def test_times():
    event = lockstep.Event()
    event.notify()
    assert event.wait(float("inf"))  # for ever
    assert not event.wait(-1) and not event.wait(float("-inf"))
    for bad in (float("nan"), "1"):
        with pytest.raises(lockstep.ArgumentError, match="seconds"):
            event.wait(bad)


def test_a_second_waiter_is_refused():
    event, refused = lockstep.Event(), []

    def wait():
        try:
            event.wait()
        except lockstep.UseError:
            refused.append(1)
            event.terminate()  # lets the other go

    in_threads(wait, wait)
    assert refused == [1]


def test_a_barrier_lets_all_go_together():
    barrier, counts = lockstep.Barrier(3), []

    def come():
        for turn in range(1, 50):
            counts.append(turn)
            barrier.wait()
            assert len(counts) == 3 * turn
            barrier.wait()

    in_threads(come, come, come)
    with pytest.raises(lockstep.ArgumentError):
        lockstep.Barrier(0)


def test_a_mutex_lets_one_through():
    mutex, total = lockstep.Mutex(), 0

    def add():
        nonlocal total
        for _ in range(300):
            with mutex:
                total += 1

    in_threads(add, add, add)
    assert total == 900
    with mutex:
        in_threads(lambda: None if not mutex.try_acquire() and not mutex.acquire(0.01) else 1 / 0)
        assert not mutex.try_acquire()
        with pytest.raises(lockstep.UseError):
            mutex.acquire()
    with pytest.raises(lockstep.UseError):
        mutex.release()
    assert mutex.try_acquire() and mutex.release() is None
