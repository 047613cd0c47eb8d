# SPDX-License-Identifier: MIT
"""Threads that start once and run regions, loops and reductions together."""

from __future__ import annotations

import atexit
import ctypes
import functools
import operator
import threading
import weakref
from ctypes import byref, c_double, c_int64, c_void_p
from typing import TYPE_CHECKING, overload

from ._errors import ArgumentError, Error, OK, STOPPED, Stopped, UseError
from ._functions import (
    BlockFunction,
    DoubleFunction,
    Failures,
    Int64Function,
    NO_FAILURES,
    RegionFunction,
    context_for,
    end_runs,
    made_for,
    native,
    raise_interruption,
)
from ._library import (
    Handle,
    TeamOptions,
    c,
    check,
    encoded,
    end,
    end_what_is_left,
    index,
    last_error,
    made,
    policy_of,
    quick,
    text_of,
    whole,
)
from ._errors import error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal

    from typing_extensions import Self

    from ._types import Context, NativeFunction, Operation, Policy, Schedule, Value

_SCHEDULES = {"static": 0, "chunks": 1, "dynamic": 2, "guided": 3}
_BINDINGS = {None: 0, "none": 1, "close": 2, "spread": 3, "cores": 5}
_CHOICES = {None: 0, True: 1, False: 2}
_OPERATIONS = {"sum": 0, "product": 1, "min": 2, "max": 3}


def _choice_of(table, said, what):
    try:
        return table[said]
    except (KeyError, TypeError):
        names = ", ".join(repr(name) for name in table)
        raise ArgumentError(f"lockstep: no {what} {said!r}: one of {names}") from None


_NUMBERS = {"float": float, "float64": float, "double": float, "int": int, "int64": int}


def _number_type(said):
    """float or int, said as itself or by NumPy: its class, its dtype, or the name of that."""
    name = said if isinstance(said, str) else getattr(said, "name", None) or getattr(said, "__name__", None)
    if name not in _NUMBERS:
        raise ArgumentError(f"lockstep: dtype is {said!r}, must be float or int, or numpy.float64 or numpy.int64")
    return _NUMBERS[name]


def _outcome(code, failures):
    """True, or False if it was stopped; raises what a callable has raised, or what the code stands for."""
    if code == OK:
        return True
    failures.raise_first()
    if code == STOPPED:
        return False
    raise error_of(code, last_error())


class Shared:
    """What the members of a region share: the values that they gather; by rank, those that have come and those that have
    returned. `sees_all`: no native function was given a member."""

    __slots__ = ("came", "returned", "sees_all", "values")

    def __init__(self):
        self.values, self.came, self.returned, self.sees_all = {}, {}, {}, True

    def forget(self):
        self.came.clear()
        self.returned.clear()


def _fail(code):
    raise_interruption()
    raise error_of(code, last_error())


