# SPDX-License-Identifier: MIT
"""What can be run: native functions, which need no interpreter lock, and Python callables, which hold it."""

from __future__ import annotations

import ctypes
import functools
import signal
import threading
import time
import weakref
from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import TYPE_CHECKING

from ._errors import ArgumentError, ContextTypeError, OK, RAISED, STOPPED, Stopped
from ._library import Handle, end_what_is_left, quick, whole

if TYPE_CHECKING:
    from typing import Any

#: int (lockstep_member*, void* context): the function of a region.
RegionFunction: Any = CFUNCTYPE(c_int, c_void_p, c_void_p)
#: int (int64_t first, int64_t last, void* context): of a loop.
BlockFunction: Any = CFUNCTYPE(c_int, c_int64, c_int64, c_void_p)
#: int (int64_t first, int64_t last, double* value, void* context): of a reduction of float.
DoubleFunction: Any = CFUNCTYPE(c_int, c_int64, c_int64, POINTER(c_double), c_void_p)
#: int (int64_t first, int64_t last, int64_t* value, void* context): of a reduction of int.
Int64Function: Any = CFUNCTYPE(c_int, c_int64, c_int64, POINTER(c_int64), c_void_p)
#: int (size_t iteration, void* context): of a node.
NodeFunction: Any = CFUNCTYPE(c_int, c_size_t, c_void_p)
#: int (size_t iteration, int* answer, void* context): of a node that decides.
TestFunction: Any = CFUNCTYPE(c_int, c_size_t, POINTER(c_int), c_void_p)
#: int (lockstep_member*, size_t iteration, void* context): of a node that several members run.
WideFunction: Any = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p)

_POINTER = getattr(ctypes, "_CFuncPtr")  # the base of all function pointers of ctypes

_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Native(Handle):
    """A native function by its address. `owner` is kept alive with it.

    Nobody can check what is at an address: it must be a function of the type that is called for.
    """

    __slots__ = ("address", "owner")

    def __init__(self, address: int, owner: object = None) -> None:
        if not isinstance(address, int) or not 0 < address < 2 ** (8 * ctypes.sizeof(c_void_p)):
            raise ArgumentError(f"lockstep.Native: {address!r} is no address of a function")
        self.address, self.owner = address, owner


class _Checked:
    """What is known of a native function that fits a kind: its address, and the type of the numbers of its context."""

    __slots__ = ("address", "dtype", "element", "function", "said")

    def __init__(self, address, element=None):
        self.address = address
        #: Kind and size of the numbers behind the last pointer, as _kind_of() has it; None: not said.
        self.element = element
        #: The last dtype of NumPy, or type of ctypes, that fitted.
        self.dtype = None
        self.function = self.said = None


# By id() and kind, as long as the function lives: what ctypes and Numba know of a function is slow to ask.
_checked: dict = {}


def native(function, kind):
    """What is known of a native function; None for a Python callable."""
    key = id(function), kind
    known = _checked.get(key)
    if known is not None and known.function() is function:
        if known.said is None or (function.argtypes is known.said[0] and function.restype is known.said[1]):
            return known
    found = _look_at(function, kind)
    if found is not None:
        try:
            found.function = weakref.ref(function, lambda _: _checked.pop(key, None))
        except TypeError:  # a capsule
            return found
        if isinstance(function, _POINTER):
            found.said = function.argtypes, function.restype  # they may be said later
        _checked[key] = found
    return found


def made_for(function, kind, context):
    """Function, context, and None. For a lockstep_threads.numba.region: what it makes of both, and what has to live meanwhile."""
    make = getattr(type(function), "__lockstep_native__", None)
    return (function, context, None) if make is None else make(function, kind, context)


