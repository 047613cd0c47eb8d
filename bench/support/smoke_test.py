#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the benchmark measure every row and record it? Tiny counts; says nothing about speed.

usage: smoke_test.py primitives|ring|objects, as a program
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = None
# Arguments that make samples tiny, rows that must be there, and the summary that each row has.
TINY = {
    "primitives": ["--sample-seconds", "0.0005"],
    "ring": ["--sample-seconds", "0.0005"],
    "objects": ["--sample-seconds", "0.0005"],
}
ROWS = {
    "primitives": ["cyclic/2/original", "parallel/4/naive", "sync/64/std"],
    "ring": ["hop/100/free/lockstep", "hop/2/one-cpu/condition", "slack/2/one-cpu/release"],
    "objects": ["mutex/1/pthread", "mutex/1/std", "condition/2/lockstep-default",
                "barrier/2/lockstep-split-default"],
}
SUMMARY = {"primitives": "full_ms", "ring": "value", "objects": "unit_us"}
BAD = {
    "primitives": [["--sample-seconds", "nan"]],
    "ring": [["--sample-seconds", "0"]],
    "objects": [["--sample-seconds", "nan"]],
}


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


def bench():
    return Path(PROGRAM).name


class Smoke(unittest.TestCase):
    def test_every_row_is_measured_and_recorded(self):
        names = run("--list").stdout.split()
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(ROWS[bench()]), set(names))
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            done = run("--quick", "--samples", "1", *TINY[bench()], "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])
            record = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(record["program"], bench())
        self.assertIn("QUICK", done.stdout)
        self.assertTrue(record["quick"])
        self.assertEqual([row["name"] for row in record["rows"]], names)
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                for figure in ("median", "min", "max", "mean"):
                    self.assertGreaterEqual(row[SUMMARY[bench()]][figure], 0)
                if bench() != "primitives":  # whose table has a column for each part of a name
                    self.assertIn(f"| {row['name']} ", done.stdout)
        for key in ("cpu", "usable_cpus", "kernel", "compiler", "flags", "build_type"):
            self.assertTrue(record["machine"][key] or key in ("flags", "build_type"), key)
        self.check_program(record, done.stdout)

    def check_program(self, record, text):
        if bench() == "primitives":
            for row in record["rows"]:
                for figure in (row["round_trip"]["wall_us"], row["round_trip"]["cpu_us"], row["round_trip_ratio"]["to_std"]):
                    self.assertGreater(figure, 0)
                self.assertLessEqual(row["operations_per_sample"], row["full_operations"])
                self.assertIn(row["cut_samples"], (0, 1))
                if row["operations_per_sample"] < row["full_operations"]:
                    self.assertIn(f"scaled 1/{row['full_operations'] / row['operations_per_sample']:.0f}", text)
        if bench() == "objects":
            lines = text.count("Unit execution time: ")
            self.assertEqual(lines, len(record["rows"]))

    def test_bad_arguments_get_one_line_and_status_2(self):
        for arguments in (["--samples", "0"], ["--samples", "many"], ["--filter", "("],
                          ["--filter", "no such row"], ["--json", "no/such/directory/x"],
                          ["--json", "."], ["--unknown"], ["extra"], *BAD[bench()]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")

    def test_filter_selects_rows(self):
        wanted = ROWS[bench()][0]
        self.assertEqual(run("--list", "--filter", f"^{wanted}$").stdout.split(), [wanted])

    def test_help_ends_well(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Exit status", done.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
