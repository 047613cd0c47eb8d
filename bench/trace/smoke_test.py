#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the benchmark measure every row and record it? Tiny counts; says nothing about speed.

usage: smoke_test.py trace-program
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import smoke  # noqa: E402

PROGRAM = None


def run(*arguments):
    return smoke.run(PROGRAM, *arguments)


class Smoke(smoke.Smoke):
    def test_every_row_is_measured_and_recorded(self):
        names = run("--list").stdout.split()
        self.assertLessEqual({"mark", "counter", "region", "run/1", "run/2", "barrier/2", "write"}, set(names))
        _, record = self.recorded(lambda path: run("--quick", "--samples", "1", "--json", path))
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
