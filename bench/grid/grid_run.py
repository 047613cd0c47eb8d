# SPDX-License-Identifier: MIT
"""Measures a grid of cells by peers: what the drivers of bench/duty, bench/serial and bench/periodic share.

A process measures several cells of one peer, each several times; the peers of a group of cells follow each other,
and all groups are visited in three rounds, so that 9 samples of a cell lie far apart.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "team"))
import run as team  # noqa: E402

import grid_plan as plan  # noqa: E402
import grid_records as records  # noqa: E402
import machine_settings  # noqa: E402

ArgumentError = team.ArgumentError


@dataclass(frozen=True)
class Program:
    """A driver: its work, its grids and what it says of them."""
    name: str
    about: str
    levels: tuple     # pairs of cells: for the idle machine, for the other settings; from many to few
    settings: tuple
    group_by: object  # cell -> what the cells of a process have in common
    cost: object      # cells, samples, seconds -> seconds of a process
    show: object      # record -> text of the table
    legend: str
    verdict: object   # records -> list of {"text": ..., "met": bool or None}
    budget: float = 1200


def duration(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no duration, as 90s, 20m or 2h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def parse(program, given):
    parser = team.usual_parser(program.about, "cell")
    parser.add_argument("--budget", type=duration, default=program.budget, metavar="TIME",
                        help=f"for all of it, as 90s or 20m (default {minutes(program.budget)}): the grid is thinned out, "
                             "then the samples are made as long as the time allows")
    parser.add_argument("--settings", metavar="NAME,...", help="of the machine: "
                        + ", ".join(s.name for s in program.settings) + " (default all)")
    parser.add_argument("--plan", action="store_true", help="print what would be measured, and how long it would take")
    options = parser.parse_args(given)
    known = {s.name: s for s in program.settings}
    names = options.settings.split(",") if options.settings else list(known)
    for name in names:
        if name not in known:
            raise ArgumentError(f"--settings: there is no '{name}', but {', '.join(known)}")
    options.settings = tuple(known[name] for name in names)
    team.compile_filters(options, "filter")
    team.check_json(options)
    return options


def row_name(setting, cell, peer):
    return f"{setting.name}: {cell.title} / {peer.label}"


class Measurement:
    """The times that were seen, by setting, cell and peer."""

    def __init__(self, program, bench, options, peers):
        self.program, self.bench, self.options, self.peers = program, bench, options, peers
        self.loops, self.serial, self.cpus, self.more, self.failures = {}, {}, {}, {}, {}

    def wanted_cells(self, group, peer):
        return [cell for cell in group.cells if self.options.filter.search(row_name(group.setting, cell, peer))]

    def measure(self, group, peer, effort, turn, prepare):
        """One process. A peer that fails once in a group is left alone there from then on."""
        cells = self.wanted_cells(group, peer)
        if not cells or (group, peer) in self.failures:
            return
        arguments = [self.program.name, peer.peer, "--threads", str(group.setting.threads),
                     "--samples", str(effort.samples), "--seed", str(turn + 1),
                     "--seconds", f"{plan.longest_sample(cells, effort.seconds):.6f}",
                     "--cells", ",".join(cell.argument(plan.loops_of(cell, effort.seconds)) for cell in cells)]
        if group.setting.competitor:
            arguments += ["--competitor", group.setting.competitor]
        try:
            text = self.bench.ask(peer.runner, *arguments, environment=peer.environment, prepare=prepare)
            seen = json.loads(text)["cells"]
        except (RuntimeError, subprocess.SubprocessError, ValueError) as error:
            self.failures[(group, peer)] = str(error)
            print(f"failed: {group.setting.name}: {peer.label}: {error}", file=sys.stderr)
            return
        for cell, times in zip(cells, seen):
            key = (group.setting, cell, peer)
            self.loops.setdefault(key, []).extend(times["loops_ns"])
            self.cpus.setdefault(key, []).append(times["cpus"])
            for name, value in times.get("more", {}).items():
                self.more.setdefault(key, {}).setdefault(name.split(" ")[0], []).append(value)
            self.serial.setdefault(key, []).extend(times["serial_ns"])

    def records(self, groups):
        result = []
        for group in groups:
            for cell in group.cells:
                for peer in self.peers:
                    key = (group.setting, cell, peer)
                    if not self.options.filter.search(row_name(*key)) or group.setting in self.failures:
                        continue
                    failed = (group, peer) in self.failures
                    record = records.summarize(group.setting, cell, peer, [] if failed else self.loops.get(key, []),
                                               self.serial.get(key, []), self.cpus.get(key, []))
                    if failed:
                        record["error"] = self.failures[(group, peer)]
                    for name, values in self.more.get(key, {}).items():
                        record[name] = {"median": records.rounded(records.quantile(values, 0.5)),
                                        "max": records.rounded(max(values))}
                    result.append(record)
        return result


def show_progress(done, all_of_them, text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{done * 100 // all_of_them:3}% {text[:90]}", end="" if done < all_of_them else "\r\x1b[K",
              file=sys.stderr, flush=True)


def take_round(measurement, groups, effort, turn):
    """Each group once. A setting that cannot be made is noted as a failure."""
    done, steps = 0, len(groups) * len(measurement.peers)
    for setting in dict.fromkeys(group.setting for group in groups):
        if setting in measurement.failures:
            continue
        own = [group for group in groups if group.setting == setting]
        try:
            with machine_settings.made(setting) as prepare:
                for group, peer in plan.turns(own, measurement.peers, turn):
                    measurement.measure(group, peer, effort, turn, prepare)
                    done += 1
                    show_progress(done, steps, f"round {turn + 1} of {effort.rounds}, {setting.title}, {peer.label}")
        except machine_settings.CannotBeSet as error:
            measurement.failures[setting] = str(error)
            print(f"left out: {setting.title}: {error}", file=sys.stderr)


def settle_plan(program, options, peers):
    samples = options.samples or (3 if options.quick else 9)
    rounds = 1 if options.quick else min(3, samples)
    effort = plan.Effort(rounds, -(-samples // rounds))
    levels = program.levels[-1:] if options.quick else program.levels
    # A part of the budget is for what cannot be foreseen: crowds, beside which loops take longer than alone.
    def keep(setting, cell):
        return any(options.filter.search(row_name(setting, cell, peer)) for peer in peers)

    groups, effort, level = plan.choose(0.8 * options.budget, options.settings, levels, len(peers), effort,
                                        program.group_by, program.cost, keep)
    if options.quick:
        effort = plan.Effort(rounds, effort.samples, plan.LEAST_SECONDS)
    if not groups:
        raise ArgumentError("no row is left to measure: see --list")
    return groups, effort, level


def about_plan(program, options, groups, peers, effort, level):
    expected = plan.expected_seconds(groups, len(peers), effort, program.cost)
    by_setting = ", ".join(f"{setting.name} {sum(len(g.cells) for g in groups if g.setting == setting)}"
                           for setting in dict.fromkeys(g.setting for g in groups))
    whole = ("a quick look" if options.quick else "the whole grid" if level == 0
             else f"a thinner grid ({level + 1} of {len(program.levels)})")
    return (f"plan: {whole}; cells by setting: {by_setting}; {len(peers)} peers; {effort.rounds * effort.samples} samples "
            f"of a cell in {effort.rounds} processes, each of about {effort.seconds * 1000:.0f} ms or "
            f"{plan.LEAST_LOOPS} loops; expected: {minutes(expected)} of {minutes(options.budget)}")


def drive(program, options):
    bench = team.Bench(options.runners, options.timeout)
    available = bench.available()
    peers = tuple(peer for peer in plan.PEERS if (program.name, peer.peer) in available.get(peer.runner, ()))
    peers = tuple(peer for peer in peers if any(options.filter.search(row_name(setting, cell, peer))
                                                for setting in options.settings for cell in program.levels[0][0]))
    groups, effort, level = settle_plan(program, options, peers)
    if options.list:
        print("\n".join(row_name(g.setting, c, p) for g in groups for c in g.cells for p in peers
                        if options.filter.search(row_name(g.setting, c, p))))
        return 0
    planned = about_plan(program, options, groups, peers, effort, level)
    if options.plan:
        print(planned)
        return 0
    print(planned, file=sys.stderr, flush=True)
    measurement, start, first = Measurement(program, bench, options, peers), time.monotonic(), effort
    probes = [bench.probe()]
    for turn in range(effort.rounds):
        before = time.monotonic()
        take_round(measurement, groups, effort, turn)
        probes.append(bench.probe())
        effort = plan.slowed(effort, start + 0.97 * options.budget - time.monotonic(), time.monotonic() - before,
                             effort.rounds - turn - 1)
    found = measurement.records(groups)
    result = {"program": program.name, "quick": options.quick, "date": datetime.date.today().isoformat(),
              "machine": bench.machine(),
              "settings": {s.name: {"title": s.title} | ({"left_out": measurement.failures[s]}
                           if s in measurement.failures else {}) for s in options.settings},
              "peers": {p.label: {"runner": p.runner, "peer": p.peer, "environment": dict(p.environment)} for p in peers},
              "effort": {"samples": first.rounds * first.samples, "processes": first.rounds,
                         "sample_ms": round(first.seconds * 1000, 1), "last_sample_ms": round(effort.seconds * 1000, 1),
                         "seconds": round(time.monotonic() - start), "budget": options.budget, "t1_ns": probes,
                         "load": round(os.getloadavg()[0], 1)},
              "rows": found}
    print(to_text(program, planned, result))
    if options.json:
        team.write_whole(options.json, team.result_text(result, lambda row: (row["setting"], row["cell"])))
    return 1 if any(r["failed"] for r in found) else 0


def to_text(program, planned, result):
    parts = [team.machine_line(result["machine"]),
             f"{planned}; taken: {minutes(result['effort']['seconds'])}; load at the end: {result['effort']['load']}",
             "QUICK: few and short samples, the figures are rough" if result["quick"] else ""]
    for name, setting in result["settings"].items():
        parts.append(f"\n## {setting['title']}\n")
        rows = [r for r in result["rows"] if r["setting"] == name]
        parts.append(f"could not be set: {setting['left_out']}" if "left_out" in setting
                     else records.table(rows, program.show) if rows else "no rows")
    parts += ["", program.legend, "", "## Verdict" + (" (quick)" if result["quick"] else ""), ""]
    return "\n".join(parts + [verdict_line(one) for one in program.verdict(result["rows"])])


def verdict_line(one):
    outcome = {True: "met", False: "NOT MET", None: ""}[one["met"]]
    return f"{outcome:8}{one['text']}"


def main(program, given):
    """Exit status as that of team/run.py."""
    return team.exit_status_of(lambda: drive(program, parse(program, given)))
