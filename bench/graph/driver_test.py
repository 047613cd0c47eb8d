#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the pure parts of the driver of graphs choose and judge as they say? No process is started."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "team"))
import graph_plan as plan  # noqa: E402
import graph_targets as targets  # noqa: E402

EVERYTHING = {runner: {(work.work, variant.peer) for work in plan.works() for variant in plan.variants()
                       if variant.runner == runner} for runner in plan.RUNNERS}


def record(work, runtime, median, **more):
    return {"work": work, "runtime": runtime, "variant": runtime, "best": True, "failed": False, "value": {"median": median},
            "in_t1": None, "more": {}} | more


class Plan(unittest.TestCase):
    def rows(self, cpus=2):
        return plan.rows(EVERYTHING, cpus, 0.01)

    def test_names_are_unique(self):
        names = [row.name() for row in self.rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_what_spins_for_ever_is_not_measured_in_a_crowd(self):
        crowded = [row for row in self.rows() if row.work.is_crowded(2)]
        self.assertTrue(crowded)
        self.assertFalse(any(row.variant.uncrowded_only for row in crowded))
        self.assertTrue(any(row.variant.uncrowded_only for row in self.rows(cpus=64) if row.work.threads == 8))

    def test_one_thread_is_tried_only_where_nodes_are_short(self):
        alone = [row for row in self.rows() if row.variant.threads == 1]
        self.assertTrue(alone)
        for row in alone:
            self.assertIn(row.work.work.rpartition("/")[2], ("0", "100ns"))
            self.assertEqual(row.arguments[row.arguments.index("--threads") + 1], "1")

    def test_what_was_not_built_leaves_its_rows_out(self):
        rows = plan.rows({plan.OWN: EVERYTHING[plan.OWN]}, 2, 0.01)
        self.assertEqual({row.variant.runner for row in rows}, {plan.OWN})


class Targets(unittest.TestCase):
    def verdict(self, *records):
        return [(one["text"], round(one["figure"], 3), one["met"]) for one in targets.verdicts(records)]

    def test_an_edge_is_compared_in_its_unit(self):
        found = self.verdict(record("chain on one member", "lockstep", 6), record("two nodes a level, all edges", "lockstep", 70, in_t1=1.4))
        self.assertEqual(found, [("chain on one member, an edge", 6, False), ("two nodes a level, all edges, an edge", 1.4, True)])

    def test_empty_nodes_are_compared_with_the_fastest_dynamic_peer(self):
        found = self.verdict(record("diamond, empty", "lockstep", 10), record("diamond, empty", "by hand", 1),
                             record("diamond, empty", "oneTBB", 300), record("diamond, empty", "libomp", 200, best=False),
                             record("diamond, empty", "libomp", 90, variant="libomp" + plan.ALONE))
        self.assertEqual(found, [("diamond, empty: lockstep, times faster than libomp 1 thread (with 2 threads: 20 x libomp)", 9, False)])

    def test_the_wavefront_is_compared_with_serial_calls(self):
        found = self.verdict(record(targets.WAVEFRONT, "lockstep", 500, more={"speed_up": 1.9}))
        self.assertEqual(found, [("wavefront 64, 1 us: lockstep, times faster than serial calls", 1.9, True)])

    def test_a_crowd_is_compared_with_two_and_a_busy_machine_with_serial_calls(self):
        found = self.verdict(record("fork 64, 1 us", "lockstep", 500), record("fork 64, 1 us, 8 threads", "lockstep", 900),
                             record("fork 64, 1 us, beside a free one", "lockstep", 700, more={"speed_up": 0.5}))
        self.assertEqual([each[1:] for each in found], [(1.8, True), (2.0, False)])

    def test_what_was_not_measured_is_not_judged(self):
        self.assertEqual(self.verdict(), [])
        failed = record(targets.WAVEFRONT, "lockstep", 1) | {"failed": True}
        self.assertEqual(self.verdict(failed), [])


if __name__ == "__main__":
    unittest.main()
