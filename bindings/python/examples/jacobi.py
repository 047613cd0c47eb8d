# SPDX-License-Identifier: MIT
"""Solves a tridiagonal system by Jacobi's iteration in one region, with a kernel compiled by Numba.

python jacobi.py [MEMBERS] [UNKNOWNS]; needs Numba and NumPy.

Each member runs the kernel on its block, and meets the others after each sweep. njit(nogil=True) releases the interpreter
lock, so the blocks overlap; Python itself does the few lines between them.
"""
import sys
import time

import lockstep_threads as lockstep
import numba
import numpy


@numba.njit("float64(float64[::1], float64[::1], int64, int64)", nogil=True)
def sweep(old, new, first, last):
    """4 x[i] = 1 + x[i - 1] + x[i + 1] for a block. The greatest change."""
    change = 0.0
    for i in range(first, last):
        left = old[i - 1] if i > 0 else 0.0
        right = old[i + 1] if i + 1 < len(old) else 0.0
        new[i] = (1.0 + left + right) / 4.0
        change = max(change, abs(new[i] - old[i]))
    return change


def serial(n, tolerance):
    x, new, turns = numpy.zeros(n), numpy.zeros(n), 0
    while True:
        change = sweep(x, new, 0, n)
        x, new, turns = new, x, turns + 1
        if change < tolerance:
            return turns, x


def on_team(team, n, tolerance):
    vectors, answer = (numpy.zeros(n), numpy.zeros(n)), []

    def region(me):
        own, turns = me.block(0, n), 0
        while True:
            change = sweep(vectors[turns % 2], vectors[(turns + 1) % 2], own.start, own.stop)
            turns += 1
            if me.sync_max(change) < tolerance:
                break
        if me.rank == 0:
            answer.append((turns, vectors[turns % 2]))

    team.run(region)
    return answer[0]


def timed(name, solve):
    begin = time.perf_counter()
    turns, x = solve()
    print(f"{name:10} {turns} sweeps {(time.perf_counter() - begin) * 1e3:8.3f} ms")
    return turns, x


def main():
    members = int(sys.argv[1]) if len(sys.argv) > 1 else None
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with lockstep.Team(members) as team:
        print(f"{team.size} members, {n} unknowns")
        turns, x = timed("serial", lambda: serial(n, 1e-10))
        same_turns, same_x = timed("on a team", lambda: on_team(team, n, 1e-10))
    assert turns == same_turns and (x == same_x).all()
    print("the same bits")


if __name__ == "__main__":
    main()
