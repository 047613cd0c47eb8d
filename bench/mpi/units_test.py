#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the pure parts of bench/mpi plan, compare and judge as they say? No process is started but run.py with bad arguments."""

import subprocess
import sys
import unittest
from pathlib import Path

import mpi_plan as plan
import mpi_report as report

OPEN_MPI, MPICH = plan.LIBRARIES
CONTENDERS = (plan.BARE, plan.ALONE, *plan.OPENMP, plan.LOCKSTEP)


def row(contender, wall, setting="", work="jacobi:128x128", layout="2x2", result=1.0, mpi="Open MPI"):
    return {"mpi": mpi, "layout": layout, "work": work, "contender": contender, "setting": setting, "result": result,
            "ranks": int(layout.split("x")[0]) * (int(layout.split("x")[1]) if contender == plan.ALONE else 1),
            "wall_us": {"median": wall, "min": wall, "max": wall}, "cpu_us": {"median": 2 * wall, "min": wall, "max": wall}}


def entry(contender, ranks, threads, library=OPEN_MPI, cpus=2):
    return plan.entries(library, plan.Layout(ranks, threads), cpus, (contender,))[0]


class Plan(unittest.TestCase):
    def test_the_layouts_have_one_two_and_eight_members_for_each_of_two_cpus(self):
        self.assertEqual({one.members for one in plan.LAYOUTS}, {2, 4, 16})

    def test_mpi_only_has_a_rank_for_each_member_and_the_bare_call_one_for_each_rank(self):
        self.assertEqual((entry(plan.ALONE, 2, 8).ranks, entry(plan.ALONE, 2, 8).threads), (16, 1))
        self.assertEqual((entry(plan.BARE, 2, 8).ranks, entry(plan.BARE, 2, 8).threads), (2, 1))
        self.assertEqual((entry(plan.LOCKSTEP, 2, 8).ranks, entry(plan.LOCKSTEP, 2, 8).threads), (2, 8))

    def test_crowded_openmp_is_measured_passive_and_with_ranks_that_yield(self):
        def names(library, contender, *layout):
            return [one.setting.name for one in plan.entries(library, plan.Layout(*layout), 2, (contender,))]
        self.assertEqual(names(OPEN_MPI, plan.GOMP, 2, 2), ["yield", "passive, yield", "", "passive"])
        self.assertEqual(names(OPEN_MPI, plan.GOMP, 4, 4), ["yield", "passive, yield"])
        self.assertEqual(names(OPEN_MPI, plan.GOMP, 1, 4), ["", "passive"])
        self.assertEqual(names(OPEN_MPI, plan.GOMP, 4, 1), ["yield"])
        self.assertEqual(names(MPICH, plan.OMP, 2, 2), ["", "passive"])
        self.assertEqual(names(OPEN_MPI, plan.GOMP, 1, 2), ["", "active"])
        self.assertEqual(names(OPEN_MPI, plan.ALONE, 2, 2), ["yield"])
        self.assertEqual(names(OPEN_MPI, plan.ALONE, 2, 1), ["", "bound"])
        self.assertEqual(names(OPEN_MPI, plan.BARE, 2, 2), ["", "bound"])
        self.assertEqual(names(OPEN_MPI, plan.LOCKSTEP, 4, 4), [""])

    def test_ranks_are_also_bound_where_each_has_one_thread_and_a_cpu(self):
        for contender in CONTENDERS:
            found = plan.entries(OPEN_MPI, plan.Layout(2, 1), 2, (contender,))
            self.assertEqual([one.setting.name for one in found], ["", "bound"])
            self.assertEqual(["core" in one.command() for one in found], [False, True])
        self.assertNotIn("core", entry(plan.ALONE, 4, 1).command())
        self.assertNotIn("core", entry(plan.LOCKSTEP, 1, 2).command())

    def test_the_settings_reach_the_command_and_the_environment(self):
        found = [one for one in plan.entries(OPEN_MPI, plan.Layout(2, 2), 2, (plan.OMP,)) if one.setting.name == "passive, yield"][0]
        self.assertIn("mpi_yield_when_idle", found.command())
        self.assertEqual(found.environment()["OMP_WAIT_POLICY"], "passive")
        self.assertEqual(found.environment()["OMP_NUM_THREADS"], "2")
        self.assertNotIn("OMP_NUM_THREADS", entry(plan.LOCKSTEP, 2, 2).environment())

    def test_rounds_begin_with_another_entry(self):
        of = plan.entries(OPEN_MPI, plan.Layout(2, 2), 2, CONTENDERS)
        self.assertEqual(set(plan.turns(of, 1)), set(of))
        self.assertEqual(len({plan.turns(of, turn)[0] for turn in range(3)}), 3)


