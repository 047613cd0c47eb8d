# SPDX-License-Identifier: MIT
"""Native functions: of C by ctypes, of Numba, of Cython."""
import array
import ctypes
import gc
import importlib.util
import subprocess
import sys
import weakref

import lockstep_threads as lockstep
import pytest


class Counts(ctypes.Structure):
    _fields_ = [("values", ctypes.POINTER(ctypes.c_double)), ("fail_at", ctypes.c_int64), ("calls", ctypes.c_int)]


def counts_for(team, fail_at=-1):
    values = (ctypes.c_double * team.size)()
    return Counts(ctypes.cast(values, ctypes.POINTER(ctypes.c_double)), fail_at, 0), values


def test_regions_in_c(team, kernels):
    counts, values = counts_for(team)
    for _ in range(50):
        assert team.run(kernels.region, counts)
    assert counts.calls == 50 * team.size
    assert list(values) == [sum(range(team.size))] * team.size
    prepared = team.region(kernels.region, counts)
    assert prepared() and counts.calls == 51 * team.size


def test_a_failing_c_function_gives_its_number(team, kernels):
    counts, _ = counts_for(team, fail_at=team.size - 1)
    with pytest.raises(lockstep.CallbackError) as caught:
        team.run(kernels.region, counts)
    assert caught.value.code == 7
    with pytest.raises(lockstep.CallbackError) as caught:
        team.for_blocks(0, 10, kernels.fail)
    assert caught.value.code == 5 and "5" in str(caught.value)
    with pytest.raises(lockstep.CallbackError):
        team.loop(0, 10, kernels.fail)()


@pytest.mark.parametrize("make", [lambda n: (ctypes.c_double * n)(*range(n)), lambda n: array.array("d", range(n))])
def test_loops_in_c(team, kernels, make):
    x = make(1000)
    assert team.for_blocks(0, 1000, kernels.scale, x)
    assert team.for_blocks(0, 1000, kernels.scale, x, schedule="dynamic", chunk=10)
    assert team.run(lambda me: me.for_blocks(0, 1000, kernels.scale, x))
    assert team.loop(0, 1000, kernels.scale, x)()
    assert list(x) == [16.0 * i for i in range(1000)]
    assert team.reduce(0, 1000, kernels.sum_block, x) == 16.0 * 499500
    assert team.reduce(0, 1000, kernels.count_block, dtype=int) == 1000


