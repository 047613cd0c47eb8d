# SPDX-License-Identifier: MIT
"""Graphs: which piece of work comes before which. Plans: which member runs which piece when."""

from __future__ import annotations

import threading
import weakref
from ctypes import byref, c_size_t
from typing import TYPE_CHECKING

from ._errors import UseError
from ._functions import NO_FAILURES, Failures, NodeFunction, TestFunction, WideFunction, context_for, native
from ._library import Handle, c, check, encoded, end, made, nanoseconds, quick, text_of, whole
from ._team import Callback, Shared, _outcome, call_as_member

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._team import Member, Team
    from ._types import Context, NativeFunction


def _node(number):
    return whole(number, "a node")


class Graph(Handle):
    """Nodes, edges between them, loops and feedback; a Plan runs it. One thread at a time builds it.

    Nodes are numbers, as the functions that make them return them. Functions are native ones with a context, or Python
    callables, which hold the interpreter lock.
    """

    def __init__(self) -> None:
        self._handle = made(c.lockstep_graph_create)
        self._kept, self._failures, self._one_run = [], Failures(), threading.Lock()
        self._has_callables, self._shared = False, []
        self._finalizer = weakref.finalize(self, end, c.lockstep_graph_destroy, self._handle)
        self._finalizer.atexit = False

    def __len__(self) -> int:
        return c.lockstep_graph_size(self._handle)

    def _add(self, make, name, function, kind, call, context, *more):
        name = encoded(name, "the name of a node")
        callback = native(function, kind)
        if callback is None:
            callback = Callback(kind, call, self._failures)
            self._has_callables = True
        data, kept = context_for(callback, context)
        self._kept.append((function, context, callback, kept))
        number = c_size_t()
        check(make(self._handle, name, *more, callback.address, data, byref(number)))
        return number.value

    def node(self, name: str, function: Callable[[int], object] | NativeFunction, context: Context = None) -> int:
        """Adds a node: function(iteration). Its number."""
        failures = self._failures

        def call(iteration, _context):
            return failures.call(0, function, iteration)

        return self._add(c.lockstep_graph_node, name, function, NodeFunction, call, context)

    def test(self, name: str, function: Callable[[int], object] | NativeFunction, context: Context = None) -> int:
        """Adds a node that decides: function(iteration) is true or false. Its number."""
        failures = self._failures

        def store(iteration, answer):
            answer[0] = bool(function(iteration))

        def call(iteration, answer, _context):
            return failures.call(0, store, iteration, answer)

        return self._add(c.lockstep_graph_test, name, function, TestFunction, call, context)

    def wide_node(
        self, name: str, function: Callable[[Member, int], object] | NativeFunction, width: int = 0, context: Context = None
    ) -> int:
        """Adds a node that `width` members run together, 0: all: function(member, iteration). Its number."""
        failures, shared = self._failures, Shared()  # a node never runs beside itself
        self._shared.append(shared)

        def call(handle, iteration, _context):
            return failures.call(quick.lockstep_member_rank(handle), call_as_member, handle, shared, function, iteration)

        return self._add(
            c.lockstep_graph_wide_node, name, function, WideFunction, call, context, whole(width, "the width of a node")
        )

    def edge(self, before: int, after: int) -> None:
        """What `before` does happens before `after`."""
        check(c.lockstep_graph_edge(self._handle, _node(before), _node(after)))

    def edge_if(self, test: int, after: int) -> None:
        """The same, and `after` is skipped where `test` gives false."""
        check(c.lockstep_graph_edge_if(self._handle, _node(test), _node(after)))

    def edge_unless(self, test: int, after: int) -> None:
        """The same, and `after` is skipped where `test` gives true."""
        check(c.lockstep_graph_edge_unless(self._handle, _node(test), _node(after)))

    def repeat_while(self, test: int, first: int) -> None:
        """All nodes on ways from `first` to `test` run again while `test` gives true."""
        check(c.lockstep_graph_repeat_while(self._handle, _node(test), _node(first)))

    def feedback(self, before: int, after: int, delay: int) -> None:
        """Iteration i of `after` comes after iteration i - delay of `before`."""
        check(c.lockstep_graph_feedback(self._handle, _node(before), _node(after), whole(delay, "the delay")))

    def channel(self, before: int, after: int, depth: int) -> None:
        """An edge that lets iterations overlap: `before` is up to `depth` iterations ahead of `after`.

        Iteration i of both uses place i % depth of what they share.
        """
        check(c.lockstep_graph_channel(self._handle, _node(before), _node(after), whole(depth, "the depth")))

    def overlap(self) -> None:
        """Iterations overlap as far as feedback and channels allow; without it they come one after the other."""
        check(c.lockstep_graph_overlap(self._handle))

    def cost(self, node: int, seconds: float) -> None:
        """How long the node takes: a hint."""
        check(c.lockstep_graph_cost(self._handle, _node(node), nanoseconds(seconds)))

    def pin(self, node: int, rank: int) -> None:
        """Only the member of this rank runs it."""
        check(c.lockstep_graph_pin(self._handle, _node(node), whole(rank, "the rank")))

    def dot(self) -> str:
        """A text for Graphviz."""
        return text_of(c.lockstep_graph_dot, self._handle)


class Plan(Handle):
    """A graph on a team: which member runs which node when. Keeps both alive. One thread at a time uses it."""

    def __init__(self, graph: Graph, team: Team, members: int = 0) -> None:
        members = whole(members, "members")
        self._graph, self._team = graph, team
        self._handle = made(c.lockstep_plan_create, graph._handle, team.handle, members)
        self._finalizer = weakref.finalize(self, end, c.lockstep_plan_destroy, self._handle)
        self._finalizer.atexit = False
        team._plans.add(self)

    def close(self) -> None:
        """Ends it. UseError while it runs."""
        if self._handle is not None:
            check(c.lockstep_plan_destroy(self._handle))
            self._finalizer.detach()
            self._handle = None

    @property
    def _open(self):
        if self._handle is None:
            raise UseError("lockstep.Plan: it is closed")
        return self._handle

    def run(self, iterations: int = 1) -> bool:
        """Runs so many iterations. True, or False if it was stopped. Raises what a callable raised; the plan may be run again.

        UseError while a plan of this graph runs.
        """
        iterations = whole(iterations, "iterations")
        if not self._graph._one_run.acquire(blocking=False):
            raise UseError("lockstep.Plan.run: a plan of this graph runs; one at a time")
        try:
            failures = NO_FAILURES
            if self._graph._has_callables:
                failures = self._graph._failures
                failures.stop = self.request_stop
                for each in self._graph._shared:
                    each.forget()  # a run that ended early
            with failures:
                code = c.lockstep_plan_run(self._open, iterations)
            return _outcome(code, failures)
        finally:
            self._graph._one_run.release()

    def request_stop(self) -> None:
        """Ends the run, if there is one. Any thread may call it."""
        check(c.lockstep_plan_request_stop(self._open))

    @property
    def members(self) -> int:
        """How many members it uses."""
        return c.lockstep_plan_members(self._open)

    def text(self) -> str:
        """The plan, line by line: for each member its nodes and waits."""
        return text_of(c.lockstep_plan_text, self._open)

    def report(self) -> str:
        """What is predicted and measured, and where time is lost."""
        return text_of(c.lockstep_plan_report, self._open)
