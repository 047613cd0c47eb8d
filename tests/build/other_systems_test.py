#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the library compiled for other systems, do its observers see there what they see here, and do timed waits sleep on
systems of 32 bits? With whatever is installed of: MinGW (with POSIX threads) and Wine; a compiler for i686; Zig, for
musl and for macOS, for which it is only compiled.

usage: other_systems_test.py include-directory
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCES = Path(__file__).parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
INCLUDE = None

MINGW = shutil.which("x86_64-w64-mingw32-g++-posix")
WINE = shutil.which("wine") or shutil.which("wine64")
I686 = shutil.which("i686-linux-gnu-g++") or shutil.which("i686-linux-gnu-g++-12")


def zig():
    if shutil.which("zig"):
        return ["zig", "c++"]
    return [sys.executable, "-m", "ziglang", "c++"] if importlib.util.find_spec("ziglang") else None


class OtherSystems(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def compile(self, compiler, *flags, program="observed"):
        made = self.directory / f"{program}.exe"
        done = subprocess.run([*compiler, "-std=c++11", "-O1", *WARNINGS, "-I", INCLUDE, SOURCES / f"{program}.cpp",
                               "-o", made, *flags], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])
        return made

    def run_and_look(self, command):
        # Wine keeps its files below the home directory. What it leaves running would keep pipes open.
        said, reported = self.directory / "said", self.directory / "reported"
        with said.open("w") as out, reported.open("w") as errors:
            done = subprocess.run([*command, "trace.json"], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=errors, check=False, timeout=300,
                                  env={**os.environ, "HOME": str(self.directory), "WINEDEBUG": "-all"})
        said, reported = said.read_text(encoding="utf-8"), reported.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 0, reported)
        self.assertIn("sync_sum", said)
        self.assertIn("waits for nothing that lockstep knows", said)
        self.assertTrue(said.rstrip().endswith("ended"), said)
        self.assertIn("lockstep watchdog", reported)
        self.assertIn("for lockstep::event at", reported)
        events = json.loads((self.directory / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
        names = [each["args"]["name"] for each in events if each["name"] == "thread_name"]
        self.assertEqual(len(names), 2)
        self.assertNotIn("", names)
        for category, count in (("region", 5), ("part", 10), ("construct", 20)):
            self.assertEqual(len([1 for each in events if each.get("cat") == category]), count, category)

    @unittest.skipUnless(MINGW, "no MinGW with POSIX threads")
    def test_windows(self):
        made = self.compile([MINGW], "-static")
        if not WINE:
            self.skipTest("it was compiled; no Wine to run it")
        self.run_and_look([WINE, made])

    def check_timed_waits(self, compiler, *flags):
        made = self.compile(compiler, "-static", "-pthread", *flags, program="timed")
        for refused in [], ["old"], ["new"]:
            with self.subTest(refused=refused):
                done = subprocess.run([made, *refused], capture_output=True, text=True, check=False, timeout=60)
                self.assertIn(done.returncode, (0, 77), done.stdout + done.stderr)

    @unittest.skipUnless(I686, "no compiler for i686")
    def test_timed_waits_with_32_and_64_bits_of_time(self):
        self.check_timed_waits([I686])
        self.check_timed_waits([I686], "-D_TIME_BITS=64", "-D_FILE_OFFSET_BITS=64")

    @unittest.skipUnless(zig(), "no Zig")
    def test_timed_waits_of_musl(self):
        self.check_timed_waits(zig(), "-target", "x86-linux-musl")
        for target in "arm-linux-musleabihf", "riscv32-linux-musl":
            self.compile(zig(), "-target", target, "-c", program="timed")

    @unittest.skipUnless(zig(), "no Zig")
    def test_musl(self):
        self.run_and_look([self.compile(zig(), "-target", "x86_64-linux-musl")])

    @unittest.skipUnless(zig(), "no Zig")
    def test_macos_compiles(self):
        self.compile(zig(), "-target", "aarch64-macos", "-c")


if __name__ == "__main__":
    INCLUDE = sys.argv.pop()
    if not MINGW and not I686 and not zig():
        sys.exit(77)
    unittest.main()
