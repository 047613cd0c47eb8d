#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the committed page, which ./do check compares with the results, does not show of its generator."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

from tree import TreeTest

from make import performance, team_tables
from source_text import ROOT

MACHINE = {"cpu": "CPU", "usable_cpus": 2, "kernel": "Linux", "compiler": "GCC", "flags": "-O2", "peers": {"tbb": "1"}}
PEERS = {"lockstep": {"environment": {}}, "lockstep loops": {"environment": {}},
         "oneTBB": {"environment": {"TBB": "<slow>"}}}


def row(peer, ratio, setting="idle", kind="regular", size=20, pause=100, **more):
    return {"setting": setting, "cell": f"{kind} {size} {pause}", "kind": kind, "size": size, "pause_us": pause, "peer": peer,
            "failed": False, "value": {"median": ratio, "min": ratio, "max": ratio}, "p95_ratio": ratio, "mean_ratio": ratio,
            "cpus": 1.5, "loop_ns": 1000 * ratio, "p95_ns": 1000 * ratio, "p99_ns": 1000 * ratio, "serial_ns": 1000,
            "serial_p95_ns": 1000} | more


def grid(program, rows):
    return {"program": program, "quick": False, "date": "2026-01-02", "machine": MACHINE, "peers": PEERS,
            "settings": {"idle": {"title": "nothing else"}, "quota": {"title": "a quota", "left_out": "no groups"}},
            "effort": {"samples": 9, "processes": 3, "seconds": 600},
            "rows": rows}


def made(**programs):
    """{path: text} of all that is generated from the results."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "bench/results").mkdir(parents=True)
        (root / "docs").mkdir()
        for program, result in programs.items():
            (root / f"bench/results/box-1-{program}.json").write_text(json.dumps(result), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            assert performance.main(["script", directory]) == 0
            assert performance.main(["script", "--check", directory]) == 0
        return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
                for path in (root / "docs").rglob("*") if path.is_file()}


class Page(unittest.TestCase):
    def test_losing_cells_of_ours_are_marked_and_no_others(self):
        rows = [row("lockstep", 0.56), row("lockstep loops", 0.55), row("oneTBB", 0.5), row("lockstep", 1.06, kind="random"),
                row("oneTBB", 9.0, kind="random")]
        page = made(duty=grid("duty", rows))["docs/performance.md"]
        self.assertRegex(page, r"\| 20 µs, 100 µs \| +0\.56 \(1\.5\) ✗ \| +0\.55 \(1\.5\) \| +0\.50 \(1\.5\) \|")
        self.assertRegex(page, r"\| 20 µs, 100 µs \| +1\.06 \(1\.5\) ✗ \| +- \| +9\.00 \(1\.5\) \|")


class Blocks(TreeTest):
    main = performance.main

    def test_blocks_of_the_page_for_users_are_filled_in(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "docs").mkdir()
            page = root / performance.README
            page.write_text("a\n<!-- figures: team -->\nold\n<!-- end -->\nb\n", encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(performance.main(["script", directory]), 0)
            self.assertEqual(page.read_text(encoding="utf-8"),
                             "a\n<!-- figures: team -->\n*Not measured yet.*\n<!-- end -->\nb\n")

    def test_the_table_of_the_first_page_has_at_most_six_rows_and_marks_losses(self):
        def one(work, runtime, value):
            return {"section": "s", "work": work, "runtime": runtime, "variant": runtime, "failed": False, "unit": "ns",
                    "value": {"median": value}, "best": True}
        rows = [one(work, runtime, value) for work, _ in team_tables.SUMMARY
                for runtime, value in (("lockstep", 120), ("libomp", 100), ("oneTBB", 10))]
        table = team_tables.summary({"rows": rows}, [], "✗").split("\n")
        self.assertLessEqual(len(table) - 2, 6)
        self.assertRegex(table[2], r"fork/join, 2 threads +\| +120 ns \| +- \| 100 ns \| +- \| +- \| +1\.20 ✗ \|")
        self.assertIn("<!-- figures: team -->", (ROOT / performance.README).read_text(encoding="utf-8"))

    def test_each_table_of_another_page_has_its_machine_and_versions(self):
        found = performance.results(ROOT)
        blocks = performance.blocks_of(found)
        for name in ("team", "seed-000", "seed-001", "seed-002-starts", "seed-004"):
            self.assertRegex(blocks[name], r"(?s)CPUs, Linux .*; GCC .*lockstep\s\d.*\sMeasured\son", name)
        for name in ("team", "seed-002-starts"):
            self.assertIn("fork_union ", blocks[name], name)

    def test_bad_marks_are_refused_and_nothing_is_written(self):
        for text, complaint in (("<!-- figures: moon -->\n<!-- end -->\n", "there are no figures 'moon'"),
                                ("<!-- figures: team -->\n", "have no end"), ("<!-- end -->\n", "without a beginning")):
            self.assert_bad({performance.README: text}, complaint)


class Check(unittest.TestCase):
    def test_a_changed_page_is_noticed_and_pictures_are_drawn_but_not_compared(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "bench/results").mkdir(parents=True)
            (root / "bench/results/box-serial.json").write_text(json.dumps(grid("serial", [row("lockstep", 0.5)])), encoding="utf-8")
            def complaints(*arguments):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    performance.main(["script", *arguments, directory])
                return printed.getvalue().splitlines()[:-1]
            self.assertEqual(complaints(), [])
            picture = root / "docs/figures/box-serial.svg"
            picture.unlink()
            self.assertEqual(complaints("--check"), [])
            page = root / performance.PAGE
            page.write_text(page.read_text(encoding="utf-8") + " ", encoding="utf-8")
            self.assertEqual(len(complaints("--check")), 1)
            self.assertEqual(complaints(), [])
            self.assertTrue(picture.is_file())
            self.assertEqual(complaints("--check"), [])


if __name__ == "__main__":
    unittest.main()
