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
    """docs/performance.md, which is compared, has all targets of the committed results."""

    def test_what_was_not_measured_is_not_judged(self):
        failed = record(targets.WAVEFRONT, "lockstep", 1) | {"failed": True}
        crowd_alone = record("fork 64, 1 us, 8 threads", "lockstep", 900)
        for records in ([], [failed], [crowd_alone]):
            self.assertEqual(targets.verdicts(records), [])


if __name__ == "__main__":
    unittest.main()