class Member(Handle):
    """A member of a region: for the callable that was given it, on its thread, until that returns.

    All members come to sync_threads(), gather(), broadcast() and the sync_ functions in the same order. Once the region is
    stopped they raise Stopped.
    """

    __slots__ = ("_awaits", "_gathered", "_handle", "_met", "_published", "_shared", "_thread", "rank", "size")

    def __init__(self, handle, shared):
        self._handle, self._shared = handle, shared
        self._gathered = self._met = self._published = 0  # how often it has come to gather values, and to meet; its step
        self._awaits = 0, 0  # a rank, and a step of that member
        self._thread = threading.get_ident()
        #: 0 to size - 1; the caller of run() is 0.
        self.rank: int = quick.lockstep_member_rank(handle)
        #: How many members the region has.
        self.size: int = quick.lockstep_member_size(handle)
        shared.came[self.rank] = self

    @property
    def handle(self) -> int:
        """The address of the lockstep_member, for native functions that this callable calls."""
        self._shared.sees_all = False
        return self._own()

    def _own(self):
        if self._handle is None:
            raise UseError("lockstep.Member: its region is over; a member is for the callable that was given it")
        if self._thread != threading.get_ident():
            raise UseError("lockstep.Member: used on another thread; a member is for the thread that was given it")
        return self._handle

    def _leave(self):
        self._handle = None

    def _refuse_endless(self, waiting, missing):
        """Fails, which ends the region, if `waiting` waits for ever for `missing`, which has returned. One of them is this."""
        rank, step = waiting._awaits
        if waiting._met > missing._met:
            what = f"member {missing.rank}"
        elif rank == missing.rank and step > missing._published:
            what = f"step {step} of member {rank}"
        else:
            return
        if self._shared.sees_all and not self.stop_requested:
            raise UseError(
                f"lockstep.Member: member {waiting.rank} of {self.size} waits for {what}, which has returned from its part; "
                "all members call the same functions in the same order"
            )

    def _wait(self):
        """Called before a wait for others, after the note of it."""
        for missing in self._shared.returned.copy().values():
            self._refuse_endless(self, missing)

    def _meet(self):
        """Called before a wait for all members."""
        self._met += 1
        if self._shared.returned:
            self._wait()

    def _return(self):
        """The callable has returned, and so does nothing that others may wait for."""
        shared = self._shared
        shared.returned[self.rank] = self
        for waiting in shared.came.copy().values():
            self._refuse_endless(waiting, self)
        if len(shared.returned) == self.size:
            shared.forget()  # a node has members again in the next iteration

    def sync_threads(self) -> None:
        """Blocks until every member has called it as often as this one."""
        handle = self._own()
        self._meet()
        code = c.lockstep_member_sync_threads(handle)
        if code != OK:
            _fail(code)

    def gather(self, value: Value) -> list[Value]:
        """A barrier that gives every member the values of all, in the order of ranks."""
        self._gathered += 1
        number, of_all = self._gathered, self._shared.values
        values = of_all.setdefault((number, self.size), [None] * self.size)
        values[self.rank] = value
        self.sync_threads()
        # All members have come to this one, so all have done with the one before.
        of_all.pop((number - 1, self.size), None)
        return list(values)

    def sync_reduce(self, value: Value, operation: Callable[[Value, Value], Value]) -> Value:
        """The values of all members, combined by operation(a, b) in the order of ranks: the same on each."""
        return functools.reduce(operation, self.gather(value))

    def sync_sum(self, value: Value) -> Value:
        return self.sync_reduce(value, operator.add)

    def sync_min(self, value: Value) -> Value:
        return min(self.gather(value))

    def sync_max(self, value: Value) -> Value:
        return max(self.gather(value))

    def sync_count(self, condition: object) -> int:
        """How many members gave something true."""
        return sum(map(bool, self.gather(condition)))

    def broadcast(self, root: int, value: Value | None = None) -> Value:
        """The value of member `root`, on every member."""
        whole(root, "the rank of broadcast", 0, self.size - 1)
        return self.gather(value if self.rank == root else None)[root]

    def block(self, first: int, last: int) -> range:
        """The part of [first, last) that is this member's, as a range: contiguous, in the order of ranks."""
        start, stop = c_int64(), c_int64()
        first, last = index(first, "first"), index(last, "last")
        check(quick.lockstep_member_block(self._own(), first, last, byref(start), byref(stop)))
        return range(start.value, stop.value)

    def for_blocks(
        self,
        first: int,
        last: int,
        function: Callable[[int, int], object] | NativeFunction,
        context: Context = None,
        schedule: Schedule = "static",
        chunk: int | None = None,
        nowait: bool = False,
    ) -> None:
        """Calls the function for this member's parts of [first, last); then waits for all, unless `nowait`.

        As Team.for_blocks otherwise.
        """

        def meets(*arguments):
            self._meet()
            return c.lockstep_member_for_range(*arguments)

        call = c.lockstep_member_for_range_nowait if nowait else meets
        handle = self._own()
        if not _run_blocks(call, self.request_stop, handle, first, last, function, context, schedule, chunk):
            raise Stopped()

    def publish(self, step: int) -> None:
        """This member has finished `step`, and all before it. Steps only grow; they begin at 0."""
        check(quick.lockstep_member_publish(self._own(), whole(step, "the step")))
        self._published = step

    def await_step(self, rank: int, step: int) -> None:
        """Blocks until member `rank` has published `step` or more."""
        handle, rank, step = self._own(), whole(rank, "the rank"), whole(step, "the step")
        self._awaits = rank, step
        self._wait()
        code = c.lockstep_member_await_step(handle, rank, step)
        if code != OK:
            _fail(code)

    @property
    def stop_requested(self) -> bool:
        return quick.lockstep_member_stop_requested(self._own()) != 0

    def request_stop(self) -> None:
        """Ends the region: run() returns False."""
        check(quick.lockstep_member_request_stop(self._own()))


