# SPDX-License-Identifier: MIT
"""Events, barriers and mutexes, for Python and native threads. `handle` is the address for native functions."""

from __future__ import annotations

import threading
import weakref
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING

from ._errors import BUSY, Error, OK, TERMINATED, TIMED_OUT, UseError
from ._functions import raise_interruption
from ._library import Handle, c, check, made, nanoseconds, policy_of, quick, whole

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import Policy

# So long a wait stays in C before Python looks for signals: Ctrl-C works.
_SLICE = 40_000_000


def _wait_in_slices(call, handle, timeout):
    """The code of a wait that ends in time, in slices."""
    left = nanoseconds(timeout)
    while True:
        code = call(handle, min(left, _SLICE))
        if code != TIMED_OUT or left <= _SLICE:
            return code
        raise_interruption()
        left -= _SLICE


class _Object(Handle):
    def __init__(self, handle, destroy):
        #: The address of the object, for native functions.
        self.handle: int = handle
        self._finalizer = weakref.finalize(self, destroy, handle)
        self._finalizer.atexit = False  # a thread that nobody joins may wait then


class Event(_Object):
    """One thread notifies, another waits. Notifications are counted: each lets one wait return, before or after it.

    One thread at a time notifies, and one waits.
    """

    def __init__(self, policy: Policy = None) -> None:
        super().__init__(made(c.lockstep_event_create, policy_of(policy)), c.lockstep_event_destroy)
        self._one_waiter = threading.Lock()
        #: True after terminate().
        self.terminated = False

    def notify(self) -> None:
        """Lets one wait return."""
        check(quick.lockstep_event_notify(self.handle))

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks for at most `timeout` seconds; True if a notification was taken, False if none came or it was terminated."""
        if not self._one_waiter.acquire(blocking=False):
            raise UseError("lockstep.Event.wait: another thread waits; an event has one waiter: use one for each")
        try:
            code = _wait_in_slices(c.lockstep_event_wait_for, self.handle, timeout)
        finally:
            self._one_waiter.release()
        if code not in (OK, TIMED_OUT, TERMINATED):
            check(code)
        return code == OK

    def terminate(self) -> None:
        """From now on every wait returns at once. Any thread may call it."""
        self.terminated = True
        check(c.lockstep_event_terminate(self.handle))


class Barrier(_Object):
    """Blocks a fixed number of threads until all have come; again and again. Members of a region use sync_threads()."""

    def __init__(self, expected: int, policy: Policy = None) -> None:
        expected = whole(expected, "the number of threads", 1)
        super().__init__(made(c.lockstep_barrier_create, expected, policy_of(policy)), c.lockstep_barrier_destroy)
        #: True once a wait was interrupted: its thread has come, and may come again, so phases mean nothing any more.
        self.broken = False

    def wait(self) -> None:
        """Blocks until all threads of this phase have come. UseError once the barrier is broken: a wait of it was interrupted,
        by Ctrl-C for instance. Waits of other Python threads are released then."""
        arrival = c_uint64()
        try:
            self._check_whole()
            check(quick.lockstep_barrier_arrive(self.handle, byref(arrival)))
            while True:
                code = c.lockstep_barrier_wait_for(self.handle, arrival, _SLICE)
                if code != TIMED_OUT:
                    return check(code)
                raise_interruption()
                self._check_whole()
        except Error:
            raise
        except BaseException:
            self.broken = True
            raise

    def _check_whole(self):
        if self.broken:
            raise UseError("lockstep.Barrier.wait: the barrier is broken, since a wait of it was interrupted; make a new one")


class Mutex(_Object):
    """Lets one thread at a time through, Python's and native ones; how often others may overtake is bounded."""

    def __init__(self, policy: Policy = None) -> None:
        super().__init__(made(c.lockstep_mutex_create, policy_of(policy)), c.lockstep_mutex_destroy)

    def acquire(self, timeout: float | None = None) -> bool:
        """Blocks for at most `timeout` seconds; True if it got the lock. UseError if this thread holds it already."""
        code = _wait_in_slices(c.lockstep_mutex_lock_for, self.handle, timeout)
        if code not in (OK, TIMED_OUT):
            check(code)
        return code == OK

    def try_acquire(self) -> bool:
        """Takes the lock if it is free, and returns whether it did; never blocks."""
        code = quick.lockstep_mutex_try_lock(self.handle)
        if code not in (OK, BUSY):
            check(code)
        return code == OK

    def release(self) -> None:
        """UseError if this thread does not hold it."""
        check(quick.lockstep_mutex_unlock(self.handle))

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
