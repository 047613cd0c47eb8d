#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Are the page of figures and its pictures what the generator makes of the results, and does it notice if not?"""

import contextlib
import io
import json
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from tree import TreeTest

from make import heat_map, performance, team_tables
from source_text import ROOT

MACHINE = {"cpu": "CPU", "usable_cpus": 2, "kernel": "Linux", "compiler": "GCC", "flags": "-O2", "peers": {"tbb": "1"}}
PEERS = {"lockstep": {"environment": {}}, "lockstep loops": {"environment": {}},
         "oneTBB": {"environment": {"TBB": "<slow>"}}}


def row(peer, ratio, setting="idle", kind="regular", size=20, pause=100, **more):
    return {"setting": setting, "cell": f"{kind} {size} {pause}", "kind": kind, "size": size, "pause_us": pause, "peer": peer,
            "failed": False, "value": {"median": ratio, "min": ratio, "max": ratio}, "p95_ratio": ratio, "mean_ratio": ratio,
            "cpus": 1.5, "loop_ns": 1000 * ratio, "p95_ns": 1000 * ratio, "p99_ns": 1000 * ratio, "serial_ns": 1000} | more


def grid(program, rows, **more):
    return {"program": program, "quick": False, "date": "2026-01-02", "machine": MACHINE, "peers": PEERS,
            "settings": {"idle": {"title": "nothing else"}, "quota": {"title": "a quota", "left_out": "no groups"}},
            "effort": {"samples": 9, "processes": 3, "seconds": 600},
            "verdict": [{"text": "a target", "met": False}, {"text": "a figure", "met": None}], "rows": rows} | more


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


