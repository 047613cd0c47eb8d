#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loops against the serial loop, over kernels, sizes and pauses: does a loop ever cost more than it saves?

The time of a loop over that of the serial loop after the same pause, on an idle machine, and on one that is busy, has
too few CPUs or throttles. One command measures what fits into --budget, and says first how long it will take.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "grid"))
import grid_plan as plan  # noqa: E402
import grid_run  # noqa: E402
import grid_verdict  # noqa: E402

# A program of so many different loops of 50 to 500 elements, in so many rounds. Of one peer in six there are five pairs.
PLACES, ROUNDS, PAIRS = (8, 32, 128), 300, 2
# With the nanoseconds of an element, about.
KERNELS = {"daxpy": 0.8, "dot": 1.0, "sqrt": 11.0, "stencil": 1.2}
SIZES = (1, 16, 256, 4096, 65536, 1000000)
PAUSES = (0, 10, 100, 1000, 10000, 100000)
LEGEND = """ratio to the serial loop, its 95th percentile in brackets. lockstep: through run(), to which every member comes;
lockstep loops: through for_each() and reduce_each(). In the verdict a loop's time counts less 100 ns. places: the
time of a program of n different short loops, 300 rounds by a new team, over that of the serial program."""


def step_us(kernel, size, pause):
    """A serial loop and one of the team, each after its pause; without one, several in a row."""
    alone = 0.001 * size * KERNELS[kernel]
    in_a_row = 1 if pause else 50 if alone < 5 else 3
    wake_up = 60 if pause >= 50 else 0
    return 2 * (pause + wake_up + in_a_row * (alone + 0.5))


def cell(kernel, size, pause):
    # Nine pairs of loops are all that there is time for after the longest pauses.
    return plan.Cell(kernel, size, pause, f"{kernel} n={size} pause={pause}", step_us(kernel, size, pause),
                     1 if pause >= 100000 else plan.LEAST_LOOPS)


def grid(kernels=tuple(KERNELS), sizes=SIZES, pauses=PAUSES):
    return tuple(cell(kernel, size, pause) for kernel in kernels for pause in pauses for size in sizes)


def programs():
    return tuple(plan.Cell("places", count, 0, f"places n={count} pause=0", PAIRS * 2 * count * 0.5, ROUNDS) for count in PLACES)


LEVELS = tuple((programs() + idle, programs() + others) for idle, others in (
    (grid(), grid()),
    (grid(), grid(sizes=(1, 256, 4096, 65536), pauses=(0, 100, 1000, 10000))),
    (grid(), grid(("daxpy", "dot", "sqrt", "stencil"), (1, 256, 4096, 65536), (0, 100, 10000))),
    (grid(), grid(("daxpy", "sqrt"), (1, 256, 4096, 65536), (0, 100, 10000))),
    (grid(), grid(("daxpy", "sqrt"), (16, 4096, 65536), (0, 100, 1000))),
    (grid(pauses=(0, 10, 100, 1000, 10000)), grid(("daxpy", "sqrt"), (16, 4096, 65536), (0, 100, 1000))),
    (grid(("daxpy", "dot"), (16, 4096, 65536), (0, 100)), grid(("daxpy", "dot"), (16, 4096), (0, 100))),
))


def cost(cells, samples, seconds):
    """Of a process: a few loops that do not count, then in each sample pairs of a serial loop and one of the team."""
    few = sum(plan.LEAST_LOOPS * (one.step_us - 2 * (one.pause_us - min(one.pause_us, 100))) for one in cells)
    return 1e-6 * (sum(samples * plan.loops_of(one, seconds) * one.step_us for one in cells) + few)


PROGRAM = grid_run.Program(
    name="serial", about=__doc__, levels=LEVELS, settings=plan.SETTINGS, group_by=lambda cell: (cell.kind, cell.pause_us),
    cost=cost, show=lambda r: f"{r['value']['median']:.2f} ({r['p95_ratio']:.2f})", legend=LEGEND,
    verdict=grid_verdict.serial_verdict)

if __name__ == "__main__":
    sys.exit(grid_run.main(PROGRAM, sys.argv[1:]))
