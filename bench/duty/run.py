#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program that alternates S us of serial work with a loop of P us: lockstep against its peers.

The loop's median time over that of the serial loop after the same gaps, and the CPUs used meanwhile. Gaps are
regular, vary by a tenth, alternate between a half and one and a half of S, or are random up to 2 S. Every
sample is a process of its own; the rows take turns. The whole grid takes hours: choose with --filter, as
'regular P=20 S=1000 .*lockstep'.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "team"))
import cells  # noqa: E402

KINDS = ("regular", "tenth", "alternating", "random")
LOOPS = (5, 20, 100, 500)
GAPS = (0, 10, 50, 200, 1000, 3000, 16000)
PEERS = ("lockstep", "lockstep loops", "libgomp", "libgomp passive", "libomp", "oneTBB", "ForkUnion")
LEGEND = """ratio to the serial loop (CPUs used). lockstep: through run(), to which every member comes; lockstep loops:
through parallel_for(); the others: every thread does its part, but oneTBB, whose caller does what is late."""


def cells_of(options):
    quick = options.quick
    return [cells.Cell(f"{kind} P={loop} S={gap}" + (f" beside a {options.competitor} one" if options.competitor else ""),
                       f"duty/{kind}/{loop}", gap, options.threads, options.competitor)
            for kind in (("regular", "random") if quick else KINDS)
            for loop in ((20, 100) if quick else LOOPS)
            for gap in ((0, 200, 1000) if quick else GAPS)]


def present(records):
    text = cells.table(records, lambda r: f"{r['ratio']:.2f} ({r['cpus']:.2f})", LEGEND)
    lines = []
    for peer in dict.fromkeys(r["peer"] for r in records):
        worst = max((r for r in records if r["peer"] == peer and not r["failed"]), key=lambda r: r["ratio"],
                    default=None)
        if worst:
            lines.append(f"worst of {peer}: {worst['ratio']:.2f} at {worst['cell']}")
    return text + "\n\n" + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(cells.main("duty", __doc__, 0.25, cells_of, PEERS, present, sys.argv[1:]))