class Committed(unittest.TestCase):
    def test_the_page_and_its_pictures_are_what_the_results_say(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = performance.main(["script", "--check", str(ROOT)])
        self.assertEqual(status, 0, printed.getvalue())


class Page(unittest.TestCase):
    def test_what_was_not_measured_is_said(self):
        page = made(serial=grid("serial", [row("lockstep", 0.5)]))["docs/performance.md"]
        self.assertIn("`./do bench duty` has not been run", page)
        self.assertNotIn("`./do bench serial` has not been run", page)

    def test_a_further_machine_has_its_own_section_and_rows_at_the_top(self):
        def team(cpus, median):
            return {"program": "team", "quick": False, "machine": MACHINE | {"usable_cpus": cpus}, "rows": [
                {"section": team_tables.EMPTY, "work": f"barrier of {cpus}", "runtime": runtime, "variant": runtime, "failed": False,
                 "unit": "ns", "value": {"median": value}, "best": True} for runtime, value in (("lockstep", median), ("libomp", 100))]}
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "bench/results").mkdir(parents=True)
            for cpus, median in ((2, 40), (16, 70)):
                (root / f"bench/results/box-{cpus:03}-team.json").write_text(json.dumps(team(cpus, median)), encoding="utf-8")
            page, _ = performance.page_and_pictures(performance.results(root))
        self.assertRegex(page, r"\| barrier, 16 threads on 16 CPUs +\| +70 ns \| +100 ns \(libomp\) \| +0\.70 \|")
        self.assertEqual(page.count("\n## The team's operations\n"), 1)
        self.assertEqual(page.count("\n## The team's operations on 16 CPUs\n"), 1)
        self.assertEqual(page.count("`./do bench duty` has not been run"), 1)

    def test_the_page_begins_with_links_to_its_sections(self):
        page = made(duty=grid("duty", [row("lockstep", 0.5)]))["docs/performance.md"]
        self.assertIn("\n[Loops between serial work](#loops-between-serial-work)\n", page)
        team = {"program": "team", "quick": False, "machine": MACHINE, "rows": []}
        self.assertIn("(#the-teams-operations)", made(team=team)["docs/performance.md"])

    def test_machine_date_versions_and_settings_are_told(self):
        page = made(duty=grid("duty", [row("lockstep", 0.5)]))["docs/performance.md"]
        for text in ("CPU, 2 CPUs, Linux; GCC, `-O2`; tbb 1. Measured on 2026-01-02.", "9 samples of each cell in 3 processes",
                     "oneTBB: `TBB=<slow>`", "a quota: could not be set (no groups)."):
            self.assertIn(text, page)

    def test_losing_cells_of_ours_are_marked_and_no_others(self):
        rows = [row("lockstep", 0.56), row("lockstep loops", 0.55), row("oneTBB", 0.5), row("lockstep", 1.06, kind="random"),
                row("oneTBB", 9.0, kind="random")]
        page = made(duty=grid("duty", rows))["docs/performance.md"]
        self.assertRegex(page, r"\| 20 µs, 100 µs \| +0\.56 \(1\.5\) ✗ \| +0\.55 \(1\.5\) \| +0\.50 \(1\.5\) \|")
        self.assertRegex(page, r"\| 20 µs, 100 µs \| +1\.06 \(1\.5\) ✗ \| +- \| +9\.00 \(1\.5\) \|")

    def test_cells_slower_than_the_serial_loop_are_listed(self):
        rows = [row("lockstep loops", 1.3), row("oneTBB", 7.0), row("lockstep loops", 1.15, size=5)]
        page = made(serial=grid("serial", rows))["docs/performance.md"]
        listed = page[page.index("### Cells in which"):page.index("*box-1: `./do bench duty`")]
        self.assertRegex(listed, r"idle: regular 20 100 \| +- \| +1\.30 ✗ \| +7\.0 \|")
        self.assertNotIn("regular 5 100", listed)  # 100 ns are free

    def test_targets_are_told_with_their_outcome(self):
        page = made(duty=grid("duty", [row("lockstep", 0.5)]))["docs/performance.md"]
        self.assertIn("| a target | not met ✗ |\n\n- a figure\n", page)
        self.assertIn("1 of 1 of [Loops between serial work](#loops-between-serial-work)", page)

    def test_failed_rows_have_no_figures(self):
        rows = [row("lockstep", 0.5), {"setting": "idle", "cell": "regular 20 100", "kind": "regular", "size": 20,
                                       "pause_us": 100, "peer": "oneTBB", "failed": True}]
        page = made(duty=grid("duty", rows), serial=grid("serial", rows))["docs/performance.md"]
        self.assertRegex(page, r"\| 20 µs, 100 µs \| +0\.50 \(1\.5\) \| +- \| +- \|")

    def test_the_team_is_compared_with_the_best_peer(self):
        def one(runtime, value, best=True, section="Programs", work="cg 64"):
            return {"section": section, "work": work, "runtime": runtime, "variant": runtime, "failed": False, "unit": "ns",
                    "value": {"median": value}, "cpus": 1.0, "best": best}
        rows = [one("lockstep", 120), one("libomp", 100), one("libgomp", 50, best=False), one("serial", 10),
                one("lockstep", 80, section="Starts"), one("oneTBB", 20, section="Starts"), one("libomp", 100, section="Starts")]
        page = made(team={"program": "team", "quick": False, "machine": MACHINE, "rows": rows})["docs/performance.md"]
        self.assertRegex(page, r"\| cg 64 \| +120 ns \| +100 ns \| +10 ns \| +1\.20 ✗ \|")
        self.assertRegex(page, r"Where lockstep loses(.*\n)+?\| cg 64 \| +120 ns \| 100 ns \(libomp\) \| +1\.20 ✗ \|\n\n")
        self.assertRegex(page, r"\| cg 64 \| +80 ns \| +100 ns \| +20 ns \| +0\.80 \|")

    def test_our_own_time_is_told_in_t1_where_lines_decide(self):
        def one(work, threads, section):
            return {"section": section, "work": work, "runtime": "lockstep", "variant": "lockstep", "failed": False, "unit": "ns",
                    "value": {"median": 95}, "cpus": 1.0, "best": True, "threads": threads, "in_t1": 1.98, "t1_ns": 50.1}
        rows = [one("fork/join of 2", 2, team_tables.EMPTY), one("fork/join of 4", 4, team_tables.EMPTY),
                one("overhead for of 2", 2, team_tables.OVERHEADS), one("overhead static(8) of 2", 2, team_tables.OVERHEADS)]
        page = made(team={"program": "team", "quick": False, "machine": MACHINE, "rows": rows})["docs/performance.md"]
        self.assertIn("which took 50 ns", page)
        for work, shown in (("fork/join of 2", "1.98"), ("fork/join of 4", "-"), ("for of 2", "1.98"), (r"static\(8\) of 2", "-")):
            self.assertRegex(page, rf"\| {work} +\| +95 ns \| +{shown} \|")

    def test_graphs_are_compared_with_the_fastest_that_decides_while_it_runs(self):
        def one(runtime, value, section="Nodes of 1 us", best=True, unit="ns", **more):
            return {"section": section, "work": "fork 8", "runtime": runtime, "variant": runtime, "failed": False, "unit": unit,
                    "value": {"median": value}, "best": best, "in_t1": 1.25, "t1_ns": 50.1, "more": more}
        rows = [one("lockstep", 500, speed_up=1.9), one("by hand", 400, speed_up=2.0), one("oneTBB", 2000, speed_up=0.5),
                one("libomp", 5000, speed_up=0.2), one("libgomp", 100, best=False, speed_up=9), one("lockstep", 60, "Edges"),
                one("by hand", 40, "Edges"), one("lockstep", 25, "Making a plan", unit="ms"), one("oneTBB", 50, "Nodes without work"),
                one("lockstep", 60, "Nodes without work", speed_up=0.1)]
        verdict = [{"text": "a graph", "figure": 1.234, "limit": 1.5, "unit": "t1", "at_least": False, "met": True},
                   {"text": "another", "figure": 1.5, "limit": 1.8, "unit": "x", "at_least": True, "met": False}]
        page = made(graph={"program": "graph", "quick": False, "machine": MACHINE, "rows": rows, "verdict": verdict})["docs/performance.md"]
        self.assertRegex(page, r"\| fork 8 \| +500 ns \(1.90\) \| 400 ns \(2.00\) \| 2.00 µs \(0.50\) \| 5.00 µs \(0.20\) \| +0.250 \|")
        self.assertRegex(page, r"\| fork 8 \| +60.0 ns \| 40.0 ns \| +1.25 \| +- \|")
        self.assertRegex(page, r"\| fork 8 \| +60.0 ns \| 50.0 ns \| +1.200 ✗ \|")
        self.assertRegex(page, r"\| fork 8 \| +25.0 ms \|\n")
        self.assertRegex(page, r"\| a graph +\| 1.23 t1 +\| +at most 1.5 \| +met \|")
        self.assertRegex(page, r"\| another +\| +1.5 x +\| +at least 1.8 \| +not met ✗ \|")
        self.assertNotIn("Graphs", made(duty=grid("duty", [row("lockstep", 0.5)]))["docs/performance.md"])

    def test_lengths_have_three_digits_and_a_unit(self):
        self.assertEqual([team_tables.shown(v, "ns") for v in (0, 4.4, 994, 996, 12345, 999999, 2.5e6, None)],
                         ["0 ns", "4 ns", "994 ns", "1.00 µs", "12.3 µs", "1.00 ms", "2.50 ms", "never"])


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