class Report(unittest.TestCase):
    """Tables and targets of the committed results are on docs/performance.md, which is compared."""

    def test_the_best_setting_counts(self):
        rows = [row(plan.GOMP, 9), row(plan.GOMP, 5, "passive"), row(plan.OMP, 7)]
        self.assertEqual(report.best(rows, *plan.OPENMP)["setting"], "passive")
        self.assertIsNone(report.best(rows, plan.LOCKSTEP))

    def test_a_setting_that_is_far_slower_than_the_best_of_its_contender_is_left_alone(self):
        times = {("a", ""): [100, 100], ("a", "passive"): [10, 10], ("b", ""): [1000], ("c", ""): []}
        self.assertEqual(report.slow_settings(times), {("a", "")})

    def test_a_new_row_takes_the_place_of_its_old_one_and_the_others_stay(self):
        old = [row(plan.GOMP, 9), row(plan.OMP, 7)]
        found = report.merged(old, [row(plan.GOMP, 3)])
        self.assertEqual(sorted(map(report.wall, found)), [3, 7])

    def test_results_that_differ_by_more_than_the_order_of_a_sum_are_told(self):
        self.assertEqual(report.disagreements([row(plan.GOMP, 1), row(plan.ALONE, 1, result=1 + 1e-12)]), [])
        self.assertEqual(len(report.disagreements([row(plan.GOMP, 1), row(plan.ALONE, 1, result=1.001)])), 1)

    def test_targets_are_judged_by_their_worst_cell(self):
        rows = [row(plan.GOMP, 10), row(plan.LOCKSTEP, 4), row(plan.GOMP, 10, work="cg:128x128"), row(plan.LOCKSTEP, 6, work="cg:128x128"),
                row(plan.OMP, 10, layout="1x2"), row(plan.LOCKSTEP, 10, layout="1x2")]
        found = {one["text"].split(":")[0]: one for one in report.verdict(rows, 2)}
        self.assertTrue(found["kernels, as many members as CPUs"]["met"])
        self.assertFalse(found["kernels, crowded"]["met"])
        self.assertIn("1 of 2 cells", found["kernels, crowded"]["text"])

    def test_a_row_that_failed_is_in_no_cell(self):
        self.assertEqual(report.cells([row(plan.GOMP, 1) | {"error": "no"}]), {})

    def test_a_table_without_rows_is_left_out(self):
        rows = [row(plan.GOMP, 10), row(plan.LOCKSTEP, 20)]
        self.assertEqual(report.kernel_table(rows, "MPICH"), "")
        self.assertEqual(report.overlap_table(rows, "Open MPI"), "")


class Arguments(unittest.TestCase):
    def test_bad_ones_are_told_with_what_there_is(self):
        for given, said in ((("--layouts", "3x3"), "there is no '3x3'"), (("--mpi", "lam"), "openmpi, mpich"), (("--append",), "--json"),
                            (("--only", "("), "regular expression"), (("--samples", "0"), "0")):
            with self.subTest(given=given):
                done = subprocess.run([sys.executable, Path(__file__).with_name("run.py"), *given], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
