#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every runner measure every kind of graph, keep to its edges, and does the driver record it? Says nothing about speed.

usage: smoke_test.py directory-of-the-runners
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import smoke  # noqa: E402

HERE = Path(__file__).resolve().parent
DIRECTORY = None
# Peers that spin for long are left out, because other tests run beside this one. Loops are long.
WORKS = (r"^((chain|two) .*|(diamond|tree of 1023|wavefront 16|random 100), empty|fork 8, 1 us|plan of random 100|"
         r"random 1000, 1 us, (8 threads|beside a bound one)) "
         r"/ (lockstep( measured| stepwise)?|by hand(, events)?|oneTBB( lightweight| 1 thread)?|Taskflow|libomp|libgomp passive)$")
TINY = ("--quick", "--samples", "1", "--seconds", "0.0005")


def run(*arguments):
    return smoke.driver(HERE / "run.py", "--runners", DIRECTORY, *arguments)


def runner(*arguments):
    return smoke.run(Path(DIRECTORY) / "graph_lockstep", *arguments)


class Smoke(smoke.Smoke):
    def test_every_row_is_measured_and_recorded_and_rows_can_be_added(self):
        names = run(*TINY, "--filter", WORKS, "--list").stdout.splitlines()
        self.assertIn("wavefront 16, empty / lockstep", names)
        def measure(path):
            nonlocal record
            done = run(*TINY, "--filter", WORKS, "--all", "--json", path)
            record = json.loads(path.read_text(encoding="utf-8"))
            again = run(*TINY, "--filter", "^plan of chain", "--add", "--json", path)
            self.assertEqual(again.returncode, 0, again.stderr)
            return done

        record = None
        done, longer = self.recorded(measure)
        self.assertIn("QUICK", done.stdout)
        self.assertEqual([row["name"] for row in record["rows"]], names)
        self.assertEqual([row["name"] for row in longer["rows"]], [*names, "plan of chain 10000 / lockstep"])
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                self.assertFalse(row["failed"])
                self.assertEqual(len(row["values"]), 1)
                self.assertIn(f"| {row['work']} ", done.stdout)
        self.assertRegex(done.stdout, r"Verdict \(quick\)\n(met|NOT MET) ")

    def test_a_loop_runs_as_often_as_it_should(self):
        for peer in sorted({line.split(" ", 1)[1] for line in runner("--list").stdout.splitlines() if line.startswith("loop/")}):
            with self.subTest(peer=peer):
                done = runner("loop/0", peer, "--size", "1000")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bad_arguments_get_one_line_and_status_2(self):
        self.expect_one_line(run, (["--samples", "0"], ["--filter", "("], ["--seconds", "nan"], ["--filter", "no such row"], ["--add"],
                          ["--json", "no/such/directory/x"], ["--json", "."], ["--budget", "soon"],
                          ["--runners", "no/such/directory"], ["--unknown"], ["extra"]))

    def test_help_ends_well(self):
        self.expect_help(run)


if __name__ == "__main__":
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
