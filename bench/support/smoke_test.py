#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the benchmark measure every row and record it? Tiny counts; says nothing about speed.

usage: smoke_test.py primitives|ring|objects, as a program
"""

import sys
import unittest
from pathlib import Path

import smoke

PROGRAM = None
# Rows that must be there.
ROWS = {
    "primitives": ["cyclic/2/original", "parallel/4/naive", "sync/64/std"],
    "ring": ["hop/100/free/lockstep", "hop/2/one-cpu/condition", "slack/2/one-cpu/release"],
    "objects": ["mutex/1/pthread", "mutex/1/std", "condition/2/lockstep-default",
                "barrier/2/lockstep-split-default"],
}


def run(*arguments):
    return smoke.run(PROGRAM, *arguments)


def bench():
    return Path(PROGRAM).name


class Smoke(smoke.Smoke):
    def test_every_row_is_measured_and_recorded(self):
        names = run("--list").stdout.split()
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(ROWS[bench()]), set(names))
        done, record = self.recorded(
            lambda path: run("--quick", "--samples", "1", "--sample-seconds", "0.0005", "--json", path))
        self.assertEqual(record["program"], bench())
        self.assertIn("QUICK", done.stdout)
        self.assertTrue(record["quick"])
        self.assertEqual([row["name"] for row in record["rows"]], names)
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                if row["unit"] == "ns":
                    self.assertGreater(row["value"]["min"], 0)
                    self.assertGreater(row["cpu_ns"], 0)
                self.assertIn(f"| {row['name']} ", done.stdout)
        for key in ("cpu", "usable_cpus", "kernel", "compiler", "flags", "build_type"):
            self.assertTrue(record["machine"][key] or key in ("flags", "build_type"), key)

    def test_bad_arguments_get_one_line_and_status_2(self):
        self.expect_one_line(run, (["--samples", "0"], ["--samples", "many"], ["--filter", "("],
                          ["--filter", "no such row"], ["--json", "no/such/directory/x"],
                          ["--json", "."], ["--unknown"], ["extra"],
                                   ["--sample-seconds", "nan"], ["--sample-seconds", "0"]))

    def test_filter_selects_rows(self):
        wanted = ROWS[bench()][0]
        self.assertEqual(run("--list", "--filter", f"^{wanted}$").stdout.split(), [wanted])

    def test_help_ends_well(self):
        self.expect_help(run)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
