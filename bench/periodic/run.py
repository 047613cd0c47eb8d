#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that wakes up every S us for a loop of P us: how long the loop takes, and what CPU time all of it uses.

And what a team uses after its last loop: the CPU time of the process in the quarter of a second after it, and in the next.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grid"))
import grid_plan as plan  # noqa: E402
import grid_run  # noqa: E402
import grid_verdict  # noqa: E402

LEGEND = """sleeps: median of the loop's time (99th percentile; CPUs used). ends: CPU time after the last loop, worst sample, in the
first quarter of a second and in the next."""
IDLE_SECONDS = 0.5
NAMES = {"sleeps": "every {} us a loop of {} us", "ends": "the last of loops {} us apart, of {} us"}


def cell(kind, loop, pause):
    return plan.Cell(kind, loop, pause, NAMES[kind].format(pause, loop), pause + loop + 60)


CELLS = (cell("sleeps", 10, 1000), cell("sleeps", 10, 5000), cell("ends", 10, 0), cell("ends", 10, 200), cell("ends", 10, 1000))


def cost(cells, samples, seconds):
    total = 0.06  # to measure an iteration
    for one in cells:
        loops = plan.loops_of(one, seconds)
        total += samples * 1e-6 * one.step_us * (loops + max(loops // 3, plan.LEAST_LOOPS) + 16)
        total += samples * IDLE_SECONDS if one.kind == "ends" else 0
    return total


def show(record):
    if record["kind"] == "ends":
        first, second = (1e3 * record[name]["max"] for name in ("idle_first_s", "idle_second_s"))
        return f"{first:.2f} ms, then {second:.2f}"
    return f"{record['loop_ns'] / 1e3:.1f} us ({record['p99_ns'] / 1e3:.1f}; {record['cpus']:.3f})"


PROGRAM = grid_run.Program(
    name="periodic", about=__doc__, levels=((CELLS, CELLS[:2]), (CELLS[:3], CELLS[:1])), settings=plan.SETTINGS[:3],
    group_by=lambda one: (one.kind, one.pause_us), cost=cost, show=show, legend=LEGEND,
    verdict=grid_verdict.periodic_verdict, budget=300)

if __name__ == "__main__":
    sys.exit(grid_run.main(PROGRAM, sys.argv[1:]))
