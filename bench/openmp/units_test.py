#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the driver of the OpenMP programs notice other values, hangs, crashes, and a runtime that is not the wanted one?"""

import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

import modes
import programs
import report
import run


def record(mode, value="1", wall=10.0, cpu=20.0, case="c", setting="idle", **more):
    one = {"value": value, "wall_us": wall, "cpu_us": cpu, "disturbed": False}
    return report.record("p", setting, case, mode, [one] * 3) | more


class Values(unittest.TestCase):
    def test_equal_values_are_no_difference(self):
        self.assertEqual(report.differences([record("libgomp"), record("ours")]), [])

    def test_another_value_than_that_of_libgomp_is_a_difference(self):
        found = report.differences([record("ours", "2"), record("libgomp", "1")])
        self.assertEqual([(one["mode"], one["text"]) for one in found], [("ours", "2 instead of 1")])

    def test_values_are_compared_by_setting_and_case(self):
        self.assertEqual(report.differences([record("libgomp"), record("ours", "2", case="d"),
                                             record("ours", "3", setting="4")]), [])

    def test_a_value_that_changes_from_sample_to_sample_is_a_difference(self):
        samples = [{"value": value, "wall_us": 1.0, "cpu_us": 1.0, "disturbed": False} for value in ("1", "2")]
        found = report.differences([record("libgomp"), report.record("p", "idle", "c", "ours", samples)])
        self.assertEqual([one["mode"] for one in found], ["ours"])

    def test_a_case_that_says_wrong_is_a_difference_even_if_all_say_so(self):
        self.assertEqual(len(report.differences([record("libgomp", "wrong"), record("ours", "wrong")])), 2)

    def test_outcomes_may_differ(self):
        self.assertEqual(report.differences([record("libgomp", outcome=True), record("ours", "2", outcome=True)]), [])


class Times(unittest.TestCase):
    def test_the_ratio_is_to_the_fastest_of_the_others(self):
        row = {one["mode"]: one for one in (record("libgomp", wall=20), record("libomp", wall=10, cpu=40), record("ours", wall=5))}
        self.assertEqual(report.ratio(row), (0.5, 0.5))

    def test_without_ours_there_is_no_ratio(self):
        self.assertIsNone(report.ratio({"libgomp": record("libgomp")}))

    def test_the_summary_has_the_mean_of_the_cases_and_the_worst(self):
        lines = report.summary_table([record("libgomp"), record("ours", wall=5), record("libgomp", case="d"),
                                      record("ours", wall=20, case="d")], ["libgomp", "ours"])
        self.assertEqual(lines[-1], "| p | idle | 1.00 | 1.00 | 2.00 |")

    def test_the_pages_tell_all_that_went_wrong(self):
        page = report.markdown({"records": [record("libgomp")], "machine": {"text": "A machine."},
                                "not_had": [{"program": "q", "text": "no network"}], "not_set": [], "differences": [],
                                "failures": [{"program": "p", "setting": "idle", "mode": "ours", "text": "hangs\nbacktrace"}]})
        self.assertIn("- q: no network", page)
        self.assertIn("- p, idle, ours: hangs\n", page)
        self.assertIn("| idle | c | 10.0 (20.0) | - |", page)


class Processes(unittest.TestCase):
    def once(self, code, timeout=60.0):
        return run.run_once([sys.executable, "-c", code], dict(os.environ), None, timeout)

    def test_output_and_cpu_time_are_returned(self):
        text, cpu, wall = self.once("import time\nwhile time.process_time() < 0.1: pass\nprint('done')")
        self.assertEqual(text, "done\n")
        self.assertGreaterEqual(cpu, 0.1)
        self.assertGreater(wall, 0)

    def test_a_crash_is_a_failure_with_its_signal(self):
        with self.assertRaisesRegex(run.Failure, "signal 6"):
            self.once("import os; os.abort()")

    def test_an_exit_status_is_a_failure_with_what_was_said(self):
        with self.assertRaisesRegex(run.Failure, "exit status 3: no luck"):
            self.once("import sys; print('no luck', file=sys.stderr); sys.exit(3)")

    def test_a_hang_is_a_failure_and_leaves_nobody_behind(self):
        with tempfile.TemporaryDirectory() as scratch:
            where = Path(scratch, "child")
            with self.assertRaisesRegex(run.Failure, "no end after 2 s"):
                self.once("import os, time\n"
                          f"if os.fork() == 0: open({str(where)!r}, 'w').write(str(os.getpid()))\n"
                          "time.sleep(600)", timeout=2)
            child = int(where.read_text(encoding="utf-8"))
        deadline = time.monotonic() + 60  # it dies when it gets the CPU
        while self.is_alive(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(self.is_alive(child))

    @staticmethod
    def is_alive(process):
        try:
            return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False


class Runtimes(unittest.TestCase):
    def test_a_library_of_the_right_name_is_found_by_its_directory(self):
        self.assertEqual(modes.Mode("ours", library="/x/libgomp.so.1").variables(False), {"LD_LIBRARY_PATH": "/x"})

    def test_it_is_preloaded_where_a_program_brings_another(self):
        self.assertEqual(modes.Mode("ours", library="/x/libgomp.so.1").variables(True), {"LD_PRELOAD": "/x/libgomp.so.1"})

    def test_settings_of_the_caller_do_not_reach_the_programs(self):
        os.environ["OMP_WAIT_POLICY"] = "active"
        self.addCleanup(os.environ.pop, "OMP_WAIT_POLICY")
        seen = modes.environment(modes.Mode("libgomp"), modes.Setting("4", "", threads=4), False)
        self.assertNotIn("OMP_WAIT_POLICY", seen)
        self.assertEqual(seen["OMP_NUM_THREADS"], "4")

    def test_a_program_that_another_runtime_serves_is_a_failure(self):
        with tempfile.TemporaryDirectory() as scratch:
            own = Path(scratch, "libgomp.so.1")
            own.touch()
            mode, program = modes.Mode("ours", library=str(own)), programs.PROGRAMS[0]
            run.check_runtime(program, mode, [{"runtime": [str(own)]}], {})
            with self.assertRaisesRegex(run.Failure, "/other/libgomp.so.1"):
                run.check_runtime(program, mode, [{"runtime": ["/other/libgomp.so.1"]}], {})


class Merging(unittest.TestCase):
    def test_records_replace_those_of_the_same_program_and_setting_only(self):
        empty = {"failures": [], "not_had": [], "not_set": []}
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch, "results.json")
            old = {"records": [record("ours", "old"), record("ours", "old", setting="4")]} | empty
            path.write_text(json.dumps(old), encoding="utf-8")
            merged = run.merged({"records": [record("ours", "new")]} | empty, path)
        self.assertEqual([(one["setting"], one["values"]) for one in merged["records"]], [("4", ["old"]), ("idle", ["new"])])


if __name__ == "__main__":
    unittest.main()
