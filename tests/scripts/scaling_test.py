#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Has the model of scaling its limits, does the page show what it says, and does the check notice a page that differs?"""

import contextlib
import io
import itertools
import json
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from tree import TreeTest  # noqa: F401 (it puts the scripts where they are found)

from make import line_chart, loggp_model as model, scaling
from source_text import ROOT

NETWORK, INSIDE = model.Link(0.5, 0.5, 2.0, 0.2, 0.001), model.Link(0.05, 0.03, 0.1, 0.05, 0.0001)
FREE = model.Link(0, 0, 0, 0, 0)
MEETINGS = {model.OPENMP: model.Meetings(0.15, 0.4), model.LOCKSTEP: model.Meetings(0.06, 0.1)}
MACHINE = model.Machine(NETWORK, INSIDE, 0.2, MEETINGS)
KERNELS = tuple(model.Kernel(name, title, sums, syncs, 0.001) for name, (title, sums, syncs) in scaling.TITLES.items())
POINTS = 4096 ** 2


def row(contender, layout, work, wall, setting=""):
    times = {"median": wall, "min": wall, "max": wall}
    ranks, threads = layout.split("x")
    return {"mpi": "Open MPI", "layout": layout, "work": work, "contender": contender, "setting": setting, "ranks": int(ranks),
            "threads": int(threads), "result": 1.0, "steps": 10, "samples": 9, "wall_us": times, "cpu_us": times}


def measured():
    plan = scaling.plan
    rows = [row(plan.BARE, "2x1", "sum", 0.2)]
    for contender, sync, total in ((plan.GOMP, 0.2, 0.5), (plan.OMP, 0.15, 0.4), (plan.LOCKSTEP, 0.06, 0.1)):
        rows += [row(contender, "1x2", "sync", sync), row(contender, "1x2", "sum", total)]
    for work, layout, contender in itertools.product((f"{k}:{s}" for k in scaling.TITLES for s in plan.SIZES), ("2x1", "1x2"),
                                                     (plan.ALONE, plan.GOMP, plan.LOCKSTEP)):
        rows.append(row(contender, layout, work, 40.0))
    loggp = {"o_send": 0.05, "o_recv": 0.03, "L": 0.1, "g": 0.05, "G": 0.0001, "one_way": {"8": 0.18}}
    return {"program": "mpi", "loggp": {"Open MPI": loggp}, "rows": rows}


class Model(unittest.TestCase):
    def each(self):
        for kernel, variant in itertools.product(KERNELS, model.VARIANTS):
            with self.subTest(kernel=kernel.name, variant=variant):
                yield kernel, variant

    def test_without_communication_a_step_is_the_work_and_efficiency_is_one(self):
        free = model.Machine(FREE, FREE, 0, {v: model.Meetings(0, 0) for v in MEETINGS})
        for kernel, variant in self.each():
            for nodes in (1, 2, 100, 10000):
                self.assertAlmostEqual(model.step(free, kernel, variant, nodes, POINTS), 0.001 * POINTS / (64 * nodes))
                self.assertAlmostEqual(model.efficiency(free, kernel, variant, nodes, POINTS), 1)

    def test_a_large_field_hides_all_communication(self):
        for kernel, variant in self.each():
            self.assertGreater(model.efficiency(MACHINE, kernel, variant, 16, 10.0 ** 13), 0.999)

    def test_more_nodes_never_add_work_and_weak_efficiency_never_grows(self):
        for kernel, variant in self.each():
            shares = [model.efficiency(MACHINE, kernel, variant, nodes, nodes * 512 ** 2) for nodes in scaling.NODES]
            self.assertEqual(shares, sorted(shares, reverse=True))
            self.assertTrue(all(0 < share <= 1 for share in shares))
            work = [model.compute(MACHINE, kernel, nodes, POINTS) for nodes in scaling.NODES]
            self.assertEqual(work, sorted(work, reverse=True))

    def test_no_step_is_shorter_than_its_work_or_its_communication(self):
        for kernel, variant in self.each():
            for nodes in scaling.NODES:
                step = model.step(MACHINE, kernel, variant, nodes, POINTS)
                self.assertGreaterEqual(step, model.compute(MACHINE, kernel, nodes, POINTS))
                self.assertGreaterEqual(step, kernel.sums * model.global_sum(MACHINE, variant, nodes))

    def test_a_step_grows_with_the_points_and_with_every_constant(self):
        def worse(link, **more):
            values = {name: getattr(link, name) for name in ("o_send", "o_recv", "latency", "gap", "byte")}
            return model.Link(**(values | {name: values[name] * factor for name, factor in more.items()}))
        small = 64 ** 2 * 64  # where nothing hides behind the work
        for kernel, variant in self.each():
            base = model.step(MACHINE, kernel, variant, 64, small)
            self.assertGreater(model.step(MACHINE, kernel, variant, 64, 10 ** 4 * small), base)
            for name in ("o_send", "o_recv", "latency"):
                slower = model.Machine(worse(NETWORK, **{name: 10}), INSIDE, 0.2, MEETINGS)
                self.assertGreater(model.step(slower, kernel, variant, 64, small), base, name)
            for name in ("gap", "byte"):
                slower = model.Machine(worse(NETWORK, **{name: 1000}), INSIDE, 0.2, MEETINGS)
                self.assertGreater(model.step(slower, kernel, variant, 64, small), base, name)

    def test_with_many_nodes_a_sum_is_the_networks_rounds(self):
        for variant in model.VARIANTS:
            more = model.global_sum(MACHINE, variant, 2048) - model.global_sum(MACHINE, variant, 1024)
            self.assertAlmostEqual(more, NETWORK.one_way(8))
        self.assertEqual([model.rounds(n) for n in (1, 2, 3, 4, 1024, 10000)], [0, 1, 2, 2, 10, 14])

    def test_what_differs_between_the_variants_is_their_meeting_inside_the_node(self):
        for kernel in KERNELS:
            own, other = (model.step(MACHINE, kernel, v, 256, POINTS) for v in (model.LOCKSTEP, model.OPENMP))
            expected = 6 * (kernel.sums * (0.4 - 0.1) + kernel.syncs * (0.15 - 0.06))
            self.assertAlmostEqual(other - own, expected)

    def test_one_node_sends_nothing_and_neighbours_are_at_most_four(self):
        self.assertEqual(model.exchange(MACHINE, model.LOCKSTEP, 1, POINTS), (0, 0))
        self.assertEqual([model.neighbour_nodes(n) for n in (1, 2, 4, 6, 9, 10000)], [0, 1, 2, 3, 4, 4])

    def test_mpi_only_sends_more_messages_of_the_same_bytes(self):
        slow_gap = model.Machine(model.Link(0, 0, 0, 1.0, 0), FREE, 0, MEETINGS)
        self.assertEqual(model.exchange(slow_gap, model.LOCKSTEP, 100, POINTS)[1], 3)
        self.assertEqual(model.exchange(slow_gap, model.ALONE, 100, POINTS)[1], 31)
        bytes_only = model.Machine(model.Link(0, 0, 0, 0, 1.0), FREE, 0, MEETINGS)
        self.assertEqual(*(model.exchange(bytes_only, v, 100, POINTS)[1] for v in (model.ALONE, model.LOCKSTEP)))