def _look_at(function, kind):
    if isinstance(function, _POINTER):
        address = ctypes.cast(function, c_void_p).value
        if address is None:
            raise ArgumentError("lockstep: this function pointer is null")
        if isinstance(function, kind):
            return _Checked(address)
        _check_types(function.argtypes, function.restype, kind)
        return _Checked(address, _element_behind(function.argtypes))
    if type(function).__name__ == "PyCapsule":
        return _look_in(function, kind)
    if isinstance(function, Native):
        return _Checked(function.address)
    if type(function).__module__.split(".")[0] == "numba" and hasattr(function, "native_name"):  # of numba.cfunc
        return _Checked(function.address, _check_numba(function, kind))
    if callable(function):
        return None
    raise ArgumentError(
        f"lockstep: {function!r} is no function: give a Python callable, a function pointer of ctypes, what numba.cfunc "
        "makes, a function of a Cython module's __pyx_capi__, or lockstep.Native(address)"
    )


def _check_numba(function, kind):
    try:
        prototype = function.ctypes
    except Exception:  # it has a type that ctypes does not know
        return None
    _check_types(prototype.argtypes, prototype.restype, kind)
    return _element_behind(prototype.argtypes)


def _is_pointer(type_):
    return issubclass(type_, (ctypes._Pointer, _POINTER, c_void_p, ctypes.c_char_p, ctypes.c_wchar_p))


def _is_whole(type_, size):
    return issubclass(type_, ctypes._SimpleCData) and type_._type_ in "bBhHiIlLqQ" and ctypes.sizeof(type_) == size


def _fits(said, wanted):
    """Whether a parameter of the type `said` takes what is passed as `wanted`."""
    if not isinstance(said, type) or not issubclass(said, (ctypes._SimpleCData, ctypes._Pointer, _POINTER)):
        return True  # with a from_param of its own, as numpy.ctypeslib.ndpointer
    if not _is_pointer(wanted):
        return _is_whole(said, ctypes.sizeof(wanted))
    if issubclass(wanted, ctypes._Pointer) and issubclass(said, ctypes._Pointer):
        to, wanted_to = said._type_, wanted._type_
        if wanted_to is c_double:
            return to is c_double
        return _is_whole(to, ctypes.sizeof(wanted_to))
    return _is_pointer(said)


def _check_types(parameters, result, kind):
    """Refuses a function that ctypes knows to have other types than the kind."""
    if result is not c_int and not (isinstance(result, type) and _is_whole(result, ctypes.sizeof(c_int))):
        what = "nothing" if result is None else getattr(result, "__name__", repr(result))
        raise ArgumentError(f"lockstep: this function returns {what}; one that returns int (intc, int32) is called for")
    if parameters is None:
        return  # not said
    if len(parameters) != len(kind._argtypes_):
        raise ArgumentError(
            f"lockstep: this function has {len(parameters)} parameters; one with {len(kind._argtypes_)} is called for"
        )
    for place, (said, wanted) in enumerate(zip(parameters, kind._argtypes_), 1):
        if not _fits(said, wanted):
            raise ArgumentError(
                f"lockstep: parameter {place} of this function is {said.__name__}; {wanted.__name__} is called for"
            )


# A number is 'f' or 'i' and a size: the sign is nobody's business. Other types have NumPy's letter.


def _kind_of(type_):
    """Kind and size of a type of ctypes that is a number; None for others."""
    while issubclass(type_, ctypes.Array):
        type_ = type_._type_
    if not issubclass(type_, ctypes._SimpleCData) or type_._type_ in "zZP":
        return None
    if type_._type_ == "O":
        return "O", ctypes.sizeof(type_)
    return ("f" if type_._type_ in "fdg" else "i"), ctypes.sizeof(type_)


def _element_behind(parameters):
    """What the last parameter, the context, points to."""
    said = parameters[-1] if parameters else None
    if not isinstance(said, type):
        return None
    if hasattr(said, "_dtype_"):  # numpy.ctypeslib.ndpointer
        return None if said._dtype_ is None else _kind_of_dtype(said._dtype_)
    if issubclass(said, ctypes._Pointer) and isinstance(said._type_, type):
        return _kind_of(said._type_)
    return None


