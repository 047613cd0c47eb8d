# SPDX-License-Identifier: MIT
"""Regions that Numba compiles: the function is given, no signature and no declaration.

    from lockstep_threads.numba import region, block, sync_max

    @region
    def solve(me, x, y, tolerance):
        first, last = block(me, 1, x.size - 1)
        ...
        if sync_max(me, change) < tolerance: ...

    team.run(solve, (x, y, 1e-6))

`me` is the member, for the functions of this module; the others are the arrays and numbers of the context. It is compiled
for their types when it is first run with them. What it returns is not looked at. A member that waits in a region that is
stopped leaves the function; so does one that raises an exception, and run() raises CallbackError then.
"""

import ctypes
import functools

import llvmlite.binding
import numba
import numpy
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ._errors import ArgumentError, STOPPED
from ._functions import RegionFunction, context_of
from ._library import c

__all__ = [
    "await_step",
    "block",
    "publish",
    "rank",
    "region",
    "request_stop",
    "size",
    "stop_requested",
    "sync_count",
    "sync_max",
    "sync_min",
    "sync_sum",
    "sync_threads",
]

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_OF = {_INT: types.int32, _LONG: types.int64, _DOUBLE: types.float64}


def _function(name, result, parameters, outputs=()):
    """A function of the library for compiled code: f(me, *parameters) -> result, or with outputs (code, *outputs).

    What it writes by pointers is returned, and nobody else sees it.
    """
    llvmlite.binding.add_symbol(name, ctypes.cast(getattr(c, name), ctypes.c_void_p).value)
    pointer = cgutils.voidptr_t
    type_ = ir.FunctionType(result, [pointer, *parameters, *(each.as_pointer() for each in outputs)])
    gives = types.Tuple([_OF[result], *(_OF[each] for each in outputs)]) if outputs else _OF[result]

    def code(context, builder, signature, arguments):
        me, given = arguments[0], list(cgutils.unpack_tuple(builder, arguments[1])) if parameters else []
        rooms = [cgutils.alloca_once(builder, each) for each in outputs]
        function = cgutils.get_or_insert_function(builder.module, type_, name)
        value = builder.call(function, [me, *given, *rooms])
        if not outputs:
            return value
        return context.make_tuple(builder, signature.return_type, [value, *(builder.load(room) for room in rooms)])

    wanted = types.Tuple([_OF[each] for each in parameters])

    @intrinsic
    def call(typing_context, me, given):
        return gives(types.voidptr, wanted), code

    return call


class Left(Exception):
    """How a member leaves a region that is stopped."""


_rank = _function("lockstep_member_rank", _LONG, [])
_size = _function("lockstep_member_size", _LONG, [])
_stop_requested = _function("lockstep_member_stop_requested", _INT, [])
_request_stop = _function("lockstep_member_request_stop", _INT, [])
_sync_threads = _function("lockstep_member_sync_threads", _INT, [])
_sync_double = _function("lockstep_member_sync_double", _INT, [_INT, _DOUBLE], [_DOUBLE])
_sync_int64 = _function("lockstep_member_sync_int64", _INT, [_INT, _LONG], [_LONG])
_block = _function("lockstep_member_block", _INT, [_LONG, _LONG], [_LONG, _LONG])
_publish = _function("lockstep_member_publish", _INT, [_LONG])
_await_step = _function("lockstep_member_await_step", _INT, [_LONG, _LONG])


@numba.njit
def rank(me):
    """0 to size(me) - 1."""
    return _rank(me, ())


@numba.njit
def size(me):
    """How many members the region has."""
    return _size(me, ())


@numba.njit
def stop_requested(me):
    return _stop_requested(me, ()) != 0


@numba.njit
def request_stop(me):
    """Ends the region: run() returns False."""
    _request_stop(me, ())


@numba.njit
def sync_threads(me):
    """Blocks until every member has called it as often as this one."""
    if _sync_threads(me, ()) != 0:
        raise Left


@numba.njit
def block(me, first, last):
    """The part of [first, last) that is this member's: where it begins, and where it ends."""
    code, begin, end = _block(me, (numpy.int64(first), numpy.int64(last)))
    if code != 0:
        raise ValueError
    return begin, end


@numba.njit
def publish(me, step):
    """This member has finished `step`, and all before it."""
    if _publish(me, (numpy.int64(step),)) != 0:
        raise ValueError


