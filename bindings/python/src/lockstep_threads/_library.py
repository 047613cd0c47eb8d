# SPDX-License-Identifier: MIT
"""Loads liblockstep_c and declares its functions. Calls by `c` release the interpreter lock; those by `quick` do not."""

import collections
import ctypes
import operator
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path

from ._errors import ArgumentError, OK, USE, error_of

C_MAJOR = 1  # LOCKSTEP_C_VERSION_MAJOR of the header that this file was written by

if sys.platform == "win32":
    _NAME = "lockstep_c.dll"
elif sys.platform == "darwin":
    _NAME = f"liblockstep_c.{C_MAJOR}.dylib"
else:
    _NAME = f"liblockstep_c.so.{C_MAJOR}"


def _find():
    said = os.environ.get("LOCKSTEP_C_LIBRARY")
    if said:
        if not Path(said).is_file():
            raise ImportError(f"lockstep: LOCKSTEP_C_LIBRARY names {said}, which is not there")
        return said
    carried = Path(__file__).with_name(_NAME)
    return str(carried) if carried.is_file() else _NAME


library_path: str = _find()
try:
    c = ctypes.CDLL(library_path)
except OSError as error:
    raise ImportError(
        f"lockstep: cannot load {library_path}: {error}. The wheel carries the library; from a source tree build it "
        "(./do bindings python) and let LOCKSTEP_C_LIBRARY name it"
    ) from error
quick = ctypes.PyDLL(library_path)


class TeamOptions(ctypes.Structure):
    """lockstep_team_options."""

    _fields_ = [
        ("size", c_size_t),
        ("members", c_size_t),
        ("policy", c_int64),
        ("name", c_char_p),
        ("cpus", POINTER(c_uint)),
        ("cpu_count", c_size_t),
        ("bind", c_int32),
        ("anticipate", c_int32),
        ("learn", c_int32),
        ("cpu_separation", c_int32),
        ("ledger", c_int32),
        ("reserved", c_int32),
        ("on_start", c_void_p),
        ("on_exit", c_void_p),
        ("hook_context", c_void_p),
    ]


_P, _PP, _TEXT = c_void_p, POINTER(c_void_p), [c_char_p, c_size_t, POINTER(c_size_t)]
_LOOP = [_P, c_int64, c_int64]

# Results and parameters, and the functions of lockstep.h that have them, which tests/test_library.py compares.
_TYPES = (
    (None, [_P], "event_destroy mutex_destroy barrier_destroy"),
    (c_char_p, [], "last_error version"),
    (c_size_t, [], "usable_cpus"),
    (c_size_t, [_P], "team_size member_rank member_size graph_size plan_members"),
    (c_int, [], "c_version"),
    (c_int, _TEXT, "build_info"),
    (c_int, [_P, *_TEXT], "team_ledger_table graph_dot plan_text plan_report"),
    (c_int, [c_int64, _P, _P], "poll_while_waiting"),
    (c_int, [POINTER(TeamOptions), c_size_t], "team_options_init"),
    (c_int, [POINTER(TeamOptions), _PP], "team_create"),
    (c_int, [_PP], "default_team graph_create"),
    (c_int, [c_int64, _PP], "event_create mutex_create"),
    (c_int, [c_size_t, c_int64, _PP], "barrier_create"),
    (c_int, [_P, _P, c_size_t, _PP], "plan_create"),
    (c_int, [_P], "team_destroy team_request_stop team_pause team_resume graph_destroy graph_overlap plan_destroy"),
    (c_int, [_P], "plan_request_stop member_sync_threads member_stop_requested member_request_stop"),
    (c_int, [_P], "event_notify event_try_wait event_terminate mutex_try_lock mutex_unlock"),
    (c_int, [_P, c_int], "team_keep_ledger"),
    (c_int, [_P, c_int64], "event_wait_for mutex_lock_for"),
    (c_int, [_P, POINTER(c_uint64)], "barrier_arrive"),
    (c_int, [_P, c_uint64, c_int64], "barrier_wait_for"),
    (c_int, [_P, _P, _P], "team_run"),
    (c_int, [_P, c_size_t, _P, _P], "team_run_on"),
    (c_int, [*_LOOP, _P, _P], "team_for_range"),
    (c_int, [*_LOOP, c_int, c_size_t, _P, _P], "team_for_range_by member_for_range member_for_range_nowait"),
    (c_int, [*_LOOP, c_int, _P, _P, POINTER(c_double)], "team_reduce_double"),
    (c_int, [*_LOOP, c_int, _P, _P, POINTER(c_int64)], "team_reduce_int64"),
    (c_int, [*_LOOP, POINTER(c_int64), POINTER(c_int64)], "member_block"),
    (c_int, [_P, c_size_t], "member_publish plan_run"),
    (c_int, [_P, c_size_t, c_size_t], "member_await_step graph_edge graph_edge_if graph_edge_unless graph_repeat_while graph_pin"),
    (c_int, [_P, c_size_t, c_size_t, c_size_t], "graph_feedback graph_channel"),
    (c_int, [_P, c_size_t, c_int64], "graph_cost"),
    (c_int, [_P, c_char_p, _P, _P, POINTER(c_size_t)], "graph_node graph_test"),
    (c_int, [_P, c_char_p, c_size_t, _P, _P, POINTER(c_size_t)], "graph_wide_node"),
)
FUNCTIONS = {f"lockstep_{name}": (result, types) for result, types, names in _TYPES for name in names.split()}


