#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do all contenders of bench/mpi get the same results, and does the driver record and add rows? Says nothing about speed.

usage: smoke_test.py directory-of-the-build [openmpi|mpich]...
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIRECTORY, LIBRARIES = None, ()
# Settings that spin take seconds in a crowd, and other tests run beside this one.
LAYOUTS = ("1x2", "2x2")
ENTRIES = r"(bare .*|1x2: MPI only|MPI only \(yield\)|MPI \+ lockstep|1x2: MPI \+ lib\w+|2x2: MPI \+ lib\w+ \(passive, yield\)|MPICH 2x2: MPI \+ lib\w+ \(passive\))$"
WORKS = "128x128|sum"


def run(*arguments):
    return subprocess.run([sys.executable, HERE / "run.py", "--build", DIRECTORY, "--quick", *arguments], capture_output=True, text=True,
                          check=False)


class Smoke(unittest.TestCase):
    def test_every_contender_gets_the_result_of_the_others(self):
        for library in LIBRARIES:
            chosen = ("--mpi", library, "--only", ENTRIES, "--works", WORKS)
            titles = run(*chosen, "--layouts", ",".join(LAYOUTS), "--list").stdout.splitlines()
            with self.subTest(mpi=library), tempfile.TemporaryDirectory() as directory:
                path = Path(directory) / "result.json"
                for layout in LAYOUTS:
                    done = run(*chosen, "--layouts", layout, "--json", path, "--append")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual([one.name for one in Path(directory).iterdir()], [path.name])
                record = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual(set(record["commands"]), set(titles))
                self.assertTrue(record["quick"])
                rows = record["rows"]
                for work in ("jacobi", "cg", "heat", "heat_in_turns"):
                    results = [one["result"] for one in rows if one["work"] == f"{work}:128x128"]
                    self.assertGreaterEqual(len(results), 2 * len(LAYOUTS))
                    for result in results:
                        self.assertAlmostEqual(result / results[0], 1, delta=1e-9)
                bits = {one["result"] for one in rows if one["work"] == "dot_fixed:128x128"}
                self.assertEqual(len(bits), 1, bits)
                jacobi = {one["result"] for one in rows if one["work"] == "jacobi:128x128"}
                self.assertNotIn(0.0, jacobi)
                for one in rows:
                    self.assertGreater(one["wall_us"]["median"], 0)
                    if one["work"] == "sum":  # of 1.0, then of the negative sum, by all
                        self.assertEqual(one["result"], -float(one["ranks"] * one["threads"]) ** 2)


if __name__ == "__main__":
    DIRECTORY, LIBRARIES = sys.argv[1], tuple(sys.argv[2:]) or ("openmpi", "mpich")
    del sys.argv[1:]
    unittest.main()
