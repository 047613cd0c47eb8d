# SPDX-License-Identifier: MIT
"""What the smoke tests of all benchmarks have in common."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def driver(path, *arguments):
    return run(sys.executable, path, *arguments)


class Smoke(unittest.TestCase):
    def recorded(self, measure):
        """What measure(path) returns when it has ended well, and the record that it wrote there and nothing else."""
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "result.json"
            done = measure(path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([one.name for one in path.parent.iterdir()], [path.name])
            return done, json.loads(path.read_text(encoding="utf-8"))

    def expect_one_line(self, ask, cases):
        """Each of these arguments is refused with one line and status 2."""
        for arguments in cases:
            with self.subTest(arguments=arguments):
                done = ask(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Aerror: [^\n]+\n\Z")

    def expect_help(self, ask):
        done = ask("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Exit status", done.stdout)
