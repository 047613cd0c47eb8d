#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/run/coverage.py on small reports: what is not reached has to be listed, and nothing else."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from run import coverage  # noqa: E402

HEADER = "lockstep/event.hpp"
SOURCE = ["wait();", "if (late) {", "  give_up();", "}"] + ["notify();"] * 96


def taken(*counts, throw=False):
    return [{"count": count, "throw": throw} for count in counts]


def lines(*unreached, branches=()):
    """All lines of SOURCE, those in `unreached` never run; the branches are those of line 2."""
    return [
        {
            "line_number": number,
            "count": 0 if number in unreached else 7,
            "branches": list(branches) if number == 2 else [],
        }
        for number in range(1, len(SOURCE) + 1)
    ]


class Coverage(unittest.TestCase):
    def run_on(self, report_lines, listed=""):
        """The complaints; asserts that the exit status agrees."""
        with tempfile.TemporaryDirectory() as directory:
            header = Path(directory, "include", HEADER)
            header.parent.mkdir(parents=True)
            header.write_text("\n".join(SOURCE) + "\n")
            report = {"files": [{"file": f"include/{HEADER}", "lines": report_lines}]}
            Path(directory, "report.json").write_text(json.dumps(report))
            Path(directory, "list.txt").write_text(listed)
            before, printed = os.getcwd(), io.StringIO()
            os.chdir(directory)
            try:
                with contextlib.redirect_stdout(printed):
                    status = coverage.main(["coverage.py", "report.json", "list.txt"])
            finally:
                os.chdir(before)
        table, _, complaints = printed.getvalue().rpartition("total")
        self.assertIn(HEADER, table)
        found = complaints.splitlines()[1:]
        self.assertEqual(status, 0 if found == ["coverage: ok"] else 1, found)
        return found

    def assert_good(self, *arguments):
        self.assertEqual(self.run_on(*arguments), ["coverage: ok"])

    def assert_bad(self, expected, *arguments):
        found = self.run_on(*arguments)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_all_lines_reached_need_no_list(self):
        self.assert_good(lines(branches=taken(1, 5)))

    def test_a_line_not_reached_needs_a_reason(self):
        self.assert_bad("event.hpp:3: not reached, and no reason is given: give_up();", lines(3))
        self.assert_good(lines(3), f"# why\n\n{HEADER}: give_up(); -- nobody is late\n")

    def test_a_listed_line_has_to_be_unreached(self):
        listed = f"{HEADER}: give_up(); -- nobody is late\n"
        self.assert_bad("listed as not reached, but it is, or it is gone: give_up();", lines(), listed)
        self.assert_bad("gone: never_was();", lines(), f"{HEADER}: never_was(); -- it is old\n")

    def test_a_line_reached_by_chance_may_be_either(self):
        listed = f"{HEADER}: give_up(); -- by chance: when the other is late\n"
        self.assert_good(lines(), listed)
        self.assert_good(lines(3), listed)

    def test_a_list_without_reasons_is_refused(self):
        for bad in (f"{HEADER}: give_up();", f"{HEADER}: give_up(); -- ", "give_up() -- no header"):
            with self.assertRaises(SystemExit):
                self.run_on(lines(3), bad)

    def test_too_few_lines_or_branches_are_refused(self):
        many = lines(*range(5, 15))
        listed = f"{HEADER}: notify(); -- for the test\n"
        self.assert_bad("fewer than 95.0 % of the lines", many, listed)
        self.assert_bad("fewer than 90.0 % of the branches", lines(branches=taken(1, 1, 0)))

    def test_a_branch_that_only_exceptions_take_does_not_count(self):
        self.assert_good(lines(branches=taken(1, 1) + taken(0, 0, throw=True)))


if __name__ == "__main__":
    unittest.main()
