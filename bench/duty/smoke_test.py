#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the drivers of loops between other things measure and record their cells? Says nothing about speed.

usage: smoke_test.py directory-of-the-runners
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
DIRECTORY = None
TINY = ("--samples", "1", "--seconds", "0.0005")
# One cell of each kind; peers that spin for long are left out, because other tests run beside this one.
CELLS = {"duty": r"^(regular P=5 S=0|random P=20 S=1000|tenth P=5 S=50|alternating P=5 S=10) ",
         "serial": r"^(daxpy n=1 pause=0|dot n=4096 pause=100|sqrt n=16 pause=10|stencil n=256 pause=1000) "}
PEERS = r"/ (lockstep|lockstep loops|libgomp passive|oneTBB)$"


def run(program, *arguments):
    return subprocess.run([sys.executable, BENCH / program / "run.py", "--runners", DIRECTORY, *arguments],
                          capture_output=True, text=True, check=False)


class Smoke(unittest.TestCase):
    def test_every_row_is_measured_and_recorded(self):
        for program, cells in CELLS.items():
            with self.subTest(program=program), tempfile.TemporaryDirectory() as directory:
                chosen = (*TINY, "--filter", cells + PEERS)
                names = run(program, *chosen, "--list").stdout.splitlines()
                self.assertGreaterEqual(len(names), 8)
                path = Path(directory) / "result.json"
                done = run(program, *chosen, "--json", str(path))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("worst of lockstep loops: ", done.stdout)
                record = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual([f"{r['cell']} / {r['peer']}" for r in record["rows"]], names)
                for row in record["rows"]:
                    self.assertFalse(row["failed"])
                    self.assertGreater(row["serial_ns"], 0)

    def test_beside_a_busy_process(self):
        done = run("duty", *TINY, "--competitor", "bound", "--filter", "^regular P=5 S=50 .* / lockstep$")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("beside a bound one", done.stdout)

    def test_bad_arguments_get_one_line_and_status_2(self):
        for arguments in (["--samples", "0"], ["--filter", "("], ["--filter", "no such row"], ["--json", "."],
                          ["--competitor", "none"], ["--runners", "no/such/directory"], ["extra"]):
            for program in CELLS:
                with self.subTest(program=program, arguments=arguments):
                    done = run(program, *arguments)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")


if __name__ == "__main__":
    DIRECTORY = sys.argv.pop(1)
    unittest.main()