def _kind_of_dtype(dtype):
    kind = dtype.kind
    return ("i" if kind in "iubmM" else kind), dtype.itemsize


def _kind_of_context(context):
    """Kind and size of the numbers of a context; None where it does not say."""
    if isinstance(context, ctypes._Pointer):
        return _kind_of(context._type_)
    if isinstance(context, (ctypes.Array, ctypes._SimpleCData)):
        return _kind_of(type(context))
    if isinstance(context, (ctypes.Structure, ctypes.Union)):
        return None
    dtype = getattr(context, "dtype", None)
    if hasattr(dtype, "itemsize") and hasattr(dtype, "kind"):
        return _kind_of_dtype(dtype)
    try:
        with memoryview(context) as view:
            letter, size = view.format.lstrip("@=<"), view.itemsize
    except (TypeError, ValueError):
        return None
    if letter in ("b", "B", "c"):
        return None  # bytes may hold anything
    return ("f" if letter in ("f", "d", "g", "e") else "i" if letter in list("hHiIlLqQnN?") else letter), size


_NAMES = {("f", 4): "float", ("f", 8): "double"}


def _text_of(kind):
    letter, size = kind
    return _NAMES.get(kind) or (f"integers of {8 * size} bits" if letter == "i" else f"'{letter}' of {size} bytes")


def context_for(checked, context):
    """As context_of(), for that function. Refuses numbers of another type than those that it points to."""
    if context is None:
        return None, None
    dtype = getattr(context, "dtype", None)
    if dtype is None:
        dtype = type(context)  # of ctypes that says all
    if dtype is checked.dtype:
        try:
            view = _NO_BYTES.from_buffer(context)
            return ctypes.addressof(view), view
        except (TypeError, ValueError, BufferError):
            return context_of(context)
    kind, element = None if isinstance(context, int) else _kind_of_context(context), checked.element
    if kind is not None:
        if kind[0] == "O":
            raise ContextTypeError("lockstep: the context has Python objects; a native function takes plain numbers")
        if element is not None and kind != element:
            raise ContextTypeError(
                f"lockstep: the numbers of the context are {_text_of(kind)}; this function takes {_text_of(element)}: "
                "convert them (x.astype), or give the address where this is meant"
            )
    result = context_of(context)
    if hasattr(dtype, "itemsize") or isinstance(context, (ctypes.Array, ctypes.Structure)):
        checked.dtype = dtype
    return result


# What C calls the numbers that Cython passes, or has pointers to. Of other types nothing is known.
_OF_C = {"double": c_double, "float": ctypes.c_float, "int": c_int, "long": ctypes.c_long, "long long": ctypes.c_longlong}
_OF_C |= {name: c_int64 for name in ("int64_t", "uint64_t")} | {name: ctypes.c_int32 for name in ("int32_t", "uint32_t")}
_OF_C |= {name: c_size_t for name in ("size_t", "Py_ssize_t")}


def _type_of_c(text):
    """The text of a parameter as a type of ctypes; None where that is not known."""
    to = _OF_C.get(text.rstrip("*").replace("const ", "").strip())
    if not text.endswith("*"):
        return to
    return c_void_p if to is None else POINTER(to)


@functools.lru_cache(maxsize=256)
def _check_cython(name, kind):
    signature = (name or b"").decode("utf-8", "replace")
    result, _, parameters = signature.rstrip(")").partition(" (")
    types = [_type_of_c(each.strip()) for each in parameters.split(",")]
    try:
        _check_types(types, _OF_C.get(result), kind)
    except ArgumentError as error:
        raise ArgumentError(f"{error} (the capsule has a function '{signature}')") from None
    return _element_behind(types)


