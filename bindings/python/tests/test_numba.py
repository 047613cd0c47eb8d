# SPDX-License-Identifier: MIT
"""Regions that Numba compiles."""
import runpy
import sys
from pathlib import Path

import lockstep_threads as lockstep
import pytest

numba = pytest.importorskip("numba", reason="Numba is not installed")
numpy = pytest.importorskip("numpy")
from lockstep_threads import numba as ln  # noqa: E402


def test_members_meet(team):
    @ln.region
    def region(me, out, turns):
        mine = ln.rank(me)
        for turn in range(turns):
            out[mine, 0] = turn
            ln.sync_threads(me)
            for other in range(ln.size(me)):
                if out[other, 0] != turn:
                    out[mine, 1] = 1
            ln.sync_threads(me)
        out[mine, 2] = ln.sync_sum(me, 0.5 * mine)
        out[mine, 3] = ln.sync_sum(me, mine)
        out[mine, 4] = ln.sync_min(me, -mine)
        out[mine, 5] = ln.sync_max(me, 1.5 * mine)
        out[mine, 6] = ln.sync_count(me, mine < 2)
        first, last = ln.block(me, 10, 47)
        out[mine, 7], out[mine, 8] = first, last
        if mine > 0:
            ln.await_step(me, mine - 1, 1)
            out[mine, 9] = out[mine - 1, 9] + 1
        ln.publish(me, 1)

    out = numpy.zeros((team.size, 10))
    for run in (lambda: team.run(region, (out, 50)), team.region(region, (out, 50))):
        out[:] = 0
        assert run() is True
        ranks = numpy.arange(team.size)
        assert (out[:, 0] == 49).all() and (out[:, 1] == 0).all()
        assert (out[:, 2] == 0.5 * ranks.sum()).all() and (out[:, 3] == ranks.sum()).all()
        assert (out[:, 4] == -ranks[-1]).all() and (out[:, 5] == 1.5 * ranks[-1]).all()
        assert (out[:, 6] == min(2, team.size)).all() and (out[:, 9] == ranks).all()
        assert out[0, 7] == 10 and out[-1, 8] == 47 and (out[1:, 7] == out[:-1, 8]).all()


def test_arguments_keep_type_shape_and_order():
    @ln.region
    def region(me, a, b, c, whole, real, flag):
        if ln.rank(me) == 0:
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    a[i, j] = 10 * i + j
                    b[i, j] = 10 * i + j
            c[0] = whole
            c[1] = int(2 * real)
            c[2] = flag

    a, b, c = numpy.zeros((2, 3), "f4"), numpy.zeros((2, 3), "i2", order="F"), numpy.zeros(3, "u8")
    expected = [[0, 1, 2], [10, 11, 12]]
    with lockstep.Team(2) as team:
        assert team.run(region, (a, b, c, 7, 1.5, True))
        assert (a == expected).all() and (b == expected).all() and list(c) == [7, 3, 1]
        assert team.run(region, (a.astype("f8"), b, c, numpy.int32(8), numpy.float32(2.5), numpy.bool_(False)))
        assert list(c) == [8, 5, 0]


def test_a_member_that_waits_leaves_a_stopped_region(team):
    @ln.region
    def waits(me, out):
        if ln.rank(me) == ln.size(me) - 1:
            ln.request_stop(me)
        while True:
            ln.sync_sum(me, 1)
            out[ln.rank(me)] += 1

    @ln.region
    def asks(me):
        if ln.rank(me) == 0:
            ln.request_stop(me)
        while not ln.stop_requested(me):
            pass

    out = numpy.zeros(team.size)
    assert team.run(waits, out) is False and (out == 0).all()
    assert team.run(asks) is False


def test_an_exception_ends_the_region(team):
    @ln.region
    def fails(me, out):
        if ln.rank(me) == 0:
            raise ValueError
        ln.sync_threads(me)
        out[ln.rank(me)] = 1

    out = numpy.zeros(team.size)
    with pytest.raises(lockstep.CallbackError) as caught:
        team.run(fails, out)
    assert caught.value.code == 1 and (out == 0).all()


def test_what_it_cannot_take_is_refused():
    @ln.region
    def region(me, x):
        pass

    with lockstep.Team(2) as team:
        x = numpy.zeros(10)
        for bad in ("text", None, [1.0], x[::2], numpy.array([None]), 1j):
            with pytest.raises((lockstep.ArgumentError, numba.TypingError)):
                team.run(region, (bad,))
        x.flags.writeable = False
        with pytest.raises(lockstep.ArgumentError, match="read-only"):
            team.run(region, x)
        for use in (lambda: team.for_blocks(0, 1, region), lambda: region(1), lambda: team.reduce(0, 1, region)):
            with pytest.raises(lockstep.ArgumentError, match="Team.run"):
                use()


def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["stencil.py", "2", "64"])
    runpy.run_path(str(Path(__file__).parents[1] / "examples" / "stencil.py"), run_name="__main__")
    assert "of serial" in capsys.readouterr().out
