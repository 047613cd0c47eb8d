#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loops against the serial loop, over kernels, sizes and pauses: does a loop ever cost more than it saves?

The median time of a loop over that of the serial loop after the same pause. Every sample is a process of its
own; the rows take turns. The whole grid takes hours: choose with --filter, as 'daxpy n=4096'.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "team"))
import cells  # noqa: E402

KERNELS = ("daxpy", "dot", "sqrt", "stencil")
SIZES = (1, 16, 256, 4096, 65536, 1000000)
PAUSES = (0, 10, 100, 1000, 10000, 100000)
PEERS = ("lockstep", "lockstep loops", "libgomp", "libomp", "oneTBB", "ForkUnion")
LEGEND = """ratio to the serial loop, its 95th percentile in brackets. lockstep: through run(), to which every member comes;
lockstep loops: through parallel_for() and parallel_reduce(). Worst: of the medians, less 100 ns."""


def cells_of(options):
    quick = options.quick
    return [cells.Cell(f"{kernel} n={size} pause={pause}" + (f" beside a {options.competitor} one"
                                                           if options.competitor else ""),
                       f"serial/{kernel}/{pause}", size, options.threads, options.competitor)
            for kernel in (("daxpy", "dot") if quick else KERNELS)
            for size in ((16, 4096, 65536) if quick else SIZES)
            for pause in ((0, 100) if quick else PAUSES)]


def beyond_100_ns(record):
    return (record["loop_ns"] - 100) / record["serial_ns"]


def present(records):
    text = cells.table(records, lambda r: f"{r['ratio']:.2f} ({r['p95_ratio']:.2f})", LEGEND)
    lines = []
    for peer in dict.fromkeys(r["peer"] for r in records):
        worst = max((r for r in records if r["peer"] == peer and not r["failed"]), key=beyond_100_ns, default=None)
        if worst:
            lines.append(f"worst of {peer}: {beyond_100_ns(worst):.2f} at {worst['cell']}")
    return text + "\n\n" + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cells.main("serial", __doc__, 0.25, cells_of, PEERS, present, sys.argv[1:]))
