#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every runner measure every kind of graph, keep to its edges, and does the driver record it? Says nothing about speed.

usage: smoke_test.py directory-of-the-runners
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIRECTORY = None
# Peers that spin for long are left out, because other tests run beside this one. Loops are long.
WORKS = (r"^((chain|two) .*|(diamond|tree of 1023|wavefront 16|random 100), empty|fork 8, 1 us|plan of random 100|"
         r"random 1000, 1 us, (8 threads|beside a bound one)) "
         r"/ (lockstep( measured| stepwise)?|by hand(, events)?|oneTBB( lightweight| 1 thread)?|Taskflow|libomp|libgomp passive)$")
TINY = ("--quick", "--samples", "1", "--seconds", "0.0005")


def run(*arguments):
    return subprocess.run([sys.executable, HERE / "run.py", "--runners", DIRECTORY, *arguments],
                          capture_output=True, text=True, check=False)


def runner(*arguments):
    return subprocess.run([Path(DIRECTORY) / "graph_lockstep", *arguments], capture_output=True, text=True, check=False)


class Smoke(unittest.TestCase):
    def test_every_row_is_measured_and_recorded_and_rows_can_be_added(self):
        names = run(*TINY, "--filter", WORKS, "--list").stdout.splitlines()
        self.assertIn("wavefront 16, empty / lockstep", names)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            done = run(*TINY, "--filter", WORKS, "--all", "--json", str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([p.name for p in path.parent.iterdir()], [path.name])
            record = json.loads(path.read_text(encoding="utf-8"))
            again = run(*TINY, "--filter", "^plan of chain", "--add", "--json", str(path))
            self.assertEqual(again.returncode, 0, again.stderr)
            longer = json.loads(path.read_text(encoding="utf-8"))
        self.assertIn("QUICK", done.stdout)
        self.assertEqual([row["name"] for row in record["rows"]], names)
        self.assertEqual([row["name"] for row in longer["rows"]], [*names, "plan of chain 10000 / lockstep"])
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                self.assertFalse(row["failed"])
                self.assertEqual(len(row["values"]), 1)
                self.assertIn(f"| {row['work']} ", done.stdout)
        self.assertTrue(record["verdict"])

    def test_a_loop_runs_as_often_as_it_should(self):
        for peer in sorted({line.split(" ", 1)[1] for line in runner("--list").stdout.splitlines() if line.startswith("loop/")}):
            with self.subTest(peer=peer):
                done = runner("loop/0", peer, "--size", "1000")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bad_arguments_get_one_line_and_status_2(self):
        for arguments in (["--samples", "0"], ["--filter", "("], ["--seconds", "nan"], ["--filter", "no such row"], ["--add"],
                          ["--json", "no/such/directory/x"], ["--json", "."], ["--budget", "soon"],
                          ["--runners", "no/such/directory"], ["--unknown"], ["extra"]):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")

    def test_help_ends_well(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Exit status", done.stdout)


if __name__ == "__main__":
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