def test_contexts(kernels):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    with lockstep.Team(2) as team:
        x = numpy.arange(100.0)
        assert team.for_blocks(0, 100, kernels.scale, x)
        assert team.for_blocks(0, 100, kernels.scale, x.ctypes.data)
        assert team.for_blocks(0, 100, kernels.scale, ctypes.c_void_p(x.ctypes.data))
        assert team.for_blocks(0, 100, kernels.scale, x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        assert (x == 16 * numpy.arange(100.0)).all()
        for bad in ("text", b"bytes", [1.0], True, 1.5):
            with pytest.raises(lockstep.ArgumentError):
                team.for_blocks(0, 100, kernels.scale, bad)


def test_a_context_lives_until_all_have_returned(kernels):
    """Also where nobody else has it."""
    ended, seen = [], []

    def made():
        context = (ctypes.c_double * 10)()
        weakref.finalize(context, ended.append, 1)
        return context

    # To the package these are native functions.
    region = lockstep.RegionFunction(lambda me, context: seen.append(len(ended)) or 0)
    block = lockstep.BlockFunction(lambda first, last, context: seen.append(len(ended)) or 0)
    value = lockstep.DoubleFunction(lambda first, last, value, context: seen.append(len(ended)) or 0)
    with lockstep.Team(2) as team:
        for run in (
            lambda: team.run(region, made()),
            lambda: team.run(region, made(), members=1),
            lambda: team.for_blocks(0, 10, block, made()),
            lambda: team.reduce(0, 10, value, made()),
            team.region(region, made()),
            team.loop(0, 10, block, made()),
        ):
            seen.clear(), ended.clear()
            run()
            assert seen and not any(seen)


def test_what_is_used_is_not_resized(kernels):
    x = bytearray(8 * 100)
    with lockstep.Team(2) as team:
        prepared = team.loop(0, 100, kernels.scale, x)
        with pytest.raises(BufferError):
            x.extend(bytes(100000))
        assert prepared()
        del prepared
        block = lockstep.BlockFunction(lambda first, last, context: seen.append(1) if tried() else 0)
        seen = []

        def tried():
            with pytest.raises(BufferError):
                x.clear()
            return False

        assert team.for_blocks(0, 10, block, x)
        x.extend(bytes(100000))


def test_arrays_that_a_function_cannot_use_are_refused(kernels):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    with lockstep.Team(2) as team:
        x = numpy.arange(20.0)
        with pytest.raises(lockstep.ArgumentError, match="strides"):
            team.for_blocks(0, 10, kernels.scale, x[::2])
        with pytest.raises(lockstep.ArgumentError, match="strides"):
            team.for_blocks(0, 10, kernels.scale, x.reshape(4, 5)[:, :3])
        x.flags.writeable = False
        with pytest.raises(lockstep.ArgumentError, match="read-only"):
            team.for_blocks(0, 20, kernels.scale, x)
        with pytest.raises(lockstep.ArgumentError):
            team.for_blocks(0, 1, kernels.scale, numpy.float64(1))  # has no memory of its own
        assert (x == numpy.arange(20.0)).all()
        f = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
        assert team.for_blocks(0, 6, kernels.scale, f)
        assert (f == 2 * numpy.arange(6.0).reshape(2, 3)).all()
        dates = numpy.zeros(3, "datetime64[s]")
        assert team.for_blocks(0, 0, kernels.scale, dates)


def test_functions_of_other_types_are_refused(kernels):
    long, double, pointer, integer = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_int
    doubles, longs = ctypes.POINTER(double), ctypes.POINTER(long)

    def function(*types):
        return ctypes.CFUNCTYPE(*types)(("scale", kernels))

    graph = lockstep.Graph()
    with lockstep.Team(2) as team:
        assert team.for_blocks(0, 0, function(integer, long, long, doubles))
        assert team.for_blocks(0, 0, function(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64, pointer))
        assert team.reduce(0, 0, function(integer, long, long, doubles, pointer)) == 0
        for wrong in (
            lambda: team.for_blocks(0, 0, function(None, long, long, pointer)),
            lambda: team.for_blocks(0, 0, function(double, long, long, pointer)),
            lambda: team.for_blocks(0, 0, function(long, long, long, pointer)),
            lambda: team.for_blocks(0, 0, function(integer, double, long, pointer)),
            lambda: team.for_blocks(0, 0, function(integer, long, integer, pointer)),
            lambda: team.for_blocks(0, 0, function(integer, long, long, long)),
            lambda: team.for_blocks(0, 0, function(integer, pointer, long, pointer)),
            lambda: team.reduce(0, 0, function(integer, long, long, longs, pointer)),
            lambda: team.reduce(0, 0, function(integer, long, long, doubles, pointer), dtype=int),
            lambda: graph.test("test", function(integer, long, long, pointer)),
        ):
            with pytest.raises(lockstep.ArgumentError, match="called for"):
                wrong()


def test_the_numbers_of_a_context_are_of_the_type_that_the_function_takes(kernels):
    c = ctypes
    pointer = {kind: c.CFUNCTYPE(c.c_int, c.c_int64, c.c_int64, c.POINTER(kind))(("scale", kernels))
               for kind in (c.c_double, c.c_float, c.c_int64, c.c_int32, c.c_uint8)}  # fmt: skip
    taken = {
        c.c_double: [array.array("d", [1.0]), (c.c_double * 2)(), ((c.c_double * 2) * 2)(), c.c_double(1)],
        c.c_float: [array.array("f", [1.0]), (c.c_float * 2)(), c.pointer(c.c_float(1))],
        c.c_int64: [array.array("q", [1]), array.array("Q", [1]), (c.c_uint64 * 2)(), memoryview(array.array("q", [1]))],
        c.c_int32: [array.array("i", [1]), (c.c_uint32 * 2)()],
        c.c_uint8: [(c.c_byte * 2)(), (c.c_bool * 2)()],
    }
    anything = [None, bytearray(16), c.c_void_p(0), memoryview(bytearray(16)), Counts()]
    with lockstep.Team(2) as team:
        for kind, function in pointer.items():
            for of, contexts in taken.items():
                for context in contexts:
                    if of is kind:
                        assert team.for_blocks(0, 0, function, context)
                        team.loop(0, 0, function, context)
                        continue
                    for use in (team.for_blocks, team.loop):
                        with pytest.raises(TypeError, match="this function takes"):
                            use(0, 0, function, context)
            for context in anything:
                assert team.for_blocks(0, 0, function, context)
        with pytest.raises(lockstep.ContextTypeError, match="Python objects"):
            team.for_blocks(0, 0, kernels.scale, (c.py_object * 2)())
        sums = c.CFUNCTYPE(c.c_int, c.c_int64, c.c_int64, c.POINTER(c.c_double), c.POINTER(c.c_double))(("sum_block", kernels))
        with pytest.raises(lockstep.ArgumentError, match="takes double"):
            team.reduce(0, 0, sums, array.array("f", [1.0]))


def test_dtypes_of_arrays_are_compared(kernels):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    doubles = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_double))
    function = doubles(("scale", kernels))
    arrays = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int64, numpy.ctypeslib.ndpointer(numpy.float64))
    by_ndpointer = arrays(("scale", kernels))
    with lockstep.Team(2) as team:
        for turn in range(3):  # also what was found to fit before
            for scale in (function, by_ndpointer):
                assert team.for_blocks(0, 2, scale, numpy.ones(2)) and team.for_blocks(0, 2, scale, numpy.ones((2, 2)))
                for bad in ("f4", "i8", "c16", "u1", "f2", "?", "i4,f8", "M8[s]"):
                    with pytest.raises(lockstep.ContextTypeError, match="takes double"):
                        team.for_blocks(0, 2, scale, numpy.zeros(2, bad))
        for scale in (function, kernels.scale, lockstep.Native(ctypes.cast(function, ctypes.c_void_p).value)):
            with pytest.raises(TypeError, match="Python objects"):
                team.for_blocks(0, 2, scale, numpy.array([1.0, None]))
        assert team.for_blocks(0, 2, kernels.scale, numpy.zeros(2, "f4"))  # it does not say what it takes
        # What is said later counts.
        late = ctypes.CDLL(kernels._name).scale
        single = numpy.ones(4, "f4")
        assert team.for_blocks(0, 1, late, single)
        late.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)]
        with pytest.raises(TypeError, match="takes double"):
            team.for_blocks(0, 1, late, single)