def call_as_member(handle, shared, function, *arguments):
    """Calls the function with the member of that handle, which is one until the function returns."""
    me = Member(handle, shared)
    try:
        function(me, *arguments)
        me._return()
    finally:
        me._leave()


def _chunk_of(schedule, chunk):
    if chunk is None:
        return 0 if schedule == "static" else 1
    return whole(chunk, "the chunk")


class Callback:
    """Stands for a Python callable: its exceptions, and the native function that calls it."""

    __slots__ = ("address", "dtype", "element", "failures", "pointer")

    def __init__(self, kind, call, failures):
        self.pointer, self.failures = kind(call), failures
        self.address = ctypes.cast(self.pointer, c_void_p).value
        self.element = self.dtype = None


def _region_of(failures, function):
    shared = Shared()

    def call(handle, _context):
        return failures.call(quick.lockstep_member_rank(handle), call_as_member, handle, shared, function)

    return call


def _block_of(failures, function):
    def call(first, last, _context):
        return failures.call(first, function, first, last)

    return call


def _value_of(failures, function):
    def store(first, last, value):
        value[0] = function(first, last)

    def call(first, last, value, _context):
        return failures.call(first, store, first, last, value)

    return call


def _run(call, before, function, kind, wrapped, context, stop, after=()):
    """Calls call(*before, address, data, *after): of the function, if it is native, else of what wrapped() makes of it, for
    which `stop` ends the region. True, or False if it was stopped."""
    found, failures = native(function, kind), NO_FAILURES
    if found is None:
        failures = Failures(stop)
        found = Callback(kind, wrapped(failures, function), failures)
    data, kept = context_for(found, context)
    if failures is NO_FAILURES:
        code = call(*before, found.address, data, *after)
    else:
        with failures:
            code = call(*before, found.address, data, *after)
    del found, kept  # not before
    return True if code == OK else _outcome(code, failures)


def _run_blocks(call, stop, handle, first, last, function, context, schedule, chunk):
    """Runs a loop by that function of the library."""
    first, last = index(first, "first"), index(last, "last")
    before = handle, first, last, _choice_of(_SCHEDULES, schedule, "schedule"), _chunk_of(schedule, chunk)
    return _run(call, before, function, BlockFunction, _block_of, context, stop)


_living: weakref.WeakSet = weakref.WeakSet()


@atexit.register
def _at_exit():
    """Ends all teams if the main thread is the last one. Else it stops them, since a thread that is not joined may use them."""
    others = (each for each in threading.enumerate() if each is not threading.current_thread())
    if all(isinstance(each, threading._DummyThread) for each in others):  # members may be known by that type
        for team in list(_living):
            try:
                team.close()
            except Error:  # in a region: exit was called there
                pass
    else:
        end_runs(lambda: [c.lockstep_team_request_stop(team.handle) for team in list(_living)])


