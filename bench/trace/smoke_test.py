#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the benchmark measure every row and record it? Tiny counts; says nothing about speed.

usage: smoke_test.py trace-program
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = None


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class Smoke(unittest.TestCase):
    def test_every_row_is_measured_and_recorded(self):
        names = run("--list").stdout.split()
        self.assertLessEqual({"mark", "counter", "region", "run/1", "run/2", "barrier/2", "write"}, set(names))
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            done = run("--quick", "--samples", "1", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(record["program"], "trace")
        self.assertEqual([row["name"] for row in record["rows"]], names)
        for row in record["rows"]:
            self.assertEqual(len(row["on_ns"]), 1)
            self.assertEqual(len(row["off_ns"]), 0 if row["name"] == "write" else 1)
            self.assertGreater(row["on_ns"][0], 0)

    def test_bad_arguments_are_refused(self):
        self.assertEqual(run("--filter", "no such row").returncode, 2)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
