# SPDX-License-Identifier: MIT
"""Coordinates CPU threads at sub-microsecond grain.

A Team has threads that start once. Its regions, loops and reductions run native functions (C, Numba's @cfunc, Cython)
without the interpreter lock, and Python callables with it. See README.md, and help(lockstep.Team).
"""

from ._errors import (
    ArgumentError,
    CallbackError,
    ContextTypeError,
    Error,
    GraphError,
    OutOfMemory,
    Stopped,
    SystemRefused,
    UseError,
)
from ._functions import (
    BlockFunction,
    DoubleFunction,
    Int64Function,
    Native,
    NodeFunction,
    RegionFunction,
    TestFunction,
    WideFunction,
)
from ._graph import Graph, Plan
from ._library import build_info, c_version, library_path, usable_cpus, version
from ._objects import Barrier, Event, Mutex
from ._team import Member, Team, default_team

__version__: str = version()

__all__ = [
    "ArgumentError",
    "Barrier",
    "BlockFunction",
    "CallbackError",
    "ContextTypeError",
    "DoubleFunction",
    "Error",
    "Event",
    "Graph",
    "GraphError",
    "Int64Function",
    "Member",
    "Mutex",
    "Native",
    "NodeFunction",
    "OutOfMemory",
    "Plan",
    "RegionFunction",
    "Stopped",
    "SystemRefused",
    "Team",
    "TestFunction",
    "UseError",
    "WideFunction",
    "build_info",
    "c_version",
    "default_team",
    "library_path",
    "usable_cpus",
    "version",
]