class Team(Handle):
    """Threads that start once, and then run regions, loops and reductions together, the caller among them as member 0.

    members         with the caller; None: one for each usable CPU, or as LOCKSTEP_NUM_THREADS says
    policy          how members wait: 'adaptive', 'spin', 'block', or seconds to spin before they sleep
    name            what debuggers and messages call it
    bind            'none', 'close', 'cores', 'spread', or a list of CPUs, by rank
    anticipate, learn, cpu_separation, ledger
                    True or False, as in docs/languages.md; None: as the environment says, else the default

    Functions that are native (lockstep.RegionFunction and its like from ctypes, numba.cfunc, Cython's __pyx_capi__,
    lockstep.Native) run in parallel. Python callables work too, but hold the interpreter lock while they run: one at a time
    runs Python code, and only what releases the lock (NumPy, numba.njit(nogil=True), input and output) overlaps. What a
    callable raises ends the region, and comes back to the caller: of several that of the lowest rank or part.

    Use it with `with`, or close() it. Several threads may use one team: they are served in turn.
    """

    def __init__(
        self,
        members: int | None = None,
        *,
        policy: Policy = None,
        name: str | None = None,
        bind: Literal["none", "close", "cores", "spread"] | Iterable[int] | None = None,
        anticipate: bool | None = None,
        learn: bool | None = None,
        cpu_separation: bool | None = None,
        ledger: bool | None = None,
    ) -> None:
        options = TeamOptions()
        check(c.lockstep_team_options_init(byref(options), ctypes.sizeof(options)))
        if members is not None:
            options.members = whole(members, "the number of members (None: one for each CPU)", 1, 65536)
        options.policy = policy_of(policy)
        if name is not None:
            options.name = encoded(name, "the name of the team")
        if bind is None or isinstance(bind, str):
            options.bind = _choice_of(_BINDINGS, bind, "binding")
        else:
            numbers = [whole(cpu, "a CPU of bind", 0, 2**32 - 1) for cpu in bind]
            cpus = (ctypes.c_uint * len(numbers))(*numbers)
            options.bind, options.cpus, options.cpu_count = 4, cpus, len(numbers)
        options.anticipate = _choice_of(_CHOICES, anticipate, "anticipate")
        options.learn = _choice_of(_CHOICES, learn, "learn")
        options.cpu_separation = _choice_of(_CHOICES, cpu_separation, "cpu_separation")
        options.ledger = _choice_of(_CHOICES, ledger, "ledger")
        end_what_is_left()
        handle = c_void_p()
        check(c.lockstep_team_create(byref(options), byref(handle)))
        finalizer = weakref.finalize(self, end, c.lockstep_team_destroy, handle.value)
        finalizer.atexit = False  # then _at_exit sees to it
        self._keep(handle.value, finalizer)
        _living.add(self)

    def _keep(self, handle, finalizer):
        self._handle, self._finalizer, self._plans = handle, finalizer, weakref.WeakSet()
        #: How many members it has, the caller among them.
        self.size: int = c.lockstep_team_size(handle)

    @property
    def handle(self) -> int:
        """The address of the lockstep_team, for native functions."""
        if self._handle is None:
            raise UseError("lockstep.Team: it is closed")
        return self._handle

    def close(self) -> None:
        """Ends the threads. Requires that no other thread uses the team. Plans on it are closed before."""
        if self._handle is None or self._finalizer is None:
            return
        for plan in list(self._plans):
            plan.close()
        check(c.lockstep_team_destroy(self._handle))
        self._finalizer.detach()
        _living.discard(self)
        self._handle = None
        end_what_is_left()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self):
        return f"<lockstep.Team of {self.size}{' (closed)' if self._handle is None else ''}>"

    # --- regions ---

    def run(
        self, function: Callable[[Member], object] | NativeFunction, context: Context = None, members: int | None = None
    ) -> bool:
        """Calls the function once on every member, or on the first `members` ones; returns when all have returned.

        A native function gets the member and the context; one of lockstep_threads.numba.region the member and the arguments
        that the context is, a tuple; a Python callable a Member. True, or False if the region was
        stopped. Inside a region of the same team it runs on the caller alone.
        """
        function, context, behind = made_for(function, RegionFunction, context)
        call, before = c.lockstep_team_run, (self.handle,)
        if members is not None:
            call, before = c.lockstep_team_run_on, (self.handle, whole(members, "members"))
        is_complete = _run(call, before, function, RegionFunction, _region_of, context, self.request_stop)
        del behind  # not before
        return is_complete

    def region(self, function: NativeFunction, context: Context = None) -> Callable[[], bool]:
        """A callable that runs this native function as run() does, with less to do for each call. It returns True or False.

        The context is read when it is called; both it and the function are kept, and what is kept cannot be resized.
        """
        function, context, behind = made_for(function, RegionFunction, context)
        known = self._native(function, RegionFunction, "region")
        data, kept = context_for(known, context)
        arguments = (c_void_p(self.handle), c_void_p(known.address), c_void_p(data))
        return _prepared(self, c.lockstep_team_run, arguments, (function, context, kept, behind))

    def loop(self, first: int, last: int, function: NativeFunction, context: Context = None) -> Callable[[], bool]:
        """The same for for_blocks()."""
        known = self._native(function, BlockFunction, "loop")
        data, kept = context_for(known, context)
        arguments = (
            c_void_p(self.handle),
            c_int64(index(first, "first")),
            c_int64(index(last, "last")),
            c_void_p(known.address),
            c_void_p(data),
        )
        return _prepared(self, c.lockstep_team_for_range, arguments, (function, context, kept))

    @staticmethod
    def _native(function, kind, what):
        known = native(function, kind)
        if known is None:
            raise ArgumentError(f"lockstep.Team.{what}: is for native functions; give Python callables to run()")
        return known

    def request_stop(self) -> None:
        """Ends the region or loop that runs, if one does. Any thread may call it."""
        check(c.lockstep_team_request_stop(self.handle))

    def pause(self) -> None:
        """Gives the threads back to the system, until resume() or the next region."""
        check(c.lockstep_team_pause(self.handle))

    def resume(self) -> None:
        """Starts them again now."""
        check(c.lockstep_team_resume(self.handle))

    # --- loops and reductions ---

    def for_blocks(
        self,
        first: int,
        last: int,
        function: Callable[[int, int], object] | NativeFunction,
        context: Context = None,
        schedule: Schedule = "static",
        chunk: int | None = None,
    ) -> bool:
        """Calls function(part_first, part_last) for parts that make up [first, last); a native one with the context.

        On as many members as pay, which is learned for each native function. Parts must not wait for each other. `schedule`:
        'static' (chunk: the least length of a part), 'chunks', 'dynamic', 'guided' (chunk: their length, 1 or more).
        True, or False if it was stopped.
        """
        return _run_blocks(
            c.lockstep_team_for_range_by,
            self.request_stop,
            self.handle,
            first,
            last,
            function,
            context,
            schedule,
            chunk,
        )

    @overload
    def reduce(
        self,
        first: int,
        last: int,
        function: Callable[[int, int], int] | NativeFunction,
        context: Context = None,
        *,
        operation: Operation = "sum",
        init: int | None = None,
        dtype: type[int] | Literal["int64", "int"],
    ) -> int: ...
    @overload
    def reduce(
        self,
        first: int,
        last: int,
        function: Callable[[int, int], float] | NativeFunction,
        context: Context = None,
        *,
        operation: Operation = "sum",
        init: float | None = None,
        dtype: type[float] | Literal["float64", "double", "float"] = ...,
    ) -> float: ...
    @overload
    def reduce(
        self,
        first: int,
        last: int,
        function: Callable[[int, int], float] | NativeFunction,
        context: Context = None,
        *,
        operation: Operation = "sum",
        init: float | None = None,
        dtype: Any,
    ) -> Any: ...
    def reduce(self, first, last, function, context=None, *, operation="sum", init=None, dtype=float):
        """`init`, combined with what the function gives for parts of [first, last), in order.

        The parts depend on the length alone, and are combined along a fixed tree: the same bits for every team size and
        run. `operation`: 'sum', 'product', 'min', 'max'; `dtype`: float (double) or int (64 bits, sums wrap around), also by
        NumPy's names (numpy.float64, 'int64').
        A Python callable returns the value of [part_first, part_last); a native one writes it. Raises Stopped if it was
        stopped.
        """
        dtype = _number_type(dtype)
        if dtype is float:
            kind, cell, call = DoubleFunction, c_double, c.lockstep_team_reduce_double
            neutral = {"sum": 0.0, "product": 1.0, "min": float("inf"), "max": float("-inf")}
        else:
            kind, cell, call = Int64Function, c_int64, c.lockstep_team_reduce_int64
            neutral = {"sum": 0, "product": 1, "min": 2**63 - 1, "max": -(2**63)}
        number = _choice_of(_OPERATIONS, operation, "operation")
        if init is None:
            init = neutral[operation]
        elif dtype is int:
            init = index(init, "init")
        result = cell(init)
        before = self.handle, index(first, "first"), index(last, "last"), number
        if not _run(call, before, function, kind, _value_of, context, self.request_stop, (byref(result),)):
            raise Stopped()
        return result.value

    # --- the ledger ---

    def keep_ledger(self, yes: bool = True) -> None:
        """Switches the ledger on or off."""
        check(c.lockstep_team_keep_ledger(self.handle, bool(yes)))

    def ledger_table(self) -> str:
        """Who waited where, how long, and for whom, as a table for terminals."""
        return text_of(c.lockstep_team_ledger_table, self.handle)


def _prepared(team, call, arguments, kept):
    def prepared():
        if team._handle is None:
            raise UseError("lockstep.Team: it is closed")
        code = call(*arguments)
        return True if code == OK else _outcome(code, NO_FAILURES)

    prepared.kept = kept
    return prepared


_default = None
_default_lock = threading.Lock()


def default_team() -> Team:
    """One team for all parts of the process, with native code too. Never closed."""
    global _default
    with _default_lock:
        if _default is None:
            team = Team.__new__(Team)
            team._keep(made(c.lockstep_default_team), None)
            _default = team
        return _default