def _look_in(capsule, kind):
    """A function of Cython's: the name of its capsule is its type."""
    name = _capsule_name(capsule)
    element = _check_cython(name, kind)
    return _Checked(_capsule_pointer(capsule, name), element)


_NO_BYTES = ctypes.c_char * 0


def context_of(context):
    """What a native function gets as its context, and the object that has to live until it has returned.

    The context is None, an address, data of ctypes, or an object with a buffer that is writable and in one piece. While that
    object lives, what can be resized (a bytearray) refuses to be.
    """
    if context is None:
        return None, None
    if isinstance(context, int) and not isinstance(context, bool):
        return whole(context, "an address", 0, 2 ** (8 * ctypes.sizeof(c_void_p)) - 1), None
    if isinstance(context, (ctypes._Pointer, c_void_p, ctypes.c_char_p)):
        return ctypes.cast(context, c_void_p).value, context
    if isinstance(context, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return ctypes.addressof(context), context
    try:
        view = _NO_BYTES.from_buffer(context)
        return ctypes.addressof(view), view
    except (TypeError, ValueError, BufferError) as error:
        return _array_in_one_piece(context, error)


def _array_in_one_piece(array, error):
    """As context_of(), for an array of NumPy that from_buffer refuses: one in the order of Fortran, or of dates."""
    name, flags, memory = type(array).__name__, getattr(array, "flags", None), getattr(array, "ctypes", None)
    if hasattr(flags, "forc") and hasattr(memory, "data"):
        if not flags.writeable:
            raise ArgumentError(
                f"lockstep: this {name} is read-only, and a native function may write to its context: give a copy of it, or "
                "its address (x.ctypes.data) where the function only reads"
            )
        if not flags.forc:
            raise ArgumentError(
                f"lockstep: this {name} does not lie in one piece of memory (its strides are {array.strides}), and a native "
                "function gets no strides: give a copy (numpy.ascontiguousarray), or the whole array"
            )
        return memory.data, array
    raise ArgumentError(
        f"lockstep: {name} is no context: give None, an address, data of ctypes, or an object with "
        f"a writable buffer; several go to a lockstep_threads.numba.region ({error})"
    ) from None


# While the interpreter ends: threads other than the main one begin nothing any more.
_is_ending = False
# The calls of the library in which callables may run.
_running: set = set()


# So long a thread waits before it looks for signals, in nanoseconds. Waits that come back to Python do so sooner.
_POLL = 50_000_000
# Of the main thread: the calls, one in another, whose waits it polls in.
_polling: list = []


def _polls():
    """What the main thread runs now and then while it waits. Python calls handlers of signals where this generator continues,
    which is always inside of the `try`. It would call them as it enters a function, too, before the `try` in it, and ctypes
    loses what is raised there."""
    while True:
        try:
            while True:
                yield
                _polling[-1].look_for_signal()
        except GeneratorExit:
            raise
        except BaseException as exception:
            _polling[-1].interrupt(exception)


_generator = _poll = None


def _poll_while_waiting(yes):
    global _generator, _poll
    if yes and (_generator is None or _generator.gi_frame is None):  # None: a second signal came while it dealt with one
        _generator = _polls()
        next(_generator)
        _poll = CFUNCTYPE(None, c_void_p)(_generator.send)
    quick.lockstep_poll_while_waiting(_POLL, ctypes.cast(_poll, c_void_p) if yes else None, None)


def raise_interruption():
    """Raises the exception that a signal has raised while this thread waited, if one has. For the end of a wait."""
    if _polling and threading.get_ident() == threading.main_thread().ident:
        _polling[-1].raise_interruption()


class Failures:
    """What happens to the callables of one region, loop or run, which is called inside of `with`. `stop()` ends it.

    Exceptions: that of the lowest place is kept. Ctrl-C on the main thread: ctypes loses an exception that a callback
    raises outside of its `try`, and what the callback returns is anything then. So between callables Ctrl-C is noted, and
    raised in the next one, or at the end. What is raised while the main thread waits stops the region, so that it, too, and
    all others leave their waits; it is raised in the callable that has waited, or at the end.
    """

    __slots__ = ("_came", "_has_begun", "_interruption", "_is_inside", "_is_main", "_lock", "_old", "_place", "exception", "stop")

    def __init__(self, stop=None):
        self.stop = stop
        self._lock, self._place, self.exception = threading.Lock(), None, None
        self._old, self._came, self._is_inside, self._is_main = None, False, False, False
        self._interruption, self._has_begun = None, False

    def __enter__(self):
        self._is_main = threading.get_ident() == threading.main_thread().ident
        if _is_ending and not self._is_main:
            raise SystemExit  # a thread that nobody joins ends here, as others do where they next run Python code
        _running.add(self)
        self.exception = self._interruption = None
        self._has_begun = False
        if self._is_main:
            old = signal.getsignal(signal.SIGINT)
            if callable(old):
                self._old = old
                try:
                    signal.signal(signal.SIGINT, self._interrupted)
                except ValueError:  # not the main interpreter
                    self._old = None
            _polling.append(self)
            if len(_polling) == 1:
                _poll_while_waiting(True)
        return self

    def __exit__(self, *_):
        if self._is_main:
            _polling.pop()
            if not _polling:
                _poll_while_waiting(False)
        _running.discard(self)
        old, self._old = self._old, None
        if old is not None and signal.getsignal(signal.SIGINT) == self._interrupted:  # a callable may have set another
            signal.signal(signal.SIGINT, old)
        came, self._came = self._came, False  # only now: until then it is noted
        end_what_is_left()
        self.raise_interruption()
        if came:
            old(signal.SIGINT, None)

    def _interrupted(self, number, frame):
        if self._is_inside:
            self._old(number, frame)
        else:
            self._came = True

    def look_for_signal(self):
        """While the main thread waits: handles a signal that came between callables."""
        if self._came:
            self._came = False
            self._old(signal.SIGINT, None)

    def interrupt(self, exception):
        """While the main thread waits: keeps the exception of a signal's handler, and stops the region."""
        self._interruption = exception
        if self._has_begun and self.stop is not None:  # else this one waits for its turn, and another's region runs
            self.stop()

    def raise_interruption(self):
        exception, self._interruption = self._interruption, None
        if exception is not None:
            try:
                raise exception
            finally:
                del exception  # no circle with its traceback

    def call(self, place, function, *arguments):
        """Calls the function in a callback, and returns what the callback is to return."""
        self._has_begun = True
        if self._interruption is not None:
            return STOPPED
        is_main = self._is_main and threading.get_ident() == threading.main_thread().ident
        try:
            if is_main:
                self._is_inside = True
                self.look_for_signal()
            function(*arguments)
            if is_main:
                self._is_inside = False
            return OK
        except Stopped:
            if is_main:
                self._is_inside = False
            return STOPPED
        except BaseException as exception:  # also KeyboardInterrupt and SystemExit: the caller raises it
            if is_main:
                self._is_inside = False
            return self._keep(place, exception)

    def _keep(self, place, exception):
        with self._lock:
            if self.exception is None or place < self._place:
                self._place, self.exception = place, exception
        return RAISED

    def raise_first(self):
        """Raises what was kept, if anything was, and forgets it."""
        exception, self.exception = self.exception, None
        if exception is not None:
            try:
                raise exception
            finally:
                del exception  # no circle with its traceback


class NoFailures:
    """As Failures, where no callable runs."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def raise_first(self):
        """Nothing was kept."""


NO_FAILURES = NoFailures()


def end_runs(stop):
    """At the end of the interpreter, which would end the threads of callables inside of their regions: stops them.

    Gives up after a second.
    """
    global _is_ending
    _is_ending = True
    latest = time.monotonic() + 1
    while _running and time.monotonic() < latest:
        stop()
        time.sleep(0.001)
