#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command 'lockstep' as people call it: what it makes, and what it says of files that it cannot use.

usage: command_test.py path-of-the-command
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import make_trace

COMMAND = None


class Command(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.trace = self.scratch / "some.json"
        self.trace.write_text(make_trace.make(members=3, slices=200, seed=1).text(dropped=0), encoding="utf-8")

    def call(self, *arguments, status=0):
        done = subprocess.run([COMMAND, *map(str, arguments)], cwd=self.scratch, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_the_page_lies_beside_the_trace(self):
        self.assertIn("some.html: 2", self.call("timeline", "some.json"))
        self.assertIn("<title>some.json - lockstep</title>", (self.scratch / "some.html").read_text(encoding="utf-8"))

    def test_the_page_goes_where_it_is_told(self):
        self.call("timeline", self.trace, "-o", "other.html")
        self.assertEqual({path.name for path in self.scratch.iterdir()}, {"some.json", "other.html"})

    def test_the_summary_has_threads_regions_waits_and_marks(self):
        text = self.call("summary", self.trace)
        for part in ("| member 2", "| solver.cpp:30 ", "| sync_threads at solver.cpp:31 ", "| wait for barrier ",
                     "| loop inline ", "skew:"):
            self.assertIn(part, text)

    def test_a_bad_file_is_refused_and_leaves_no_page(self):
        bad = self.scratch / "bad.json"
        for text, cause in (("", "is empty"), ("not JSON", "is not JSON"), ('{"a": 1}', 'no "traceEvents"'),
                            (self.trace.read_text()[:-40], "ends in the middle"),
                            ('{"traceEvents": []}', "no slice of time")):
            bad.write_text(text, encoding="utf-8")
            for command in ("timeline", "summary"):
                said = self.call(command, "bad.json", status=2)
                self.assertTrue(said.startswith("lockstep: bad.json: ") and said.count("\n") == 1, said)
                self.assertIn(cause, said)
        self.assertFalse((self.scratch / "bad.html").exists())

    def test_a_missing_file_or_argument_is_told(self):
        self.assertIn("nowhere.json", self.call("timeline", "nowhere.json", status=2))
        self.assertIn("LOCKSTEP_TRACE=", self.call("timeline", "nowhere.json", status=2))
        self.assertIn("LOCKSTEP_TRACE=", self.call("timeline", self.scratch, status=2))
        for arguments in ((), ("timeline",), ("unheard-of",), ("summary", "some.json", "more")):
            self.assertIn("See lockstep --help.", self.call(*arguments, status=2))
        self.assertIn("not unheard-of", self.call("unheard-of", status=2))

    def test_a_page_that_cannot_be_written_is_told(self):
        self.assertIn("cannot write", self.call("timeline", self.trace, "-o", "no/such/directory.html", status=1))

    def test_a_page_that_is_larger_than_a_file_may_be_is_told(self):
        limited = f"ulimit -f 1; exec '{COMMAND}' timeline '{self.trace}' -o page.html"
        done = subprocess.run(["sh", "-c", limited], cwd=self.scratch, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("page.html: cannot write: File too large", done.stderr)
        self.assertFalse((self.scratch / "page.html").exists())

    def test_the_recording_is_not_overwritten_by_its_page(self):
        before = self.trace.read_text(encoding="utf-8")
        (self.scratch / "link.json").symlink_to(self.trace)
        named = self.scratch / "named.html"
        named.write_text(before, encoding="utf-8")
        for arguments in (("some.json", "-o", "some.json"), ("some.json", "-o", self.trace),
                          ("link.json", "-o", "some.json"), ("named.html",)):
            self.assertIn("is the trace itself", self.call("timeline", *arguments, status=2))
        self.assertEqual(self.trace.read_text(encoding="utf-8"), before)
        self.assertEqual(named.read_text(encoding="utf-8"), before)

    def test_names_do_not_command_the_terminal(self):
        made = make_trace.Trace()
        evil = "red\x1b[31m\nnew line\x7f\u009b"
        made.name(0, evil)
        made.slice("region", evil, 0, 0, 1000, where=f"{evil}.cpp:1")
        made.slice("user", evil, 0, 100, 200)
        made.mark("user", evil, 0, 300)
        self.trace.write_text(made.text(dropped=0), encoding="utf-8")
        text = self.call("summary", self.trace)
        self.assertNotRegex(text, "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]")
        self.assertNotIn("\nnew line", text)
        self.assertGreaterEqual(text.count(r"red\x1b[31m\nnew line\x7f\x9b"), 4)

    def test_what_was_lost_is_said(self):
        made = make_trace.Trace()
        for thread in range(2):
            made.name(thread, f"member {thread}")
            for i in range(10):
                made.slice("region", "loop", thread, 1000 * i, 1000 * i + 500, where="solver.cpp:7")
        made.add(ph="M", name="thread_lost", tid=1, args={"records": 9, "whole_from": 4.0})
        self.trace.write_text(made.text(dropped=9, duration_us=9.5), encoding="utf-8")
        text = self.call("summary", self.trace)
        self.assertIn("9 records lost, the oldest", text)
        self.assertIn("from 4.00 us to 9.50 us", text)
        self.assertRegex(text, r"\| loop at solver.cpp:7 +\| +12 \|")  # 6 of each
        self.assertRegex(text, r"\| serial: no region runs +\| +5 \|")

    def test_help_names_the_sub_commands(self):
        for word in ("timeline", "summary"):
            self.assertIn(word, self.call("--help"))


if __name__ == "__main__":
    COMMAND = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