def _declare(library):
    for name, (result, parameters) in FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"lockstep: {library_path} has no {name}: it is older than this package") from None
        function.restype, function.argtypes = result, parameters


_declare(c)
_declare(quick)

c_version: int = quick.lockstep_c_version()
if c_version // 1000 != C_MAJOR:
    raise ImportError(
        f"lockstep: {library_path} has version {c_version} of the C interface; this package needs {C_MAJOR}xxx"
    )


def last_error():
    """The text of the last failure on this thread."""
    return quick.lockstep_last_error().decode("utf-8", "replace")


def check(code):
    """Raises the exception that the code stands for, unless it is LOCKSTEP_OK."""
    if code != OK:
        raise error_of(code, last_error())


def text_of(function, *arguments):
    """A text that the library writes into a buffer; it may grow between two calls."""
    capacity = 1024
    while True:
        buffer, length = ctypes.create_string_buffer(capacity), c_size_t()
        check(function(*arguments, buffer, capacity, byref(length)))
        if length.value < capacity:
            return buffer.value.decode("utf-8", "replace")
        capacity = length.value + 1


def made(function, *arguments):
    """The address of what a _create function makes."""
    handle = c_void_p()
    check(function(*arguments, byref(handle)))
    return handle.value


class Handle:
    """What stands for an object of the library: a copy would be a second owner, and another process has no such object."""

    __slots__ = ()

    def __reduce_ex__(self, protocol):
        raise TypeError(
            f"lockstep.{type(self).__name__} cannot be copied or pickled: it stands for an object of this process; "
            "hand the object itself to threads, and make one of its own in each process"
        )


# What could not be ended when nobody had it any more: function of C, handle.
_left: collections.deque = collections.deque()


def end(destroy, handle):
    """Ends an object for its finalizer. The collector has no order, and comes at any time: a team may be in use by a plan
    that is collected after it, or the thread be in a region of another team. Then it is ended later."""
    _left.append((destroy, handle))
    end_what_is_left()


def end_what_is_left():
    """Also called at the ends of regions and of teams."""
    tries = len(_left)
    while tries > 0:
        try:
            destroy, handle = _left.popleft()
        except IndexError:  # by another thread
            return
        tries -= 1
        if destroy(handle) == USE:
            _left.append((destroy, handle))
        else:
            tries = len(_left)  # what it used may go now


def version() -> str:
    """The version of the lockstep library, for instance "0.9.0"."""
    return quick.lockstep_version().decode()


def build_info() -> dict[str, str]:
    """How the library was built and what it found here: a dictionary of texts."""
    lines = text_of(c.lockstep_build_info).splitlines()
    return {name: value for name, separator, value in (line.partition(": ") for line in lines) if separator}


def usable_cpus() -> int:
    """On how many CPUs the process may run: affinity, cut by a container's quota."""
    return quick.lockstep_usable_cpus()


LARGEST = 2**63 - 1  # of int64_t; for size_t more is refused as well


def whole(value, what, least=0, most=LARGEST):
    """A whole number of that range, which ctypes would cut to its lowest bits."""
    if type(value) is not int:
        try:
            value = operator.index(value)
        except TypeError:
            raise ArgumentError(f"lockstep: {what} is {value!r}, must be a whole number") from None
    if not least <= value <= most:
        raise ArgumentError(f"lockstep: {what} is {value}, must be {least} to {most}")
    return value


def index(value, what):
    """A bound of a range."""
    return whole(value, what, -LARGEST - 1)


def encoded(text, what):
    """A text as C wants it."""
    if not isinstance(text, str) or "\0" in text:
        raise ArgumentError(f"lockstep: {what} is {text!r}, must be a str without a zero character")
    return text.encode()


FOREVER = LARGEST
_POLICIES = {"adaptive": -1, "spin": -2, "block": -3}


def policy_of(said):
    """A policy as a number. It is given as one of the words, or as the seconds for which a thread spins before it sleeps."""
    if said is None:
        return 0
    if isinstance(said, str) and said in _POLICIES:
        return _POLICIES[said]
    if isinstance(said, (int, float)) and not isinstance(said, bool) and said > 0:
        return max(1, nanoseconds(said))
    raise ArgumentError(f"lockstep: no policy {said!r}: None, 'adaptive', 'spin', 'block', or seconds to spin")


def nanoseconds(seconds):
    """None, and more than 292 years, is for ever; negative numbers are 0."""
    if seconds is None:
        return FOREVER
    try:
        if seconds >= 9.2e9:
            return FOREVER
        return 0 if seconds < 0 else int(seconds * 1e9)
    except (TypeError, ValueError):  # a NaN is a ValueError
        raise ArgumentError(f"lockstep: a time of {seconds!r} seconds, must be a number, or None for ever") from None
