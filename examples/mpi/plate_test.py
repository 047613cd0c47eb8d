#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program mpi_plate: the same result file for every number of ranks, members and strips; errors told once.

  plate_test.py all|some RANKS_SH MPI MPI_PLATE DATA

'some': a few numbers of ranks and members only.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SPLITS, RANKS_SH, MPI, MPI_PLATE, DATA = sys.argv[1:6]
GRID = [(ranks, members) for ranks in (1, 2, 4) for members in (1, 2, 4)]
FEW = [(2, 2), (4, 1)]
LIMIT = 60  # seconds; a run takes less than one
PLATE = Path(DATA) / "dense_12.mtx"


class Plate(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.output = Path(scratch.name) / "t.mtx"

    def run_on(self, ranks, *arguments):
        self.output.unlink(missing_ok=True)
        command = [RANKS_SH, MPI, str(ranks), MPI_PLATE, "--output", self.output, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_every_split_writes_the_same_bytes_as_one_thread_computes(self):
        seen = set()
        for number, (ranks, members) in enumerate(GRID if SPLITS == "all" else FEW):
            strips = (5, 12, 1)[number % 3]
            status, out, err = self.run_on(ranks, "--plate", PLATE, "--members", members, "--strips", strips,
                                           "--tolerance", "1e-3", "--check")
            self.assertEqual(status, 0, out + err)
            self.assertIn("check: ok\n", out)
            self.assertIn("(converged)", out)
            seen.add(self.output.read_bytes())
        self.assertEqual(len(seen), 1)

    def test_a_run_that_is_cut_short_writes_where_it_was(self):
        status, out, err = self.run_on(2, "--plate", PLATE, "--max-turns", 3, "--check")
        self.assertEqual(status, 3, out + err)
        self.assertIn("turns: 3 (NOT converged)", out)
        self.assertIn("check: ok\n", out)
        self.assertEqual(self.output.read_text().count("\n"), 3 + 12 * 12)

    def test_errors_are_told_once(self):
        status, _, err = self.run_on(2, "--plate", self.output.parent / "nothing.mtx")
        self.assertEqual((status, err.count("error: "), err.count("cannot read")), (2, 1, 1), err)
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
