#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./do everywhere: does it count what programs say, see what hangs and falls, and does the page follow from the record?"""

import io
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "run"), str(ROOT / "scripts" / "make")]
import everywhere  # noqa: E402
import everywhere_rows as rows  # noqa: E402
import everywhere_work as work  # noqa: E402
import platforms  # noqa: E402

GOOD = """\
[ RUN      ] a.b
[       OK ] a.b (0 ms)
[ RUN      ] a.c/0
a_test.cpp:3: Skipped
one CPU
[  SKIPPED ] a.c/0 (0 ms)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
"""
BAD = """\
[ RUN      ] a.b
[  FAILED  ] a.b, where GetParam() = 3 (0 ms)
[  PASSED  ] 4 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] a.b, where GetParam() = 3
"""


class Counting(unittest.TestCase):
    def count(self, status, said):
        part, at_work = work.Part("tests"), work.Work.__new__(work.Work)
        at_work.row = rows.ROWS[0]
        at_work.count_google_test(part, "room/a", status, said)
        return part

    def test_passed_and_skipped(self):
        part = self.count(0, GOOD)
        self.assertEqual((part.passed, part.failed, part.skipped, part.reasons), (1, 0, 1, {"one CPU": 1}))

    def test_lines_that_end_as_on_windows(self):
        part = self.count(0, GOOD.replace("\n", "\r\n"))
        self.assertEqual((part.passed, part.failed, part.reasons), (1, 0, {"one CPU": 1}))

    def test_failed_once_though_it_is_named_twice(self):
        part = self.count(1, BAD)
        self.assertEqual((part.passed, part.failed, part.failures), (4, 1, ["room/a: a.b"]))

    def test_what_falls_fails_where_it_was(self):
        part = self.count(-11, "[ RUN      ] a.b\n")
        self.assertEqual((part.failed, part.failures), (1, ["room/a: exit status -11, in a.b"]))

    def test_what_hangs_fails_where_it_was(self):
        self.assertIn("not done in", self.count(None, "[ RUN      ] a.b\n").failures[0])

    def test_what_passes_and_falls_at_its_end_fails(self):
        self.assertEqual(self.count(139, GOOD).failed, 1)

    def test_what_says_nothing_fails(self):
        self.assertEqual(self.count(0, "").failed, 1)


class Rows(unittest.TestCase):
    def test_names_are_unique_and_parts_are_known(self):
        names = [row.name for row in rows.ROWS]
        self.assertEqual(len(names), len(set(names)))
        for row in rows.ROWS:
            for part in row.parts:
                self.assertTrue(callable(getattr(work.Work, f"make_{part}", None)), part)

    def test_sources_exist(self):
        for source in {*rows.LINUX, *rows.ANYWHERE, *rows.SCRIPTED, *rows.BRIEF}:
            self.assertTrue((ROOT / "tests" / f"{source}_test.cpp").is_file(), source)

    def test_groups_are_known_to_install(self):
        known = (ROOT / "scripts" / "run" / "install.sh").read_text(encoding="utf-8")
        for group in {group for row in rows.ROWS for group in row.needs}:
            self.assertTrue(f"\n{group} " in known or f" {group}) " in known or f"    {group})" in known, group)

    def test_a_row_that_cannot_be_had_says_so_and_fails_nothing(self):
        record = work.make_row(rows.ROWS[0], "", False, "for_moon: no such package")
        self.assertEqual((record["unavailable"], record["parts"]), ("for_moon: no such package", []))
        self.assertEqual(everywhere.line_of(record)[4], "no")

    def test_what_is_refused_as_it_should_counts_as_compiled(self):
        record = {**work.record_of(rows.ROWS[0]), "parts": [asdict(work.Part("jacobi", compiled=True)),
                                                           asdict(work.Part(rows.REFUSED, passed=1))]}
        self.assertEqual(everywhere.line_of(record)[4], "yes")
        self.assertEqual(platforms.compiled(record), "yes; refused what it should")
        record["parts"][1] = asdict(work.Part(rows.REFUSED, failed=1))
        self.assertIn("does not refuse", platforms.compiled(record))
        record["parts"][0]["compiled"] = False
        self.assertEqual(everywhere.line_of(record)[4], "FAILED")
        self.assertEqual(platforms.compiled(record), "**fails**")


class Parts(unittest.TestCase):
    def make(self, step):
        at_work = work.Work.__new__(work.Work)
        at_work.row, at_work.log, at_work.make_step = rows.ROWS[0], io.StringIO(), step
        return at_work.make("step"), at_work.log.getvalue()

    def test_a_mistake_of_ours_is_a_failure_of_its_part_alone(self):
        def step(part):
            part.passed, part.compiled = 3, True
            raise TypeError("one argument too many")
        part, said = self.make(step)
        self.assertEqual((part.passed, part.failed, part.failures), (3, 1, ["step: TypeError: one argument too many"]))
        self.assertIn("Traceback", said)

    def test_what_is_not_to_be_had_is_no_failure(self):
        def step(part):
            raise work.Unavailable("no such compiler")
        with self.assertRaises(work.Unavailable):
            self.make(step)


class Page(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = Path(scratch.name).resolve()
        (self.tree / platforms.RECORD).parent.mkdir(parents=True)
        for name in (platforms.RECORD, platforms.PAGE):
            shutil.copy(ROOT / name, self.tree / name)

    def check(self):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "make" / "platforms.py", "--check", self.tree],
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def change(self, change):
        path = self.tree / platforms.RECORD
        record = json.loads(path.read_text(encoding="utf-8"))
        change(record["rows"])
        path.write_text(json.dumps(record), encoding="utf-8")

    def test_the_page_of_the_record_is_good(self):
        self.assertEqual(self.check()[0], 0, self.check()[1])

    def test_a_page_written_by_hand_is_stale(self):
        with (self.tree / platforms.PAGE).open("a", encoding="utf-8") as page:
            page.write("All is well.\n")
        self.assertIn("docs/maintainers/platforms.md:1", self.check()[1])

    def test_a_record_without_a_row_is_stale(self):
        self.change(lambda found: found.pop(0))
        self.assertIn(rows.ROWS[0].name, self.check()[1])

    def test_a_record_of_a_row_that_is_gone_is_stale(self):
        self.change(lambda found: found.append({**found[0], "name": "linux-vax"}))
        self.assertIn("linux-vax", self.check()[1])

    def test_failures_are_shown(self):
        record = {"rows": [{"name": "linux-x86_64", "system": "Linux", "architecture": "x86_64", "how": "natively",
                            "remark": "", "left_out": "", "compiler": "GCC 12", "unavailable": "", "date": "2026-01-01",
                            "parts": [{"name": "tests", "compiled": True, "was_run": True, "passed": 3, "failed": 1,
                                       "skipped": 0, "reasons": {}, "failures": ["sync/mutex: a.b"], "seconds": 1}]}]}
        text = platforms.page(record)
        self.assertIn("| 3 | 1 | 0 |", text)
        self.assertIn("**failed**: sync/mutex: a.b", text)


if __name__ == "__main__":
    unittest.main()
