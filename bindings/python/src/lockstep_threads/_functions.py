# SPDX-License-Identifier: MIT
"""What can be run: native functions, which need no interpreter lock, and Python callables, which hold it."""

import ctypes
import signal
import threading
import time
from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_int64, c_size_t, c_void_p

from ._errors import ArgumentError, OK, RAISED, STOPPED, Stopped
from ._library import whole

#: int (lockstep_member*, void* context): the function of a region.
RegionFunction = CFUNCTYPE(c_int, c_void_p, c_void_p)
#: int (int64_t first, int64_t last, void* context): of a loop.
BlockFunction = CFUNCTYPE(c_int, c_int64, c_int64, c_void_p)
#: int (int64_t first, int64_t last, double* value, void* context): of a reduction of float.
DoubleFunction = CFUNCTYPE(c_int, c_int64, c_int64, POINTER(c_double), c_void_p)
#: int (int64_t first, int64_t last, int64_t* value, void* context): of a reduction of int.
Int64Function = CFUNCTYPE(c_int, c_int64, c_int64, POINTER(c_int64), c_void_p)
#: int (size_t iteration, void* context): of a node.
NodeFunction = CFUNCTYPE(c_int, c_size_t, c_void_p)
#: int (size_t iteration, int* answer, void* context): of a node that decides.
TestFunction = CFUNCTYPE(c_int, c_size_t, POINTER(c_int), c_void_p)
#: int (lockstep_member*, size_t iteration, void* context): of a node that several members run.
WideFunction = CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p)

# How many parameters, for messages and for a look at Cython's capsules.
_PARAMETERS = {
    RegionFunction: 2,
    BlockFunction: 3,
    DoubleFunction: 4,
    Int64Function: 4,
    NodeFunction: 2,
    TestFunction: 3,
    WideFunction: 3,
}

_POINTER = ctypes._CFuncPtr  # the base of all function pointers of ctypes

_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class Native:
    """A native function by its address. `owner` is kept alive with it.

    Nobody can check what is at an address: it must be a function of the type that is called for.
    """

    __slots__ = ("address", "owner")

    def __init__(self, address, owner=None):
        if not isinstance(address, int) or not 0 < address < 2 ** (8 * ctypes.sizeof(c_void_p)):
            raise ArgumentError(f"lockstep.Native: {address!r} is no address of a function")
        self.address, self.owner = address, owner


def native_address(function, kind):
    """The address of a native function, or None of a Python callable."""
    if isinstance(function, _POINTER):
        address = ctypes.cast(function, c_void_p).value
        if address is None:
            raise ArgumentError("lockstep: this function pointer is null")
        if not isinstance(function, kind):
            _check_types(function.argtypes, function.restype, kind)
        return address
    if type(function).__name__ == "PyCapsule":
        return _address_in(function, kind)
    if isinstance(function, Native):
        return function.address
    if type(function).__module__.split(".")[0] == "numba" and hasattr(function, "native_name"):  # of numba.cfunc
        _check_numba(function, kind)
        return function.address
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
        return
    _check_types(prototype.argtypes, prototype.restype, kind)


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
    if len(parameters) != _PARAMETERS[kind]:
        raise ArgumentError(
            f"lockstep: this function has {len(parameters)} parameters; one with {_PARAMETERS[kind]} is called for"
        )
    for place, (said, wanted) in enumerate(zip(parameters, kind._argtypes_), 1):
        if not _fits(said, wanted):
            raise ArgumentError(
                f"lockstep: parameter {place} of this function is {said.__name__}; {wanted.__name__} is called for"
            )


# What Cython calls the numbers behind a double* and an int64_t*.
_REAL, _WHOLE = {"double", "float"}, {"int64_t", "long", "long long", "int", "Py_ssize_t", "size_t", "uint64_t"}


def _fits_cython(said, wanted):
    """The same of a parameter's text in C: as far as it says."""
    if not said.endswith("*"):
        return not (_is_pointer(wanted) and said in _REAL | _WHOLE)
    to = said[:-1].replace("const ", "").strip()
    if issubclass(wanted, ctypes._Pointer):
        return to not in (_WHOLE if wanted._type_ is c_double else _REAL)
    return _is_pointer(wanted)


def _address_in(capsule, kind):
    """Of Cython: the name of the capsule is the function's type."""
    name = _capsule_name(capsule)
    signature = (name or b"").decode("utf-8", "replace")
    parameters = [each.strip() for each in signature[signature.find("(") + 1 : signature.rfind(")")].split(",")]
    if not signature.startswith("int (") or len(parameters) != _PARAMETERS[kind]:
        raise ArgumentError(
            f"lockstep: the capsule has a function '{signature}'; one that returns int and has {_PARAMETERS[kind]} "
            "parameters is called for"
        )
    for said, wanted in zip(parameters, kind._argtypes_):
        if not _fits_cython(said, wanted):
            raise ArgumentError(
                f"lockstep: the capsule has a function '{signature}'; '{said}' is not {wanted.__name__}, which is called for"
            )
    return _capsule_pointer(capsule, name)


_NO_BYTES = ctypes.c_char * 0


def context_of(context):
    """What a native function gets as its context, and what has to live until it has returned.

    The context is None, an address, data of ctypes, or an object with a buffer: writable, and in one piece. As long as what
    has to live does, an object that can be resized refuses it.
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
    """The same of an array of NumPy that from_buffer refuses: one in the order of Fortran, or of dates."""
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
        f"a writable buffer ({error})"
    ) from None


# While the interpreter ends: threads other than the main one begin nothing any more.
_is_ending = False
# The calls of the library in which callables may run.
_running = set()


class Failures:
    """What happens to the callables of one region, loop or run, which is called inside of `with`.

    Exceptions: that of the lowest place is kept. Ctrl-C on the main thread: ctypes loses an exception that a callback
    raises outside of its `try`, and what the callback returns is anything then. So between callables Ctrl-C is noted, and
    raised in the next one, or at the end.
    """

    __slots__ = ("_came", "_is_inside", "_lock", "_old", "_place", "exception")

    def __init__(self):
        self._lock, self._place, self.exception = threading.Lock(), None, None
        self._old, self._came, self._is_inside = None, False, False

    def __enter__(self):
        is_main = threading.get_ident() == threading.main_thread().ident
        if _is_ending and not is_main:
            raise SystemExit  # a thread that nobody joins ends here, as others do where they next run Python code
        _running.add(self)
        if is_main:
            old = signal.getsignal(signal.SIGINT)
            if callable(old):
                self._old = old
                try:
                    signal.signal(signal.SIGINT, self._interrupted)
                except ValueError:  # not the main interpreter
                    self._old = None
        return self

    def __exit__(self, *_):
        _running.discard(self)
        old, self._old = self._old, None
        if old is not None:
            came, self._came = self._came, False
            if signal.getsignal(signal.SIGINT) == self._interrupted:  # a callable may have set another
                signal.signal(signal.SIGINT, old)
            if came:
                old(signal.SIGINT, None)

    def _interrupted(self, number, frame):
        if self._is_inside:
            self._old(number, frame)
        else:
            self._came = True

    def call(self, place, function, *arguments):
        """Calls it in a callback: what the callback is to return."""
        is_main = self._old is not None and threading.get_ident() == threading.main_thread().ident
        try:
            if is_main:
                self._is_inside = True
                if self._came:
                    self._came = False
                    self._old(signal.SIGINT, None)
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
    """The same where no callable runs."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def raise_first(self):
        """There is none."""


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
