#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the benchmark measure every row and record it? Tiny counts; says nothing about speed.

usage: smoke_test.py primitives-program
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = None
TIMES = ("median", "min", "max", "mean")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class Smoke(unittest.TestCase):
    def test_every_row_is_measured_and_recorded(self):
        names = run("--list").stdout.split()
        self.assertEqual(len(names), 5 * 6 + 3 * 7 + 3 * 6)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            done = run("--quick", "--samples", "1", "--sample-seconds", "0.0005", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])
            record = json.loads(path.read_text(encoding="utf-8"))
        self.assertIn("QUICK", done.stdout)
        self.assertTrue(record["quick"])
        self.assertEqual([row["name"] for row in record["rows"]], names)
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                self.check_row(row, done.stdout)
        self.assertEqual(len(record["verdict"]), done.stdout.count(" (target "))
        self.assertEqual(len(record["verdict"]), 4 + 3 + 2 * 3 + 1)
        for key in ("cpu", "usable_cpus", "kernel", "compiler", "flags", "build_type"):
            self.assertTrue(record["machine"][key] or key in ("flags", "build_type"), key)

    def check_row(self, row, text):
        for time in TIMES:
            self.assertGreater(row["full_ms"][time], 0)
        self.assertGreater(row["round_trip"]["wall_us"], 0)
        self.assertGreater(row["round_trip"]["cpu_us"], 0)
        self.assertGreater(row["round_trip_ratio"]["to_std"], 0)
        self.assertGreater(row["operations_per_sample"], 0)
        part = max(1, row["full_operations"] // row["scale_divisor"])
        self.assertEqual(row["operations_per_sample"], part)
        self.assertIn(row["cut_samples"], (0, 1))
        if row["scale_divisor"] > 1:
            self.assertIn(f"scaled 1/{row['scale_divisor']}", text)

    def test_bad_arguments_get_one_line_and_status_2(self):
        for arguments in (["--samples", "0"], ["--samples", "many"], ["--sample-seconds", "nan"],
                          ["--sample-seconds", "0"], ["--filter", "("], ["--filter", "no such row"],
                          ["--mechanisms", "std,other"], ["--json", "no/such/directory/x"],
                          ["--json", "."], ["--unknown"], ["extra"]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")

    def test_filter_and_mechanisms_select_rows(self):
        done = run("--list", "--filter", "^parallel/4/", "--mechanisms", "naive,std")
        self.assertEqual(done.stdout.split(), ["parallel/4/naive", "parallel/4/std"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
