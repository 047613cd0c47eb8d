#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the drivers of loops between other things measure and record their cells? Says nothing about speed.

usage: smoke_test.py directory-of-the-runners
"""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import smoke  # noqa: E402

BENCH = Path(__file__).resolve().parent.parent
DIRECTORY = None
TINY = ("--quick", "--samples", "1", "--budget", "5")
# Some cells of each program; peers that spin for long are left out, because other tests run beside this one.
CELLS = {"duty": r"idle: (regular|random) P=20 S=(0|200) ", "serial": r"idle: (daxpy|dot) n=(16|4096) pause=100 ",
         "periodic": r"idle: (every 1000|the last of loops 0) us "}
PEERS = r"/ (lockstep|lockstep loops|libgomp passive|oneTBB)$"


def run(program, *arguments):
    return smoke.driver(BENCH / program / "run.py", "--runners", DIRECTORY, *arguments)


def runner(*arguments):
    return smoke.run(Path(DIRECTORY) / "team_lockstep", *arguments)


class Smoke(smoke.Smoke):
    def test_every_row_is_measured_and_recorded(self):
        for program, cells in CELLS.items():
            with self.subTest(program=program):
                chosen = (*TINY, "--filter", cells + ".*" + PEERS)
                names = run(program, *chosen, "--list").stdout.splitlines()
                self.assertGreaterEqual(len(names), 4)
                done, record = self.recorded(lambda path: run(program, *chosen, "--json", path))
                self.assertIn("expected: ", done.stderr)
                self.assertIn("## Verdict (quick)", done.stdout)
                self.assertEqual([f"{r['setting']}: {r['cell']} / {r['peer']}" for r in record["rows"]], names)
                for row in record["rows"]:
                    self.assertFalse(row["failed"])
                    for figure in ("loop_ns", "serial_ns", "mean_ratio", "p95_ratio", "cpus"):
                        self.assertGreater(row[figure], 0)
                for key in ("machine", "date", "peers", "settings", "effort"):
                    self.assertIn(key, record)

    def test_each_setting_is_made_or_says_why_not(self):
        done = run("duty", *TINY, "--settings", "bound,two,one-cpu,8,quota", "--filter", "regular P=20 S=0 / lockstep$")
        self.assertEqual(done.returncode, 0, done.stderr)
        for title in ("bound to the first CPU", "two busy processes", "on one CPU", "8 threads", "quota of half a CPU"):
            self.assertRegex(done.stdout, title + r".*\n\n(\| cell [^\n]*\n[^\n]*\n\| regular P=20 S=0|could not be set: )")

    def test_the_plan_is_told_without_measuring(self):
        for program in CELLS:
            done = run(program, "--plan", "--budget", "20m")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"\Aplan: .* 9 samples .*expected: .* of 20\.0 min\n\Z")

    def test_bad_arguments_get_one_line_and_status_2(self):
        for program in CELLS:
            self.expect_one_line(lambda *arguments: run(program, *arguments), (
                ["--samples", "0"], ["--filter", "("], ["--filter", "no such row"], ["--json", "."], ["--settings", "moon"],
                ["--budget", "soon"], ["--budget", "0m"], ["--runners", "no/such/directory"], ["extra"]))

    def test_gaps_as_long_as_the_loop_have_serial_loops_of_the_same_time(self):
        done = runner("duty", "lockstep", "--threads", "2", "--samples", "1", "--seconds", "0.01", "--cells",
                      "regular:20:0:3,regular:20:200:3")
        short, long = (len(cell["serial_ns"][0]) for cell in json.loads(done.stdout)["cells"])
        self.assertEqual(short, 3)       # from before the team: the least that a sample has
        self.assertGreaterEqual(long, 4)  # one in each gap, of which the first does not count as a loop

    def test_a_runner_refuses_what_is_no_cell(self):
        self.expect_one_line(runner, (
            ["duty", "lockstep"], ["barrier", "lockstep", "--cells", "regular:5:0:1"],
            *(["duty", "lockstep", "--cells", cell] for cell in (
                "regular:5:0", "regular:5:0:1:1", "regular:-1:0:1", "regular:5:-1:1", "moon:5:0:1", "")),
            ["serial", "lockstep", "--cells", "moon:5:0:1"], ["periodic", "lockstep", "--cells", "moon:5:0:1"]))


if __name__ == "__main__":
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