@numba.njit
def await_step(me, rank, step):
    """Blocks until member `rank` has published `step` or more."""
    if _await_step(me, (numpy.int64(rank), numpy.int64(step))) != 0:
        raise Left


def _reduction(operation, says):
    """A function of members and a value: with floats of doubles, with integers of int64."""

    def reduce(me, value):
        raise NotImplementedError

    def of_floats(me, value):
        code, result = _sync_double(me, (numpy.int32(operation), numpy.float64(value)))
        if code != 0:
            raise Left
        return result

    def of_integers(me, value):
        code, result = _sync_int64(me, (numpy.int32(operation), numpy.int64(value)))
        if code != 0:
            raise Left
        return result

    @numba.extending.overload(reduce)
    def choose(me, value):
        return of_integers if isinstance(value, (types.Integer, types.Boolean)) else of_floats

    def call(me, value):
        return reduce(me, value)

    call.__name__, call.__doc__ = says
    return numba.njit(call)


sync_sum = _reduction(0, ("sync_sum", "A barrier, and the sum of the values of all members, on each of them."))
sync_min = _reduction(2, ("sync_min", "The same with the least value."))
sync_max = _reduction(3, ("sync_max", "The same with the greatest value."))


@numba.njit
def sync_count(me, condition):
    """How many members gave something true."""
    return sync_sum(me, 1 if condition else 0)


@intrinsic
def _as_pointer(typing_context, address):
    def code(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), code


class region:
    """Makes a native region of a function: see the top of the module."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._kernel, self._made = numba.njit(nogil=True)(function), {}

    def __call__(self, *_):
        raise ArgumentError(f"lockstep: {self.__name__} is a region: give it to Team.run or Team.region, with its arguments")

    def __lockstep_native__(self, kind, arguments):
        """What Team.run asks for: the compiled function; its context, words of 8 bytes; and what lies behind them."""
        if kind is not RegionFunction:
            raise ArgumentError(f"lockstep: {self.__name__} is a region: give it to Team.run or Team.region")
        if arguments is None:
            arguments = ()
        if not isinstance(arguments, tuple):
            arguments = (arguments,)
        words, kept, said = [], [], []
        for each in arguments:
            if isinstance(each, numpy.ndarray):
                address, holds = context_of(each)
                order = "C" if each.flags.c_contiguous else "F"
                if each.dtype.kind == "O":
                    raise ArgumentError("lockstep: an array of Python objects; compiled code takes plain numbers")
                words += [address or 0, *each.shape]
                kept += [holds, each]
                said.append((each.dtype, each.ndim, order))
            elif isinstance(each, (bool, int, numpy.integer, numpy.bool_)):
                words.append(int(each))
                said.append("int64")
            elif isinstance(each, (float, numpy.floating)):
                words.append(int(numpy.float64(each).view(numpy.int64)))
                said.append("float64")
            else:
                raise ArgumentError(f"lockstep: {self.__name__} was given {each!r}: it takes arrays and numbers")
        key = tuple(said)
        if key not in self._made:
            self._made[key] = self._compile(key)
        context = (ctypes.c_int64 * max(1, len(words)))(*words)
        return self._made[key], context, kept

    def _compile(self, said):
        """A function of C that takes the words apart."""
        names = {"kernel": self._kernel, "carray": numba.carray, "farray": numba.farray, "pointer": _as_pointer}
        names |= {"numpy": numpy, "stop_requested": stop_requested}
        arguments, at = [], 0
        for number, each in enumerate(said):
            if each == "int64":
                arguments.append(f"words[{at}]")
                at += 1
            elif each == "float64":
                arguments.append(f"words[{at}:{at + 1}].view(numpy.float64)[0]")
                at += 1
            else:
                dtype, dimensions, order = each
                names[f"dtype{number}"] = dtype
                shape = ", ".join(f"words[{at + 1 + i}]" for i in range(dimensions))
                make = "carray" if order == "C" else "farray"
                arguments.append(f"{make}(pointer(words[{at}]), ({shape},), dtype{number})")
                at += 1 + dimensions
        source = f"""
def entry(me, context):
    words = carray(context, {max(1, at)})
    try:
        kernel({", ".join(["me", *arguments])})
    except Exception:
        return {STOPPED} if stop_requested(me) else 1
    return 0
"""
        exec(source, names)  # as many arguments as there are
        return numba.cfunc(types.intc(types.voidptr, types.CPointer(types.int64)))(names["entry"])
