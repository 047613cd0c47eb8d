#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""./do from where people call it, and what it takes for missing."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Do(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()

    def run_do(self, *command, status=0):
        done = subprocess.run([str(c) for c in command], cwd=self.scratch, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def test_help_is_given_from_any_directory(self):
        self.assertIn("usage: ./do", self.run_do(ROOT / "do", "help"))

    def test_it_finds_its_directory_through_symbolic_links(self):
        (self.scratch / "absolute").symlink_to(ROOT / "do")
        (self.scratch / "relative").symlink_to("absolute")
        for link in ("absolute", "relative"):
            self.assertIn("usage: ./do", self.run_do(self.scratch / link, "help"))

    def test_it_works_at_a_path_with_a_space(self):
        home = self.scratch / "with a space"
        shutil.copytree(ROOT / "scripts", home / "scripts")
        shutil.copy(ROOT / "do", home / "do")
        self.assertIn("usage: ./do", self.run_do(home / "do", "help"))

    def test_an_unknown_command_is_refused(self):
        self.assertIn("usage: ./do", self.run_do(ROOT / "do", "unheard-of", status=2))
        self.assertIn("unheard-of", self.run_do(ROOT / "do", "unheard-of", status=2))

    def test_a_word_too_many_is_refused(self):
        for command in (["check", "more"], ["performance", "more"], ["build", "dev", "more"], ["single", "more"]):
            self.assertIn("more", self.run_do(ROOT / "do", *command, status=2))

    def test_a_benchmark_of_an_old_name_is_refused_with_the_new_one(self):
        self.assertIn("unheard-of", self.run_do(ROOT / "do", "bench", "unheard-of", status=2))

    def test_bad_times_and_readers_of_fuzz_are_refused(self):
        for arguments in (["x"], ["0"], ["-1"], ["1.5"], ["5", "nobody"], ["merge", "nobody"]):
            self.assertIn(f"'{arguments[-1]}'", self.run_do(ROOT / "do", "fuzz", *arguments, status=2))

    def test_an_unknown_preset_is_refused_before_anything_is_installed(self):
        self.assertIn("unheard-of", self.run_do(ROOT / "do", "build", "unheard-of", status=2))


class Need(unittest.TestCase):
    """scripts/run/install.sh with stand-ins for the programs it asks."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.bin = Path(scratch.name, "bin")
        self.bin.mkdir()
        self.log = Path(scratch.name, "log")
        for name in ("bash", "awk", "env", "id", "sed", "grep", "cat", "mktemp", "rm"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.program("apt-get", f'echo "apt-get $*" >>"{self.log}"')
        self.program("apt-cache", 'echo "  Candidate: 1.0"')
        self.program("dpkg-query", "exit 1")  # knows of nothing

    def program(self, name, body="exit 0"):
        path = self.bin / name
        path.write_text(f"#!/usr/bin/env bash\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def need(self, *groups):
        """What apt-get was asked for."""
        command = f'set -euo pipefail; source "{ROOT}/scripts/run/install.sh"; need {" ".join(groups)}'
        if os.getuid() != 0:
            self.program("sudo", '"$@"')
        done = subprocess.run([self.bin / "bash", "-c", command], capture_output=True, text=True,
                              env={"PATH": str(self.bin)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def test_what_is_missing_is_installed(self):
        self.assertRegex(self.need("coverage"), "install .*gcovr")

    def test_a_program_that_is_there_is_not_installed_whoever_brought_it(self):
        self.program("gcovr")
        self.program("python3")
        self.assertEqual(self.need("coverage", "scripts"), "")

    def test_a_header_that_the_compiler_finds_is_not_installed(self):
        self.program("c++", 'grep -q "fmt/core.h"')
        asked = self.need("program")
        self.assertNotIn("libfmt-dev", asked)
        self.assertIn("libcli11-dev", asked)

    def test_a_header_without_its_compiled_library_is_not_enough(self):
        compiled = {"program": ["libfmt-dev"], "model": ["libboost-context-dev"], "test": ["libgtest-dev"],
                    "peers": ["libabsl-dev", "libnsync-dev", "libboost-thread-dev"], "team": ["libtbb-dev"]}
        self.program("c++", 'cat >/dev/null; case " $* " in *" -l"*) exit 1 ;; esac')  # headers only
        asked = self.need(*compiled)
        for package in (name for names in compiled.values() for name in names):
            self.assertIn(package, asked)
        for package in ("libcli11-dev", "nlohmann-json3-dev"):
            self.assertNotIn(package, asked)
        self.log.unlink()
        self.program("c++", "cat >/dev/null")  # the libraries, too
        asked = self.need(*compiled)
        for package in (name for names in compiled.values() for name in names):
            self.assertNotIn(package, asked)

    def test_a_formatter_and_a_compiler_that_are_there_are_not_installed(self):
        self.program("clang-format-19")
        self.program("clang++-19", 'cat >/dev/null; out=""; while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done; : >"$out"')
        self.assertEqual(self.need("format", "clang"), "")

    def test_any_chromium_will_do(self):
        self.assertRegex(self.need("browser"), "install .*chromium-headless-shell")
        self.log.unlink()
        self.program("google-chrome")
        self.assertEqual(self.need("browser"), "")

    def test_nothing_is_installed_where_there_is_no_package_of_chromium(self):
        self.program("apt-cache", 'echo "  Candidate: (none)"')
        self.assertEqual(self.need("browser"), "")


if __name__ == "__main__":
    unittest.main()
