#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every runner measure every work it lists, and does the driver record it? Says nothing about speed.

usage: smoke_test.py directory-of-the-runners
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import smoke  # noqa: E402

HERE = Path(__file__).parent
DIRECTORY = None
# One of a kind: every work that takes a size takes it in all of its rows. The peers' settings are those that
# do not spin for long, because other tests run beside this one.
WORKS = (r"^(overhead (parallel|ordered|dynamic\(8\)) of 2|fork/join of 4|barrier of 2|"
         r"burst after 1 ms|last start, hot|break-even filter|n-body 16|cg 64|n-body 512, (static|dynamic)|"
         r"components 4, (static|dynamic)|jacobi 64 beside a bound one) "
         r"/ (lockstep|libgomp passive|libomp blocktime 0|oneTBB|ForkUnion yield|std::\w+|serial)( stepwise| loops| simple)?$")
TINY = ("--quick", "--samples", "1", "--seconds", "0.0005")


def run(*arguments):
    return smoke.driver(HERE / "run.py", "--runners", DIRECTORY, *arguments)


class Smoke(smoke.Smoke):
    def test_every_row_is_measured_and_recorded(self):
        chosen = (*TINY, "--competitor", "--filter", WORKS)
        names = run(*chosen, "--list").stdout.splitlines()
        self.assertIn("cg 64 / lockstep", names)
        done, record = self.recorded(lambda path: run(*chosen, "--all", "--json", path))
        self.assertIn("QUICK", done.stdout)
        self.assertEqual([row["name"] for row in record["rows"]], names)
        for row in record["rows"]:
            with self.subTest(row=row["name"]):
                self.assertFalse(row["failed"])
                self.assertEqual(len(row["samples"]), 1)
                self.assertIn(f"| {row['work']} ", done.stdout)
        for key in ("cpu", "usable_cpus", "kernel", "compiler", "flags", "peers"):
            self.assertIn(key, record["machine"])
        self.assertIn("lockstep", record["machine"]["peers"])

    def test_bad_arguments_get_one_line_and_status_2(self):
        self.expect_one_line(run, (["--samples", "0"], ["--samples", "many"], ["--filter", "("], ["--seconds", "nan"],
                          ["--filter", "no such row"], ["--json", "no/such/directory/x"], ["--json", "."],
                          ["--threads", "0"], ["--runners", "no/such/directory"], ["--unknown"], ["extra"]))

    def test_a_runner_says_what_it_does_not_know(self):
        self.expect_one_line(lambda *arguments: smoke.run(Path(DIRECTORY) / "team_lockstep", *arguments),
                             (["no-work", "lockstep"], ["barrier", "nobody"], ["barrier"], []))

    def test_help_ends_well(self):
        self.expect_help(run)


if __name__ == "__main__":
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
