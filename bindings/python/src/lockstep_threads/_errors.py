# SPDX-License-Identifier: MIT
"""What can go wrong. The texts name cause and remedy."""

OK, STOPPED, TIMED_OUT, TERMINATED, BUSY = 0, -1, -2, -3, -4
ARGUMENT, RANK, USE, GRAPH, MEMORY, SYSTEM, EXCEPTION = -16, -17, -18, -19, -20, -21, -22

# What a wrapped Python callable returns that has raised an exception.
RAISED = 1


class Error(Exception):
    """Whatever lockstep reports."""


class ArgumentError(Error, ValueError):
    """A number that is out of range, or an object that is no function."""


class ContextTypeError(ArgumentError, TypeError):
    """The numbers of a context are of another type than the function takes."""


class UseError(Error, RuntimeError):
    """Not allowed here or now, for instance inside a region, or on a thread that is not the member's."""


class GraphError(Error, ValueError):
    """The graph makes no sense, or needs more members than there are; the text names the nodes."""


class OutOfMemory(Error, MemoryError):
    """There was not enough memory."""


class SystemRefused(Error, OSError):
    """The system refused, for instance to start a thread."""


class CallbackError(Error):
    """A native function has failed: `code` is what it returned."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class Stopped(Exception):
    """The region was ended early. A member that gets it should let it pass: run() takes care of it."""

    def __init__(self, text: str = "lockstep: the region was stopped") -> None:
        super().__init__(text)


_KINDS = {
    ARGUMENT: ArgumentError,
    RANK: ArgumentError,
    USE: UseError,
    GRAPH: GraphError,
    MEMORY: OutOfMemory,
    SYSTEM: SystemRefused,
}


def error_of(code, text):
    """The exception that a code and its text stand for."""
    if code == STOPPED:
        return Stopped()
    if code > 0 or code == EXCEPTION:
        return CallbackError(text, code)
    return _KINDS.get(code, Error)(text)
