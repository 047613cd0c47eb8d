#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program mpi_cg: the same result files for every number of ranks and members; errors told once.

  cg_test.py all|some RANKS_SH MPI MPI_CG DATA

'some': a few numbers of ranks and members only.
"""

import itertools
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SPLITS, RANKS_SH, MPI, MPI_CG, DATA = sys.argv[1:6]
DATA = Path(DATA)
GRID = [(ranks, members) for ranks in (1, 2, 4) for members in (1, 2, 4)]
FEW = [(1, 4), (2, 2), (4, 1)]
LIMIT = 100  # seconds; a run takes less than one, and an error three
AT_ONCE = 6  # mpirun sleeps most of its time

# Positive definite, but not diagonally dominant.
STIFF = """%%MatrixMarket matrix coordinate real symmetric
5 5 9
1 1 1
2 2 5
3 3 6
4 4 6
5 5 5
2 1 -2
3 2 -2
4 3 -2.5
5 4 -2
"""
INDEFINITE = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 -3\n"
LOPSIDED = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 2\n2 1 -1\n"
OBLONG = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 2\n2 2 2\n"


def for_each(cases, check):
    """check(*case) for each, several at once."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(check, *case) for case in cases]:
            done.result()


def run(ranks, *arguments):
    """On so many ranks; 0: without mpirun."""
    starter = [RANKS_SH, MPI, str(ranks)] if ranks else []
    done = subprocess.run([*starter, MPI_CG, *map(str, arguments)], capture_output=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Solvers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.numbers = itertools.count()

    def file(self, name, text):
        path = self.scratch / name
        path.write_text(text)
        return path

    def solve(self, ranks, members, *arguments):
        output = self.scratch / f"x{next(self.numbers)}.mtx"
        status, out, err = run(ranks, "--members", members, "--output", output, *arguments)
        self.assertEqual(status, 0, out + err)
        self.assertEqual(out.count("(converged)"), 1, out)
        return output.read_bytes(), out

    def same_for_all_splits(self, splits, *arguments):
        serial, out = self.solve(0, 1, "--check", *arguments)
        self.assertIn("check: ok\n", out)

        def check(ranks, members):
            split, _ = self.solve(ranks, members, *arguments)
            self.assertEqual(split, serial, f"{ranks} ranks x {members} members")

        for_each(splits, check)
        return serial

    def test_writes_the_same_bytes_for_every_split(self):
        self.same_for_all_splits(GRID if SPLITS == "all" else FEW, "--matrix", DATA / "poisson_24x24.mtx")

    def test_dense_rows_need_the_entries_of_all_ranks(self):
        self.same_for_all_splits([(3, 2)], "--matrix", DATA / "dense_12.mtx", "--rhs", DATA / "dense_12_rhs.mtx")

    def test_the_matrix_need_not_be_diagonally_dominant(self):
        bits = self.same_for_all_splits([(4, 1)], "--matrix", self.file("stiff.mtx", STIFF))
        for line in bits.decode().splitlines()[3:]:
            self.assertAlmostEqual(float(line), 1.0, 8)

    def refuses(self, ranks, message, *arguments):
        """All ranks end with status 2, and one of them says why, in one line."""
        output = self.scratch / "none.mtx"
        if "--output" not in arguments:
            arguments += ("--output", output)
        status, out, err = run(ranks, *arguments)
        self.assertEqual(status, 2, out + err)
        self.assertEqual(err.count("error: "), 1, err)
        self.assertEqual(err.count(message), 1, err)
        self.assertFalse(output.exists())

    def test_errors_are_told_once_and_end_all_ranks(self):
        matrix = DATA / "poisson_24x24.mtx"
        short = self.file("short.mtx", LOPSIDED.replace("general", "symmetric"))
        cases = [
            (2, "cannot read", "--matrix", self.scratch / "nothing.mtx"),
            (2, "not symmetric", "--matrix", self.file("lopsided.mtx", LOPSIDED)),
            (2, "not positive definite", "--matrix", self.file("indefinite.mtx", INDEFINITE)),
            (3, "2 rows, fewer than the 3 ranks", "--matrix", short),
            (2, "not square: 2 x 3", "--matrix", self.file("oblong.mtx", OBLONG)),
            (2, "--matrix is required"),
            (2, "--tolerance", "--matrix", matrix, "--tolerance", "2"),
            (2, "has to be an array of 576 x 1", "--matrix", matrix, "--rhs", matrix),
            (2, "cannot write", "--matrix", matrix, "--output", self.scratch / "no" / "where.mtx"),
        ]
        for_each(cases if SPLITS == "all" else cases[:4], self.refuses)
        self.assertEqual([entry for entry in self.scratch.iterdir() if entry.suffix == ".tmp"], [])

    def test_says_by_status_3_that_it_was_stopped_and_writes_where_it_was(self):
        output = self.scratch / "x.mtx"
        status, out, err = run(2, "--matrix", DATA / "poisson_24x24.mtx", "--max-iterations", 5, "--check", "--output", output)
        self.assertEqual(status, 3, out + err)
        self.assertIn("iterations: 5 (NOT converged)", out)
        self.assertIn("check: ok\n", out)
        self.assertEqual(output.read_text().count("\n"), 3 + 576)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
