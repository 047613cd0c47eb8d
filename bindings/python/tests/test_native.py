# SPDX-License-Identifier: MIT
"""Native functions: of C by ctypes, of Numba, of Cython."""
import array
import ctypes
import importlib.util
import subprocess
import sys

import lockstep
import pytest
from conftest import header_directory


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
