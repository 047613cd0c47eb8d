#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the library records is what the command reads: a traced example, from end to end.

usage: recorded_test.py path-of-the-command path-of-22_slow_loops
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = EXAMPLE = None
STEPS = 20


class Recorded(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.trace = Path(scratch.name) / "trace.json"

    def summary(self, case, mended, members):
        """Of a run of the example; nothing in its trace may be strange to the command."""
        environment = {**os.environ, "LOCKSTEP_TRACE": str(self.trace), "LOCKSTEP_NUM_THREADS": str(members)}
        subprocess.run([EXAMPLE, str(case), str(mended), str(STEPS)], check=True, stdout=subprocess.DEVNULL,
                       env=environment)
        done = subprocess.run([COMMAND, "summary", str(self.trace)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def counts(self, text, name):
        """The numbers of the first row that begins so."""
        row = re.search(rf"^\| {re.escape(name)}[^|]*\|(.*)$", text, re.MULTILINE)
        self.assertIsNotNone(row, f"no row '{name}' in\n{text}")
        return [cell.strip() for cell in row.group(1).split("|")]

    def test_a_region_has_its_name_its_members_and_its_constructs(self):
        text = self.summary(1, 0, members=3)
        self.assertEqual(self.counts(text, "rows, a block each")[:2], ["1", "3"])
        self.assertEqual(self.counts(text, "for_range at 22_slow_loops.cpp:")[0], str(3 * STEPS))

    def test_the_name_is_that_of_the_loop_that_ran(self):
        text = self.summary(1, 1, members=2)
        self.assertEqual(self.counts(text, "rows, as members come")[:2], ["1", "2"])
        self.assertEqual(self.counts(text, "for_each at 22_slow_loops.cpp:")[0], str(2 * STEPS))

    def test_each_run_of_a_loop_is_a_region(self):
        self.assertEqual(self.counts(self.summary(3, 1, members=2), "rods, one a member")[0], "10")

    def test_the_page_is_made_of_it(self):
        self.summary(2, 0, members=2)
        subprocess.run([COMMAND, "timeline", str(self.trace)], check=True, stdout=subprocess.DEVNULL)
        self.assertIn("for_range", self.trace.with_suffix(".html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    COMMAND, EXAMPLE = (str(Path(path).resolve()) for path in (sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main()