class Pictures(unittest.TestCase):
    def test_a_picture_is_well_formed_and_shows_every_cell_by_its_worst_kernel(self):
        rows = [row("lockstep", 0.5), row("lockstep", 2.0, kind="random"), row("oneTBB", 40.0)]
        files = made(serial=grid("serial", rows), duty=grid("duty", rows))
        self.assertEqual(sorted(files), ["docs/figures/box-1-duty.svg", "docs/figures/box-1-serial.svg", "docs/performance.md"])
        serial = xml.fromstring(files["docs/figures/box-1-serial.svg"])
        shown = [each.text for each in serial.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("1.90", shown)
        self.assertIn("40", shown)
        self.assertNotIn("0.40", shown)
        xml.fromstring(files["docs/figures/box-1-duty.svg"])

    def test_colours_say_faster_equal_slower(self):
        faster, equal, slower = (heat_map.colour(r) for r in (0.5, 1.0, 10.0))
        self.assertGreater(faster[2], faster[0])
        self.assertEqual(equal, (247, 247, 247))
        self.assertGreater(slower[0], slower[2])
        self.assertEqual((heat_map.colour(0.01), heat_map.colour(1e6)), (heat_map.STOPS[0][1], heat_map.STOPS[-1][1]))

    def test_figures_fit_into_their_cells(self):
        self.assertEqual([heat_map.shown(r) for r in (0.514, 1.994, 1.996, 9.96, 123.4, 996, 60880)],
                         ["0.51", "1.99", "2.0", "10", "123", "1.0k", "61k"])


if __name__ == "__main__":
    unittest.main()
