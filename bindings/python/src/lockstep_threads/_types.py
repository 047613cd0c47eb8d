# SPDX-License-Identifier: MIT
"""Names for hints. Only checkers import it."""

from typing import Literal, TypeVar, Union

Value = TypeVar("Value")
Policy = Union[Literal["adaptive", "spin", "block"], float, None]
Schedule = Literal["static", "chunks", "dynamic", "guided"]
Operation = Literal["sum", "product", "min", "max"]
# Function pointers of ctypes, numba.cfunc, capsules of Cython, Native, numba.region: they have no type in common.
NativeFunction = object
# None, an address, data of ctypes, what has a buffer; of numba.region a tuple of arrays and numbers.
Context = object
