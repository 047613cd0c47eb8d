#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the demo say what its programs found, and notice a wrong result? The programs are stand-ins."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from run import demo  # noqa: E402

PROGRAM = """#!/bin/bash
members=all
while [ $# -gt 0 ]; do printf -v "${{1#--}}" %s "$2"; shift 2; done
echo "{output}" > "$output"
echo '{{"serial_seconds": 0.004, "team_seconds": 0.002, "check": "{check}"}}' > "$json"
"""
FIGURES = """#!/bin/bash
case "$*" in
  "") echo '{{"machine": {{"lockstep": "1.2.3", "cpu": "a CPU", "usable_cpus": 2}}, "cases": [
    ["fork and join", "lockstep"], ["barrier", "lockstep"], ["barrier", "std"]]}}' ;;
  *std) echo 250.0 ;;
  *) echo 150.0 ;;
esac
"""
TOOL = "#!/bin/bash\n> $2\n"


class Demo(unittest.TestCase):
    def run_demo(self, check="ok", output="the same", missing=None):
        with tempfile.TemporaryDirectory() as scratch:
            build = Path(scratch) / "build"
            texts = {f"examples/{problem[1]}": PROGRAM for problem in demo.PROBLEMS}
            for name, text in {**texts, "bench/figures": FIGURES, "tool/lockstep": TOOL}.items():
                (build / name).parent.mkdir(parents=True, exist_ok=True)
                (build / name).write_text(text.format(check=check, output=output), encoding="utf-8")
                (build / name).chmod(0o755)
            if missing:
                (build / missing).unlink()
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), \
                    mock.patch.object(demo, "DEMO", Path(scratch) / "demo"):
                return demo.main(["demo", str(build)]), printed.getvalue()

    def test_good_results_are_told_with_their_times(self):
        status, text = self.run_demo()
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count("4.00 ms    2.00 ms   2.0 times as fast"), len(demo.PROBLEMS))
        self.assertRegex(text, r"barrier +0\.15 µs +0\.25 µs +-\n")

    def test_a_check_that_failed_is_told(self):
        status, text = self.run_demo(check="failed")
        self.assertEqual((status, text.count("WRONG")), (1, len(demo.PROBLEMS)), text)

    def test_output_that_depends_on_the_members_is_wrong(self):
        self.assertEqual(self.run_demo(output="$members")[0], 1)

    def test_a_program_that_is_not_there_is_no_failed_check(self):
        self.assertEqual(self.run_demo(missing="examples/audio")[0], 2)


if __name__ == "__main__":
    unittest.main()
