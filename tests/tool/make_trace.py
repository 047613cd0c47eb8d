#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace as the recorder writes them, of a team that never was: what is in it is known to the nanosecond.

usage: make_trace.py FILE [--members 4] [--slices 2000] [--seed 1]

Each region has the members' parts. Member 0 begins first, each other 300 ns after the one before it (100 ns in large
teams). In the middle all meet at a barrier, to which the last member comes last. Then each runs a node. Now and then a
loop runs inline.
"""

import argparse
import json
import random
import sys
from pathlib import Path

PROCESS = 7


class Trace:
    def __init__(self):
        self.events = []
        self.slices = 0
        self.arrows = 0

    def add(self, **event):
        self.events.append({"pid": PROCESS, **event})

    def name(self, thread, name):
        self.add(ph="M", name="thread_name", tid=thread, args={"name": name})
        self.add(ph="M", name="thread_sort_index", tid=thread, args={"sort_index": thread})

    def slice(self, category, name, thread, begin, end, **args):
        """Times are nanoseconds."""
        self.slices += 1
        self.add(ph="X", cat=category, name=name, tid=thread, ts=begin / 1000, dur=(end - begin) / 1000, args=args)

    def mark(self, category, name, thread, when, **args):
        self.add(ph="i", s="t", cat=category, name=name, tid=thread, ts=when / 1000, args=args)

    def counter(self, name, when, value):
        self.add(ph="C", name=name, tid=0, ts=when / 1000, args={"value": value})

    def arrow(self, thread, left, to, came):
        self.arrows += 1
        for phase, on, when in (("s", thread, left), ("f", to, came)):
            self.add(ph=phase, bp="e", cat="flow", name="let go", id=self.arrows, tid=on, ts=when / 1000)

    def text(self, **other):
        """One event a line, as the recorder writes them."""
        lines = ",\n".join(json.dumps(event) for event in self.events)
        return f'{{"traceEvents":[\n{lines}\n],"displayTimeUnit":"ns","otherData":{json.dumps(other)}}}\n'


def add_region(trace, begin, members, number, draw):
    """A region with a barrier and a node for each member; returns its end."""
    latest = members - 1
    late = 300 if members <= 16 else 100
    starts = [begin + 200 + late * rank for rank in range(members)]
    arrivals = [begin + 8_000 + draw.randrange(4_000) for _ in range(members)]
    arrivals[latest] = begin + 14_000
    ends = []
    for rank in range(members):
        released = arrivals[latest] + (0 if rank == latest else 90)
        node_begin = released + 500
        ends.append(node_begin + 2_000 + draw.randrange(3_000))
        trace.slice("part", "part", rank, starts[rank], ends[rank] + 100, region=number)
        trace.slice("construct", "sync_threads", rank, arrivals[rank], released, where="source/solver.cpp:31",
                    waited=(released - arrivals[rank]) / 1000)
        if rank != latest:
            stage = "spin" if released - arrivals[rank] < 4_000 else "sleep"
            trace.slice("wait", "wait for barrier", rank, arrivals[rank], released, **{
                "for": "barrier", "object": "0x55d0", "stage": stage, "phase": 2 * number})
            trace.arrow(latest, arrivals[latest], rank, released)
        trace.slice("node", f"node {rank}", rank, node_begin, ends[rank], iteration=number)
    join = max(ends) + 200
    trace.slice("wait", "wait for members", 0, ends[0] + 100, join, **{"for": "team", "stage": "spin"})
    trace.slice("region", "solver.cpp:30", 0, begin, join + 100, number=number)
    return join + 100


def add_inline_loop(trace, begin, number):
    trace.slice("region", "solver.cpp:52", 0, begin, begin + 3_000, number=number)
    trace.mark("decision", "loop inline", 0, begin, why="shorter than a wake-up")
    return begin + 3_000


def make(members, slices, seed):
    """A trace of at least so many slices."""
    draw = random.Random(seed)
    trace = Trace()
    for rank in range(members):
        trace.name(rank, f"member {rank}")
    time = 5_000_000
    number = 0
    while trace.slices < slices:
        number += 1
        if number % 5 == 0:
            time = add_inline_loop(trace, time, number)
        else:
            trace.mark("decision", f"loop on {members} members", 0, time, why="worth a wake-up")
            trace.counter("residual", time, 1 / number)
            time = add_region(trace, time, members, number, draw)
        time += 1_000
    trace.slice("user", "output </script>", 0, time, time + 9_000)
    trace.mark("user", "done", 0, time + 8_000)
    return trace


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--slices", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(argv[1:])
    trace = make(chosen.members, chosen.slices, chosen.seed)
    chosen.file.write_text(trace.text(lockstep="0.1.0", members=chosen.members, dropped=0),
                           encoding="utf-8")
    print(f"{chosen.file}: {trace.slices} slices, {trace.arrows} arrows")


if __name__ == "__main__":
    sys.exit(main(sys.argv))