def test_what_was_looked_up_does_not_outlive_its_function():
    gc.collect()
    before = len(lockstep._functions._checked)
    with lockstep.Team(1) as team:
        for _ in range(3):
            function = lockstep.BlockFunction(lambda first, last, context: 0)
            ended = []
            weakref.finalize(function, ended.append, 1)
            assert team.for_blocks(0, 1, function)
            del function
            gc.collect()  # ctypes.cast makes a circle
            assert ended
    assert len(lockstep._functions._checked) == before


def test_a_callable_with_an_address_is_a_callable():
    class Peer:
        address = 80

        def __call__(self, first, last):
            seen.append((first, last))

    seen = []
    with lockstep.Team(1) as team:
        assert team.for_blocks(0, 1, Peer())
    assert seen == [(0, 1)]


def test_pointers_by_address(kernels):
    with lockstep.Team(2) as team:
        x = (ctypes.c_double * 10)(*[1.0] * 10)
        address = ctypes.cast(kernels.scale, ctypes.c_void_p).value
        assert team.for_blocks(0, 10, lockstep.Native(address, owner=kernels), x)
        assert team.for_blocks(0, 10, lockstep.BlockFunction(address), x)
        assert list(x) == [4.0] * 10
        for bad in (0, -1, None, "text"):
            with pytest.raises(lockstep.ArgumentError):
                lockstep.Native(bad)
        with pytest.raises(lockstep.ArgumentError, match="null"):
            team.for_blocks(0, 10, lockstep.BlockFunction(0))
        with pytest.raises(lockstep.ArgumentError, match="parameters"):
            team.run(lockstep.BlockFunction(address))
        with pytest.raises(lockstep.ArgumentError, match="native"):
            team.region(lambda me: None)


