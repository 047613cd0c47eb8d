#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The way from a public call to its atomic operation stays short, and way.py says so when it does not."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check import way

MOST = {"lock": "2/2", "unlock": "0", "barrier": "3/9", "run": "7/25", "for_each": "12/42", "contended": "6/30"}


class Way(unittest.TestCase):
    """The library is compiled once for all ways. Only unlock's is named as too long: it has one file, and none is allowed."""

    def test_the_ways_are_short_and_one_that_is_too_long_is_said(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = way.main(["way.py", *MOST, *(f"--most={name}={count}" for name, count in MOST.items())])
        self.assertEqual(status, 1, said.getvalue())
        too_long = [line for line in said.getvalue().splitlines() if "too long" in line]
        self.assertEqual(len(too_long), 1, said.getvalue())
        self.assertEqual(too_long[0], "unlock: 1 files, 1 functions, at most 0: too long")


if __name__ == "__main__":
    unittest.main()
