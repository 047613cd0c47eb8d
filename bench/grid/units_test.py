#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the pure parts of the grids plan, summarise and judge as they say? No process is started."""

import os
import subprocess
import sys
import unittest

import grid_plan as plan
import grid_records as records
import grid_verdict as verdict
import machine_settings

IDLE, CROWD = plan.SETTINGS[0], plan.Setting("32", "32 threads", threads=32)
PEERS = ("lockstep", "lockstep loops", "oneTBB", "ForkUnion")


def cell(kind="regular", size=20, pause=100, step=100.0, least=3):
    return plan.Cell(kind, size, pause, f"{kind} {size} {pause}", step, least)


def cost(cells, samples, seconds):
    return samples * sum(plan.loops_of(one, seconds) * one.step_us * 1e-6 for one in cells)


def record(peer, loop=50.0, serial=100.0, setting="idle", of=None, **more):
    of = of or cell()
    found = records.summarize(plan.Setting(setting, setting), of, plan.Peer(peer, "runner", peer), [[loop]] * 9, [[serial]] * 9, [1.0])
    return found | more


def texts(lines, met=None):
    return [one["text"] for one in lines if one["met"] is met]


class Plan(unittest.TestCase):
    def test_a_sample_has_as_many_loops_as_fit_within_limits(self):
        self.assertEqual(plan.loops_of(cell(step=1000), 0.01), 10)
        self.assertEqual(plan.loops_of(cell(step=16000), 0.01), 3)
        self.assertEqual(plan.loops_of(cell(step=200000, least=1), 0.01), 1)
        self.assertEqual(plan.loops_of(cell(step=1), 0.01), plan.MOST_LOOPS)

    def test_a_group_is_measured_by_one_process(self):
        cells = (cell(size=5), cell(size=20), cell("random"))
        groups = plan.groups_of({IDLE: cells, CROWD: cells[:1]}, lambda one: one.kind)
        self.assertEqual([(g.setting.name, len(g.cells)) for g in groups], [("idle", 2), ("idle", 1), ("32", 1)])

    def test_the_expected_time_counts_every_process_and_sample(self):
        groups = plan.groups_of({IDLE: (cell(step=1000),)}, lambda one: one.kind)
        expected = plan.expected_seconds(groups, 7, plan.Effort(3, 3, 0.01), cost)
        self.assertAlmostEqual(expected, 3 * 7 * (plan.PROCESS_SECONDS + 3 * 10 * 1e-3))

    def test_the_whole_grid_is_taken_if_it_fits_and_samples_fill_the_budget(self):
        levels = (((cell(), cell("random")), (cell(),)), ((cell(),), (cell(),)))
        groups, effort, level = plan.choose(100, (IDLE, CROWD), levels, 4, plan.Effort(), lambda one: one.kind, cost)
        self.assertEqual((len(groups), level), (3, 0))
        self.assertGreater(effort.seconds, 10 * plan.LEAST_SECONDS)
        self.assertLessEqual(plan.expected_seconds(groups, 4, effort, cost), 100)

    def test_a_small_budget_thins_the_grid_before_it_is_overrun(self):
        slow = tuple(cell(kind, step=16000) for kind in "abcdefgh")
        levels = ((slow, slow), (slow, slow[:1]), (slow[:1], slow[:1]))
        def level_within(budget):
            return plan.choose(budget, (IDLE, CROWD), levels, 7, plan.Effort(), lambda one: one.kind, cost)[2]
        self.assertEqual([level_within(b) for b in (1000, 40, 10, 0.1)], [0, 1, 2, 2])

    def test_unwanted_cells_take_no_time(self):
        levels = (((cell(), cell("random")), (cell(),)),)
        groups, _, _ = plan.choose(100, (IDLE, CROWD), levels, 4, plan.Effort(), lambda one: one.kind, cost,
                                   lambda setting, one: setting is IDLE and one.kind == "random")
        self.assertEqual([(g.setting.name, g.cells[0].kind) for g in groups], [("idle", "random")])

    def test_peers_take_turns_within_each_group(self):
        groups = plan.groups_of({IDLE: (cell("a"), cell("b"))}, lambda one: one.kind)
        order = [(g.cells[0].kind, p) for g, p in plan.turns(groups, ("x", "y"), 0)]
        self.assertEqual(order, [("a", "x"), ("a", "y"), ("b", "y"), ("b", "x")])
        self.assertEqual([(g.cells[0].kind, p) for g, p in plan.turns(groups, ("x", "y"), 1)][0], ("a", "y"))

    def test_rounds_that_took_too_long_shorten_the_next_ones(self):
        effort = plan.Effort(3, 3, 0.1)
        self.assertEqual(plan.slowed(effort, 20, 10, 2), effort)
        self.assertAlmostEqual(plan.slowed(effort, 10, 10, 2).seconds, 0.05)
        self.assertEqual(plan.slowed(effort, -1, 10, 2).seconds, plan.LEAST_SECONDS)