class Page(unittest.TestCase):
    def made(self, result):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "bench/results").mkdir(parents=True)
            if result:
                (root / "bench/results/box-1-mpi.json").write_text(json.dumps(result), encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(scaling.main(["script", directory]), 0)
                self.assertEqual(scaling.main(["script", "--check", directory]), 0)
                files = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in (root / "docs").rglob("*.*")}
                (root / "docs/scaling.md").write_text("typed by hand", encoding="utf-8")
                self.assertEqual(scaling.main(["script", "--check", directory]), 1)
        return files

    def test_the_committed_page_is_what_the_results_say(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = scaling.main(["script", "--check", str(ROOT)])
        self.assertEqual(status, 0, printed.getvalue())

    def test_what_was_not_measured_is_said(self):
        self.assertIn("Not measured yet", self.made(None)["docs/scaling.md"])
        result = measured()
        result["rows"] = [one for one in result["rows"] if one["contender"] != "MPI + lockstep"]
        self.assertIn("`sync` of MPI + lockstep at 1x2", self.made(result)["docs/scaling.md"])

    def test_page_and_pictures_say_that_they_are_a_model(self):
        files = self.made(measured())
        self.assertEqual(sorted(files), ["docs/figures/box-1-scaling-strong.svg", "docs/figures/box-1-scaling-weak.svg", "docs/scaling.md"])
        for name, text in files.items():
            self.assertIn("model", text.lower(), name)
        self.assertIn("assumed", files["docs/scaling.md"])
        for name in list(files)[:]:
            if name.endswith(".svg"):
                root = xml.fromstring(files[name])
                lines = root.findall("{http://www.w3.org/2000/svg}polyline")
                self.assertEqual(len(lines), 2 * 3 * 3)
                for line in lines:
                    self.assertEqual(len(line.get("points").split()), len(scaling.NODES))

    def test_the_best_openmp_counts(self):
        meetings = scaling.constants(measured())[2]
        self.assertEqual(meetings[model.OPENMP], model.Meetings(0.15, 0.4))


class Chart(unittest.TestCase):
    def test_axes_reach_from_decade_to_decade(self):
        self.assertEqual(line_chart.decades([2, 900]), (0, 3))
        self.assertEqual(line_chart.decades([1, 1000]), (0, 3))
        place, ticks = line_chart.scale_of([1, 1000], True)
        self.assertEqual([label for _, label in ticks], ["1", "10", "100", "1000"])
        self.assertAlmostEqual(place(100), 2 / 3)
        self.assertEqual(line_chart.scale_of([0.3], False)[1][-1], (1.0, "1"))

    def test_curves_stay_inside_their_panel(self):
        text = line_chart.line_chart("a < b", "c", [line_chart.Panel("p", {"x": [(1, 0.5), (10, 20)]})], line_chart.Axes("n", "t"), 1)
        points = xml.fromstring(text).find("{http://www.w3.org/2000/svg}polyline").get("points").split()
        for pair in points:
            x, y = map(float, pair.split(","))
            self.assertTrue(line_chart.LEFT <= x <= line_chart.LEFT + line_chart.WIDTH + line_chart.GAP)
            self.assertTrue(line_chart.HEAD <= y <= line_chart.HEAD + line_chart.PANEL_HEAD + line_chart.HEIGHT)


if __name__ == "__main__":
    unittest.main()
