#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that alternates S us of serial work with a loop of P us: lockstep against its peers.

The loop's time over that of the serial loop after the same gaps, and the CPUs used meanwhile. Gaps are regular,
vary by a tenth, alternate between a half and one and a half of S, or are random up to 2 S. On an idle machine, and on
one that is busy, has too few CPUs or throttles. One command measures what fits into --budget, and says first how long
it will take.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grid"))
import grid_plan as plan  # noqa: E402
import grid_run  # noqa: E402
import grid_verdict  # noqa: E402

KINDS = ("regular", "tenth", "alternating", "random")
LOOPS = (5, 20, 100, 500)
GAPS = (0, 10, 50, 200, 1000, 3000, 16000)
LEGEND = """ratio to the serial loop of the same time, median (mean; CPUs used). lockstep: through run(), to which every member comes;
lockstep loops: through for_each(); the others: every thread does its part, but oneTBB, whose caller does what is late."""


def grid(kinds=KINDS, loops=LOOPS, gaps=GAPS):
    return tuple(plan.Cell(kind, loop, gap, f"{kind} P={loop} S={gap}", loop + gap)
                 for kind in kinds for gap in gaps for loop in loops)


LEVELS = (
    (grid(), grid()),
    (grid(), grid(("regular", "random"), (5, 20, 100, 500), GAPS)),
    (grid(), grid(("regular", "random"), (20, 100, 500), (0, 50, 200, 1000, 3000, 16000))),
    (grid(), grid(("regular", "random"), (20, 100), (0, 50, 200, 1000, 3000))),
    (grid(), grid(("regular",), (20, 100), (0, 50, 200, 1000))),
    (grid(KINDS, (5, 20, 100, 500), (0, 50, 200, 1000, 3000)), grid(("regular",), (20, 100), (0, 50, 1000))),
    (grid(("regular", "random"), (20, 100), (0, 200, 1000)), grid(("regular",), (20, 100), (0, 1000))),
)


def cost(cells, samples, seconds):
    """Of a process: it measures an iteration, the team gets used to the gaps, and in each sample come serial loops and a
    loop that does not count."""
    loops = [(plan.loops_of(cell, seconds), cell) for cell in cells]
    return (0.06 + min(16e-6 * cells[0].step_us, 0.5) + samples * sum(
        1e-6 * cell.step_us * (count + 1 + max(count // 3, plan.LEAST_LOOPS) + 1) for count, cell in loops))


PROGRAM = grid_run.Program(
    name="duty", about=__doc__, levels=LEVELS, settings=plan.SETTINGS, group_by=lambda cell: (cell.kind, cell.pause_us),
    cost=cost, show=lambda r: f"{r['value']['median']:.2f} ({r['mean_ratio']:.2f}; {r['cpus']:.1f})", legend=LEGEND,
    verdict=grid_verdict.duty_verdict)

if __name__ == "__main__":
    sys.exit(grid_run.main(PROGRAM, sys.argv[1:]))
