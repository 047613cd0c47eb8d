#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the pure parts of the driver choose, summarise and show as they say? No process is started."""

import unittest

import plan
import summary

EVERYTHING = {runner: {(work.work, variant.peer) for work in plan.works((2,), True)
                       for variant in plan.variants() if variant.runner == runner}
              for runner in ("team_lockstep", "team_gomp", "team_omp")}


def variant(runtime, label):
    return plan.Variant(runtime, label, "runner", label)


def record(runtime, label, values, work="w", unit="ns"):
    samples = [{"value": v, "unit": unit, "cpus": 1.0, "more": {}, "t1_before": 50, "t1_after": 50}
               for v in values]
    return summary.summarize(plan.Row(plan.Work("s", work, work), variant(runtime, label)), samples)


class Plan(unittest.TestCase):
    def rows(self, cpus=2, with_competitor=True):
        return plan.rows(plan.works((2,), with_competitor), EVERYTHING, cpus, 0.01)

    def test_names_are_unique(self):
        names = [row.name() for row in self.rows()]
        self.assertEqual(len(names), len(set(names)))

    def test_what_spins_for_ever_is_not_measured_in_a_crowd(self):
        crowded = [row for row in self.rows() if row.work.is_crowded(2)]
        self.assertGreater(len(crowded), 0)
        self.assertFalse(any(row.variant.uncrowded_only for row in crowded))
        self.assertTrue(any(row.variant.uncrowded_only for row in self.rows(cpus=64, with_competitor=False)
                            if row.work.threads == 64))

    def test_a_runner_that_was_not_built_leaves_its_rows_out(self):
        available = {"team_lockstep": EVERYTHING["team_lockstep"]}
        rows = plan.rows(plan.works(), available, 2, 0.01)
        self.assertEqual({row.variant.runner for row in rows}, {"team_lockstep"})

    def test_the_competitor_is_left_out_unless_wanted(self):
        self.assertFalse(any(row.work.competitor for row in self.rows(with_competitor=False)))
        self.assertEqual({row.work.competitor for row in self.rows()}, {"", "bound", "free"})

    def test_turns_visit_every_row_in_every_round_there_and_back(self):
        self.assertEqual(list(plan.turns(3, 2)), [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)])


class Summary(unittest.TestCase):
    def test_median_and_range(self):
        self.assertEqual(summary.spread([3, 1, 2]), {"median": 2, "min": 1, "max": 3})
        self.assertEqual(summary.spread([4, 1, 2, 3])["median"], 2.5)

    def test_never_counts_as_more_than_anything(self):
        self.assertEqual(summary.spread([None, 5, 7]), {"median": 7, "min": 5, "max": None})
        self.assertIsNone(summary.spread([None, None, 7])["median"])

    def test_samples_between_different_probes_give_no_ratio(self):
        row = plan.Row(plan.Work("s", "w", "w"), variant("a", "a"))
        sample = {"value": 100, "unit": "ns", "cpus": 1, "t1_before": 50, "t1_after": 50}
        moved = sample | {"value": 1000, "t1_after": 200}
        result = summary.summarize(row, [sample, sample, moved])
        self.assertEqual((result["stable_samples"], result["in_t1"], result["t1_ns"]), (2, 2, 50))
        unprobed = summary.summarize(row, [sample | {"t1_before": None}])
        self.assertEqual((unprobed["stable_samples"], unprobed["in_t1"]), (0, None))

    def test_sizes_are_not_divided_by_t1(self):
        self.assertIsNone(record("a", "a", [100], unit="rows")["in_t1"])

    def test_the_best_variant_of_each_runtime_is_marked(self):
        records = [record("lockstep", "lockstep", [10]), record("a", "a slow", [30]),
                   record("a", "a fast", [20]), record("b", "b", [None])]
        summary.mark_best(records)
        summary.add_ratios(records)
        self.assertEqual([r["best"] for r in records], [True, False, True, True])
        self.assertEqual([r["lockstep_over_peer"] for r in records], [None, 10 / 30, 0.5, None])

    def test_an_overhead_below_zero_gives_no_ratio(self):
        records = [record("lockstep", "lockstep", [-1]), record("a", "a", [20])]
        summary.mark_best(records)
        summary.add_ratios(records)
        self.assertIsNone(records[1]["lockstep_over_peer"])

    def test_a_failed_row_is_never_the_best(self):
        failed = summary.summarize(plan.Row(plan.Work("s", "w", "w"), variant("a", "broken")), [])
        records = [failed, record("a", "a", [1e9])]
        summary.mark_best(records)
        summary.add_ratios(records)
        self.assertEqual([r["best"] for r in records], [False, True])
        self.assertRegex(summary.to_text(records, with_all=True), r"broken \| +failed ")

    def test_four_digits_without_an_exponent(self):
        for value, text in ((1234567.8, "1234568"), (123.456, "123.5"), (0.01234, "0.012"), (0, "0.000"),
                            (-56.789, "-56.79"), (None, "-")):
            self.assertEqual(summary.four_digits(value), text)

    def test_the_table_shows_the_best_or_all(self):
        records = [record("a", "a slow", [30]), record("a", "a fast", [20])]
        summary.mark_best(records)
        summary.add_ratios(records)
        self.assertNotIn("a slow", summary.to_text(records, with_all=False))
        text = summary.to_text(records, with_all=True)
        self.assertIn("a slow", text)
        self.assertEqual(len({line.count("|") for line in text.splitlines() if line.startswith("|")}), 1)

    def test_where_the_fastest_is_not_the_best_every_setting_is_shown(self):
        records = [record("a", "a slow", [30]) | {"every_setting": True}, record("a", "a fast", [20])]
        summary.mark_best(records)
        summary.add_ratios(records)
        self.assertIn("a slow", summary.to_text(records, with_all=False))


if __name__ == "__main__":
    unittest.main()
