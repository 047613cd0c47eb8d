#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Graphs: lockstep's plan against oneTBB's flow graph, Taskflow, OpenMP tasks with dependences, and wiring by hand.

Every sample is a process of its own, started by this driver with the peer's environment; the rows take turns; between two
samples the one-way time of a cache line (t1) is probed. A sample's time is compared with that of serial calls of the
same nodes, in turns with it. Prints Markdown tables with the best setting of each runtime.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import datetime
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "team"), str(HERE.parent / "grid")]  # before this file's own, since both have a run.py
import graph_plan as plan  # noqa: E402
import graph_targets as targets  # noqa: E402
import grid_run  # noqa: E402
import run as team  # noqa: E402
import summary  # noqa: E402

LEGEND = """Times are of a node, an edge, a level or a turn. x serial: how many times faster than serial calls of the same nodes, in
turns with them, in the same process. t1: the one-way time of a cache line between two CPUs, probed before and after each sample;
where the two differ by a quarter the sample counts for the time but not for 'x t1'. CPUs: CPU time over wall time.
lockstep: the plan as it is made by default; measured: made anew with the times of nodes that it has measured; stepwise: the
same with a run() for each iteration. The best setting of each runtime is shown, by median; --all shows every one."""
# Of a row beside its samples: the process, the check of the order, the probe.
ROW_SECONDS = 0.05
# Serial calls, trials and warming up, as multiples of the sample.
OVERHEAD = 4


def chosen_rows(bench, options, cpus, seconds):
    return [row for row in plan.rows(bench.available(), cpus, seconds) if options.filter.search(row.name())]


def seconds_within(budget, rows, samples):
    """Of a sample, so that all of them fit."""
    return min(max((budget / (rows * samples) - ROW_SECONDS) / OVERHEAD, 0.001), 1.0)


def compact(record):
    """Without what each sample says beyond its value."""
    slim = {key: value for key, value in record.items() if key != "samples"}
    if not record["failed"]:
        slim["values"] = [float(f"{s['value']:.4g}") for s in record["samples"]] if "samples" in record else record["values"]
    return slim


def joined(old, new, order):
    """The rows of both; what was measured anew counts."""
    by_name = {r["name"]: r for r in [*old, *new]}
    return [by_name[name] for name in order if name in by_name]


def cells_of(record):
    if record["failed"]:
        return [record["work"], record["variant"], "failed", "", "", "", "", "", "", "", ""]
    value, more = record["value"], record["more"]
    shown = summary.four_digits
    return [record["work"], record["variant"], shown(value["median"]), shown(value["min"]), shown(value["max"]), record["unit"],
            summary.two_places(record["in_t1"]), shown(record["t1_ns"]), summary.two_places(record["cpus"]),
            summary.two_places(more.get("speed_up")), summary.two_places(record["lockstep_over_peer"])]


COLUMNS = ["work", "peer", "median", "min", "max", "unit", "x t1", "t1 [ns]", "CPUs", "x serial", "lockstep / peer"]


def records_of(bench, options, rows, order):
    samples, failures = team.measure(bench, rows, options.samples)
    found = [compact(summary.summarize(row, taken)) for row, taken in zip(rows, samples)]
    for i, message in failures.items():
        found[i]["error"] = message
    if options.add and options.json.is_file():
        found = joined(json.loads(options.json.read_text(encoding="utf-8"))["rows"], found, order)
    summary.mark_best(found)
    summary.add_ratios(found)
    return found, failures


def run(options):
    bench = team.Bench(options.runners, options.timeout, plan.RUNNERS)
    machine = bench.machine()
    cpus = machine["usable_cpus"]
    rows = chosen_rows(bench, options, cpus, options.seconds)
    if not rows:
        raise team.ArgumentError("no row is left to measure: see --list")
    if options.list:
        print("\n".join(row.name() for row in rows))
        return 0
    if options.budget:
        options.seconds = seconds_within(options.budget, len(rows), options.samples)
        rows = chosen_rows(bench, options, cpus, options.seconds)
    order = [row.name() for row in plan.rows(bench.available(), cpus, options.seconds)]
    found, failures = records_of(bench, options, rows, order)
    result = {"program": "graph", "quick": options.quick, "machine": machine, "date": datetime.date.today().isoformat(),
              "samples": options.samples, "seconds": options.seconds, "rows": found}
    print(team.machine_line(machine))
    quick = "; QUICK: few and short samples, the figures are rough" if options.quick else ""
    print(f"samples: {options.samples} of {options.seconds:.3g} s{quick}\n\n{summary.to_text(found, options.all, COLUMNS, cells_of)}\n{LEGEND}")
    print("\n".join([f"\nVerdict{' (quick)' if options.quick else ''}", *map(targets.to_line, targets.verdicts(found))]))
    if options.json:
        team.write_whole(options.json, team.result_text(result))
    return 1 if failures else 0


def parse(arguments):
    parser = team.usual_parser(__doc__)
    parser.add_argument("--budget", type=grid_run.duration, metavar="TIME",
                        help="for all of it, as 90s or 20m: samples are made as long as it allows")
    parser.add_argument("--add", action="store_true", help="to the rows that the file has, in place of those of the same name")
    options = team.parsed(parser, arguments, 0.002, 0.02)
    if options.add and not options.json:
        raise team.ArgumentError("--add: to what? It goes with --json")
    return options


if __name__ == "__main__":
    sys.exit(team.exit_status_of(lambda: run(parse(sys.argv[1:]))))
