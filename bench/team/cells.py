# SPDX-License-Identifier: MIT
"""Grids of loops between other things: what the drivers of bench/duty and bench/serial share."""

import argparse
import json
import math
import os
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import plan
import run as team


@dataclass(frozen=True)
class Cell:
    """A work of the runners, and how the table calls it."""
    title: str
    work: str
    size: int
    threads: int = 2
    competitor: str = ""


def variants(names):
    """Peers as they are by default, by their name in the table."""
    own = "team_lockstep"
    all_of_them = {
        "lockstep": plan.Variant("lockstep", "lockstep", own, "lockstep"),
        "lockstep loops": plan.Variant("lockstep", "lockstep loops", own, "lockstep-loops"),
        "libgomp": plan.Variant("libgomp", "libgomp", "team_gomp", "libgomp"),
        "libgomp passive": plan.Variant("libgomp", "libgomp passive", "team_gomp", "libgomp",
                                        (("OMP_WAIT_POLICY", "passive"),)),
        "libomp": plan.Variant("libomp", "libomp", "team_omp", "libomp"),
        "oneTBB": plan.Variant("oneTBB", "oneTBB", own, "tbb"),
        "ForkUnion": plan.Variant("ForkUnion", "ForkUnion", own, "fork_union-yield"),
    }
    return [all_of_them[name] for name in names]


def rows(cells, peers, available, seconds):
    result = []
    for cell in cells:
        work = plan.Work("cells", cell.title, cell.work, cell.threads, cell.size, cell.competitor)
        result += [plan.Row(work, peer, plan.arguments_of(work, peer, seconds)) for peer in variants(peers)
                   if (cell.work, peer.peer) in available.get(peer.runner, ())]
    return result


def median_of(samples, name):
    values = [s["more"][name] for s in samples if s.get("more", {}).get(name) is not None]
    return statistics.median(values) if values else math.nan


def summarize(row, samples):
    record = {"cell": row.work.title, "peer": row.variant.label, "threads": row.work.threads,
              "competitor": row.work.competitor, "failed": not samples}
    if samples:
        record |= {"ratio": statistics.median(s["value"] for s in samples),
                   "cpus": statistics.median(s["cpus"] for s in samples)}
        record |= {name: median_of(samples, name) for name in ("loop_ns", "serial_ns", "mean_ratio", "p95_ratio")}
        record["samples"] = samples
    return record


def table(records, show, legend):
    """A line for each cell, a column for each peer."""
    peers = list(dict.fromkeys(r["peer"] for r in records))
    lines = [["cell", *peers]]
    for cell in dict.fromkeys(r["cell"] for r in records):
        found = {r["peer"]: r for r in records if r["cell"] == cell}
        lines.append([cell] + ["-" if p not in found else "failed" if found[p]["failed"] else show(found[p])
                               for p in peers])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([*text, "", legend])


def arguments(about, default_seconds):
    parser = team.Parser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runners", type=Path, required=True, metavar="DIRECTORY", help="where they were built")
    parser.add_argument("--quick", action="store_true", help="some cells, 3 short samples: for a first look")
    parser.add_argument("--samples", type=team.whole_number(1, 1000), help="of each row (default 9; with --quick 3)")
    parser.add_argument("--seconds", type=team.sample_seconds, help=f"of a sample, about (default {default_seconds})")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only rows whose name, 'cell / peer', matches")
    parser.add_argument("--competitor", choices=("bound", "free"), default="",
                        help="beside a process that burns a CPU, bound to the first one or free")
    parser.add_argument("--threads", type=team.whole_number(1, 1024), default=2, metavar="N", help="(default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine, rows and samples")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="for one sample")
    return parser


def drive(program, options, cells, peers, present):
    """Measures the rows that are wanted; present(records) makes the text."""
    bench = team.Bench(options.runners, options.timeout)
    try:
        wanted = re.compile(options.filter)
    except re.error as error:
        raise team.ArgumentError(f"--filter: '{options.filter}' is not a regular expression") from error
    chosen = [row for row in rows(cells, peers, bench.available(), options.seconds) if wanted.search(row.name())]
    if not chosen:
        raise team.ArgumentError("no row is left to measure: see --list")
    if options.list:
        print("\n".join(row.name() for row in chosen))
        return 0
    if options.json and (options.json.is_dir() or not options.json.parent.is_dir()):
        raise team.ArgumentError(f"--json: cannot write '{options.json}'")
    machine = bench.machine()
    samples, failures = team.measure(bench, chosen, options.samples)
    records = [summarize(row, taken) for row, taken in zip(chosen, samples)]
    load = os.getloadavg()[0]
    print("; ".join(f"{key}: {value if isinstance(value, str) else json.dumps(value)}"
                    for key, value in machine.items()))
    quick = "; QUICK: few and short samples, the figures are rough" if options.quick else ""
    print(f"samples: {options.samples}; load at the end: {load:.1f}{quick}\n\n{present(records)}")
    if options.json:
        team.write_whole(options.json, json.dumps({"program": program, "quick": options.quick, "machine": machine,
                                                   "rows": records}, indent=1) + "\n")
    return 1 if failures else 0


def main(program, about, default_seconds, cells_of, peers, present, given):
    """cells_of(options): the cells; exit status as that of team/run.py."""
    try:
        options = arguments(about, default_seconds).parse_args(given)
        options.samples = options.samples or (3 if options.quick else 9)
        options.seconds = options.seconds or (default_seconds / 10 if options.quick else default_seconds)
        return drive(program, options, cells_of(options), peers, present)
    except team.ArgumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, RuntimeError, team.subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
