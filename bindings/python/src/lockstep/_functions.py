# SPDX-License-Identifier: MIT
"""What can be run: native functions, which need no interpreter lock, and Python callables, which hold it."""

import ctypes
import threading
from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_int64, c_size_t, c_void_p

from ._errors import ArgumentError, RAISED

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
        if not isinstance(address, int) or address <= 0:
            raise ArgumentError(f"lockstep.Native: {address!r} is no address of a function")
        self.address, self.owner = address, owner


def native_address(function, kind):
    """The address of a native function, or None of a Python callable."""
    if isinstance(function, _POINTER):
        address = ctypes.cast(function, c_void_p).value
        if address is None:
            raise ArgumentError("lockstep: this function pointer is null")
        own = getattr(function, "argtypes", None)
        if own is not None and len(own) != _PARAMETERS[kind]:
            raise ArgumentError(
                f"lockstep: this function has {len(own)} parameters; one with {_PARAMETERS[kind]} is called for"
            )
        return address
    if type(function).__name__ == "PyCapsule":
        return _address_in(function, kind)
    address = getattr(function, "address", None)  # Native; what numba.cfunc makes
    if isinstance(address, int) and not isinstance(address, bool):
        return address
    if callable(function):
        return None
    raise ArgumentError(
        f"lockstep: {function!r} is no function: give a Python callable, a function pointer of ctypes, what numba.cfunc "
        "makes, a function of a Cython module's __pyx_capi__, or lockstep.Native(address)"
    )


def _address_in(capsule, kind):
    """Of Cython: the name of the capsule is the function's type."""
    name = _capsule_name(capsule)
    signature = (name or b"").decode("utf-8", "replace")
    parameters = signature[signature.find("(") + 1 : signature.rfind(")")]
    if not signature.startswith("int (") or len(parameters.split(",")) != _PARAMETERS[kind]:
        raise ArgumentError(
            f"lockstep: the capsule has a function '{signature}'; one that returns int and has {_PARAMETERS[kind]} "
            "parameters is called for"
        )
    return _capsule_pointer(capsule, name)


def context_address(context):
    """What a native function gets as its context: None, an address, ctypes data, or anything with a buffer."""
    if context is None or (isinstance(context, int) and not isinstance(context, bool)):
        return context
    if isinstance(context, ctypes._Pointer) or isinstance(context, (c_void_p, ctypes.c_char_p)):
        return ctypes.cast(context, c_void_p).value
    if isinstance(context, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return ctypes.addressof(context)
    array = getattr(context, "__array_interface__", None)
    if array is not None:
        return array["data"][0]
    try:
        return ctypes.addressof((ctypes.c_char * 0).from_buffer(context))
    except (TypeError, ValueError, BufferError) as error:
        raise ArgumentError(
            f"lockstep: {type(context).__name__} is no context: give None, an address, data of ctypes, or an object with "
            f"a writable buffer ({error})"
        ) from None


class Failures:
    """The exceptions of one region, loop or run: that of the lowest place is kept."""

    __slots__ = ("_lock", "_place", "exception")

    def __init__(self):
        self._lock, self._place, self.exception = threading.Lock(), None, None

    def keep(self, place, exception):
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
