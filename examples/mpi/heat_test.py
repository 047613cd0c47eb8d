#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program mpi_heat: the same bits for every number of ranks and members; errors told once.

  heat_test.py all|some RANKS_SH MPI MPI_HEAT SCRATCH

'some': a few runs only. SCRATCH is a directory for files, made anew.
"""

import shutil
import subprocess
import sys
from pathlib import Path

PLATE = ["--rows", "37", "--columns", "29"]
LIMIT = 60  # seconds; a run takes less than one


class Runs:
    def __init__(self, extent, start, mpi, program, scratch):
        self.has_all, self.start, self.mpi, self.program = extent == "all", start, mpi, program
        self.scratch = Path(scratch)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    def command(self, ranks, *arguments):
        plate = [] if "--rows" in arguments else PLATE
        return [self.start, self.mpi, str(ranks), self.program, *plate, *map(str, arguments)]

    def run(self, ranks, *arguments, status=0):
        done = subprocess.run(self.command(ranks, *arguments), capture_output=True, text=True, check=False,
                              timeout=LIMIT)
        text = done.stdout + done.stderr
        assert done.returncode == status, f"{arguments}: status {done.returncode}, not {status}\n{text}"
        return text

    def result(self, ranks, members, *arguments):
        path = self.scratch / f"result_{ranks}_{members}"
        self.run(ranks, "--members", members, "--output", path, *arguments)
        cells = path.read_bytes()
        path.unlink()
        return cells


def same_bits(runs):
    plain, ring = (runs.result(1, 1, "--steps", 150, "--check", *extra) for extra in ([], ["--ring"]))
    assert len(plain) == 37 * 29 * 8 and plain != ring
    splits = [(1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4)]
    for ranks, members in splits if runs.has_all else splits[1::3]:
        assert runs.result(ranks, members, "--steps", 150) == plain, (ranks, members)
    assert runs.result(4, 2, "--steps", 150, "--ring", "--check") == ring


def refusals(runs):
    for arguments, expected in [
        (["--diffusion", "0.3"], "at most 0.25"),
        (["--steps", 3, "--output", runs.scratch / "nowhere" / "cells"], "cannot write "),
        (["--rows", 4, "--columns", 0], "--columns"),
        (["--rows", 1, "--columns", 3], "4 ranks cannot divide 1 x 3 cells"),
    ]:
        text = runs.run(4, *arguments, status=2)
        assert text.count("error: ") == 1 and expected in text, (arguments, text)


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    runs = Runs(*sys.argv[1:])
    for test in (same_bits, refusals):
        test(runs)
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