class Settings(unittest.TestCase):
    def test_a_group_with_a_quota_is_there_while_it_is_used_and_gone_then(self):
        try:
            with machine_settings.quota_group(0.5) as group:
                self.assertTrue(group.is_dir())
            self.assertFalse(group.exists())
        except machine_settings.CannotBeSet as error:
            self.assertNotEqual(str(error), "")

    def test_most_settings_need_nothing_of_the_system(self):
        for setting in plan.SETTINGS[:4]:
            with machine_settings.made(setting) as prepare:
                self.assertIsNone(prepare)

    def test_one_cpu_is_that_of_the_new_process_only(self):
        before = os.sched_getaffinity(0)
        with machine_settings.made(plan.SETTINGS[4]) as prepare:
            done = subprocess.run([sys.executable, "-c", "import os; print(len(os.sched_getaffinity(0)))"], preexec_fn=prepare,
                                  capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, os.sched_getaffinity(0)), ("1\n", before))


class Records(unittest.TestCase):
    def test_quantiles_are_values_that_were_seen(self):
        values = list(range(1, 101))
        self.assertEqual([records.quantile(values, share) for share in (0, 0.5, 0.95, 0.99, 1)], [1, 50, 95, 99, 100])
        self.assertEqual(records.quantile([7], 0.95), 7)

    def test_a_figure_is_of_all_samples(self):
        found = records.summarize(IDLE, cell(), plan.PEERS[0], [[10, 20, 30], [40, 50, 60], [70, 80, 900]],
                                  [[100], [100], [130, 130]], [1, 3, 2])
        self.assertEqual(found["value"], {"median": 0.5, "min": 0.2, "max": 0.6154})
        self.assertEqual((found["p95_ratio"], found["mean_ns"], found["serial_mean_ns"]), (7.826, 140.0, 115.0))
        self.assertEqual((found["cpus"], found["samples"], found["loops"]), (2.0, 3, 9))

    def test_a_sample_is_compared_with_serial_loops_of_its_own_time(self):
        found = records.summarize(IDLE, cell(), plan.PEERS[0], [[60], [600], [65]], [[100, 100], [1000, 1000], [100, 100]], [1])
        self.assertEqual(found["value"], {"median": 0.6, "min": 0.6, "max": 0.65})

    def test_without_samples_a_row_says_so(self):
        self.assertTrue(records.summarize(IDLE, cell(), plan.PEERS[0], [], [], [])["failed"])
        self.assertIn("failed", records.table([records.summarize(IDLE, cell(), plan.PEERS[0], [], [], [])], str))

    def test_four_digits_are_kept(self):
        self.assertEqual([records.rounded(v) for v in (123456.7, 0.0123456, 0, None, float("inf"))],
                         [123500.0, 0.01235, 0.0, None, None])


class Verdict(unittest.TestCase):
    """What docs/performance.md does not show: there the verdict of the committed results is compared."""

    def test_a_hundred_nanoseconds_are_free(self):
        self.assertEqual(verdict.beyond_free(record("x", loop=110, serial=5)), 2)
        self.assertEqual(verdict.beyond_free(record("x", loop=90, serial=5)), 0)

    def test_the_worst_cell_of_each_peer_is_told(self):
        rows = [record("lockstep loops", 205), record("oneTBB", 900), record("oneTBB", 1100, of=cell(size=5))]
        found = verdict.serial_verdict(rows)
        self.assertIn("worst of oneTBB: 10.00 at idle: regular 5 100; 95th", " ".join(texts(found)))
        self.assertEqual(len(texts(found, True)), 3)

    def test_a_cell_at_the_limit_meets_it(self):
        rows = [record("lockstep loops", 55), record("oneTBB", 50)]
        self.assertEqual(len(texts(verdict.regular_gaps(rows, "lockstep loops"), True)), 1)
        self.assertEqual(len(texts(verdict.random_gaps([record("lockstep", 105, of=cell("random"))], "lockstep"), True)), 1)

    def test_cpu_time_is_compared_with_those_who_sleep(self):
        long = cell(pause=1000)
        rows = [record("lockstep", of=long, cpus=1.5), record("oneTBB", of=long, cpus=1.1), record("ForkUnion", of=long, cpus=0.5)]
        self.assertIn("+0.40", texts(verdict.cpu_time(rows, "lockstep"), False)[0])
        self.assertEqual(verdict.cpu_time([record("lockstep", cpus=2), record("oneTBB", cpus=1)], "lockstep"), [])

    def test_without_a_peer_and_where_threads_do_not_pay_nothing_is_judged(self):
        failed = {"setting": "idle", "cell": "x", "peer": "oneTBB", "failed": True}
        self.assertEqual(len(verdict.duty_verdict([failed, record("lockstep")])), 1)
        self.assertEqual(verdict.where_threads_pay([record("lockstep loops", 55), record("oneTBB", 95)]), [])

    def test_an_idle_team_rests(self):
        ends = cell("ends")
        spent = {"idle_first_s": {"median": 0.001, "max": 0.004}, "idle_second_s": {"median": 0, "max": 0.0001}}
        self.assertEqual(len(texts(verdict.periodic_verdict([record("lockstep", of=ends, **spent)]), True)), 1)
        spent["idle_first_s"]["max"] = 0.006
        self.assertEqual(len(texts(verdict.periodic_verdict([record("lockstep", of=ends, **spent)]), False)), 1)


if __name__ == "__main__":
    unittest.main()
