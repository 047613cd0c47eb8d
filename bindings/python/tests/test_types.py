# SPDX-License-Identifier: MIT
"""The type hints are those of the package, and say what a checker is to find."""
import os
import re
import subprocess
import sys
from pathlib import Path

import lockstep_threads as lockstep
import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

# A comment names what is wrong with its line.
PROGRAM = """
import lockstep_threads as lockstep
from lockstep_threads.numba import block, region, sync_sum
from typing_extensions import assert_type

def meet(me: lockstep.Member) -> None:
    assert_type(me.sync_sum(sum(me.block(0, 1000))), int)
    assert_type(me.gather("text"), list[str])
    me.sync_all()  # attr-defined

@region
def compiled(me: object, x: list[float]) -> None:
    first, last = block(me, 0, 10)
    assert_type(first, int)

with lockstep.Team(2, bind=[0, 1], policy="spin") as team:
    assert_type(team, lockstep.Team)
    assert_type(team.run(meet), bool)
    team.run(compiled, ([1.0],))
    assert_type(team.reduce(0, 10, lambda a, b: 1.0), float)
    assert_type(team.reduce(0, 10, lambda a, b: 1, dtype=int), int)
    assert_type(team.for_blocks(0, 10, print, schedule="dynamic", chunk=2), bool)
    team.for_blocks(0, 10, print, schedule="fair")  # arg-type
    team.run(meet, members="two")  # arg-type
    graph = lockstep.Graph()
    graph.edge(graph.node("one", print), "two")  # arg-type
    assert_type(lockstep.Plan(graph, team).run(3), bool)
lockstep.Team("two")  # arg-type
assert_type(lockstep.Mutex().acquire(0.5), bool)
"""


def run(*arguments):
    # Where the package is not installed, as in a source tree, mypy finds it as Python does.
    path = {"MYPYPATH": str(Path(lockstep.__file__).parents[1])} if "site-packages" not in lockstep.__file__ else {}
    command = [sys.executable, "-m", *arguments]
    cache = {"MYPY_CACHE_DIR": os.devnull}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **path, **cache})
    return done.returncode, done.stdout + done.stderr


def test_a_checker_finds_what_is_wrong(tmp_path):
    source = tmp_path / "program.py"
    source.write_text(PROGRAM)
    _, said = run("mypy", "--strict", str(source))
    found = re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]", said)
    lines = enumerate(PROGRAM.splitlines(), 1)
    assert found == [(str(number), line.split("# ")[1]) for number, line in lines if "  # " in line], said


def test_the_hints_of_compiled_regions_are_those_of_the_module(tmp_path):
    pytest.importorskip("numba", reason="Numba is not installed")
    private = tmp_path / "private"
    private.write_text(r"""lockstep_threads\.numba\.region\.__.*__
""")
    code, said = run("mypy.stubtest", "lockstep_threads.numba", "--ignore-unused-allowlist", "--allowlist", str(private))
    assert code == 0, said
