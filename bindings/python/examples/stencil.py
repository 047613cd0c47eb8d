# SPDX-License-Identifier: MIT
"""Smooths a rod by Jacobi's iteration, with a test in each step: one region that Numba compiles.

python stencil.py [MEMBERS] [UNKNOWNS]; needs Numba and NumPy. Both solutions have the same bits.
"""
import statistics
import sys
import time

import numba
import numpy

import lockstep_threads as lockstep
from lockstep_threads.numba import block, rank, region, sync_max


@numba.njit(nogil=True)
def sweep(x, y, first, last):
    """4 y[i] = 1 + x[i - 1] + 2 x[i] + x[i + 1] inside of the rod, whose ends stay. The greatest change."""
    change = 0.0
    for i in range(first, last):
        y[i] = 0.25 * (1.0 + x[i - 1] + x[i] + x[i + 1])
        change = max(change, abs(y[i] - x[i]))
    return change


@numba.njit(nogil=True)
def serial(x, y, tolerance, steps):
    while True:
        change = sweep(x, y, 1, x.size - 1)
        x, y = y, x
        steps[0] += 1
        if change < tolerance:
            return


@region
def on_team(me, x, y, tolerance, steps):
    first, last = block(me, 1, x.size - 1)
    while True:
        change = sync_max(me, sweep(x, y, first, last))  # the barrier between two steps
        x, y = y, x
        if rank(me) == 0:
            steps[0] += 1
        if change < tolerance:
            return


def timed(solve, n):
    """Nanoseconds for a step, and the result."""
    x, y, steps = numpy.zeros(n), numpy.zeros(n), numpy.zeros(1, numpy.int64)
    begin = time.perf_counter_ns()
    solve(x, y, 1e-12, steps)
    return (time.perf_counter_ns() - begin) / steps[0], (x, y, int(steps[0]))


def main():
    members = int(sys.argv[1]) if len(sys.argv) > 1 else None
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    with lockstep.Team(members) as team:

        def solve_on_team(*arguments):
            team.run(on_team, arguments)

        ways = {"serial": serial, f"{team.size} members": solve_on_team}
        times = {name: [] for name in ways}
        for turn in range(50):
            results = []
            for name, solve in ways.items():
                each, result = timed(solve, n)
                results.append(result)
                if turn:  # the first compiles
                    times[name].append(each)
            (x, y, steps), (same_x, same_y, same_steps) = results
            assert steps == same_steps and (x == same_x).all() and (y == same_y).all()
    medians = {name: statistics.median(of) for name, of in times.items()}
    for name, median in medians.items():
        print(f"{name:10} {median:8.0f} ns a step, {median / medians['serial']:.2f} of serial")


if __name__ == "__main__":
    main()