def test_numba():
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    numpy = pytest.importorskip("numpy")
    types = numba.types

    @numba.cfunc(types.intc(types.int64, types.int64, types.CPointer(types.double)))
    def add_one(first, last, x):
        for i in range(first, last):
            x[i] += 1
        return 0

    @numba.cfunc(types.intc(types.int64, types.int64, types.CPointer(types.double), types.CPointer(types.double)))
    def squares(first, last, value, x):
        for i in range(first, last):
            value[0] += x[i] * x[i]
        return 0

    x = numpy.arange(1000.0)
    with lockstep.Team(2) as team:
        assert team.for_blocks(0, 1000, add_one, x)
        assert team.loop(0, 1000, add_one, x)()
        assert (x == numpy.arange(1000.0) + 2).all()
        assert team.reduce(0, 1000, squares, x) == (x * x).sum()
        for wrong in (
            lambda: team.run(add_one, x),
            lambda: team.for_blocks(0, 1000, add_one, x, schedule="dynamic") and team.run(add_one, x),
            lambda: team.reduce(0, 1000, squares, x, dtype=int),
            lambda: team.for_blocks(0, 1000, numba.cfunc("float64(int64, int64, voidptr)")(lambda a, b, c: 0.0), x),
        ):
            with pytest.raises(lockstep.ArgumentError, match="called for"):
                wrong()
        single = numpy.ones(1000, numpy.float32)
        for wrong in (
            lambda: team.for_blocks(0, 100, add_one, single),
            lambda: team.loop(0, 100, add_one, single),
            lambda: team.reduce(0, 100, squares, single),
        ):
            with pytest.raises(TypeError, match="takes double"):
                wrong()
        assert (single == 1).all()


CYTHON = """
# cython: language_level=3
from libc.stdint cimport int64_t

cdef extern from "lockstep.h":
    ctypedef struct lockstep_member
    size_t lockstep_member_rank(const lockstep_member* me) nogil
    int lockstep_member_sync_threads(lockstep_member* me) nogil

cdef api int region(void* me, void* context) noexcept nogil:
    cdef double* x = <double*>context
    x[lockstep_member_rank(<lockstep_member*>me)] += 1
    return lockstep_member_sync_threads(<lockstep_member*>me)

cdef api int triple(int64_t first, int64_t last, void* context) noexcept nogil:
    cdef double* x = <double*>context
    cdef int64_t i
    for i in range(first, last):
        x[i] *= 3
    return 0

cdef api int halve(int64_t first, int64_t last, double* x) noexcept nogil:
    cdef int64_t i
    for i in range(first, last):
        x[i] /= 2
    return 0

cdef api int count(int64_t first, int64_t last, int64_t* value, void* context) noexcept nogil:
    value[0] += last - first
    return 0
"""


def test_cython(tmp_path):
    pytest.importorskip("Cython", reason="Cython is not installed")
    from conftest import compiled

    source = tmp_path / "cykernels.pyx"
    source.write_text(CYTHON)
    subprocess.run([sys.executable, "-m", "cython", str(source)], check=True, cwd=tmp_path)
    import sysconfig

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    made = compiled(tmp_path / "cykernels.c", tmp_path / f"cykernels{suffix}", f"-I{sysconfig.get_path('include')}")
    spec = importlib.util.spec_from_file_location("cykernels", made)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = (ctypes.c_double * 100)(*[1.0] * 100)
    with lockstep.Team(2) as team:
        assert team.for_blocks(0, 100, module.__pyx_capi__["triple"], x)
        assert team.run(module.__pyx_capi__["region"], x)
        assert list(x) == [4.0] * 2 + [3.0] * 98
        with pytest.raises(lockstep.ArgumentError, match="int64_t"):
            team.run(module.__pyx_capi__["triple"], x)
        assert team.reduce(0, 100, module.__pyx_capi__["count"], dtype=int) == 100
        with pytest.raises(lockstep.ArgumentError, match="int64_t"):
            team.reduce(0, 100, module.__pyx_capi__["count"])
        assert team.for_blocks(0, 100, module.__pyx_capi__["halve"], x) and x[99] == 1.5
        with pytest.raises(TypeError, match="takes double"):
            team.for_blocks(0, 100, module.__pyx_capi__["halve"], (ctypes.c_float * 100)())
        with pytest.raises(lockstep.ArgumentError, match="void"):
            lockstep.Graph().wide_node("wide", module.__pyx_capi__["triple"])
