#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The way from a public call to its atomic operation stays short, and way.py says so when it does not."""

import contextlib
import io
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check import way

MOST = {"run": 24}
if "LOCKSTEP_TEST_BRIEF" not in os.environ:  # each way takes five seconds of compiler
    MOST.update({"lock": 3, "unlock": 3, "barrier": 5})


class Way(unittest.TestCase):
    def run_way(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = way.main(["way.py", *arguments])
        return status, said.getvalue()

    def test_the_ways_are_short(self):
        status, said = self.run_way(*MOST, *(f"--most={name}={count}" for name, count in MOST.items()))
        self.assertEqual(status, 0, said)

    def test_a_way_that_is_too_long_is_said(self):
        status, said = self.run_way("barrier", "--most=barrier=2")
        self.assertEqual(status, 1, said)
        self.assertIn("at most 2", said)


if __name__ == "__main__":
    unittest.main()
