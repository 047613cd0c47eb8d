#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The team's benchmarks: lockstep against the OpenMP runtimes and other pools, each at its best setting.

Every sample is a process of its own, started by this driver with the peer's environment; the rows take
turns; between two samples the one-way time of a cache line (t1) is probed. Prints Markdown tables with
the best setting of each runtime, and writes everything as JSON.

Exit status: 0 done; 1 a sample or the system failed; 2 bad arguments.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import plan
import summary

RUNNERS = ("team_lockstep", "team_gomp", "team_omp")
# What another's settings would change.
FOREIGN = re.compile(r"^(OMP|KMP|GOMP|LOCKSTEP|TBB)_")
LEGEND = """t1: the one-way time of a cache line between two CPUs, probed before and after each sample; where the
two differ by a quarter the sample counts for the time but not for 'x t1'. CPUs: CPU time over wall time.
Overheads are beyond the work inside, and below zero by noise only. The best setting of each runtime is
shown, by median; --all shows every one. After idle every setting is shown, because those that are fast
burn CPUs meanwhile: there, CPUs counts the idle time from its 5th millisecond on. oneTBB's caller does the
other's part where that is late."""


class ArgumentError(Exception):
    pass


class Bench:
    """The runners that were built. The first one is ours: it also probes, and tells the machine."""

    def __init__(self, directory, timeout, runners=RUNNERS):
        self.timeout, self.own = timeout, runners[0]
        self.paths = {name: directory / name for name in runners if (directory / name).is_file()}
        if self.own not in self.paths:
            raise ArgumentError(f"--runners: there is no {self.own} in '{directory}'")
        self.environment = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}

    def ask(self, runner, *arguments, environment=(), prepare=None):
        """`prepare` is called in the new process before the runner begins."""
        done = subprocess.run([self.paths[runner], *arguments], env=self.environment | dict(environment),
                              capture_output=True, text=True, timeout=self.timeout, check=False, preexec_fn=prepare)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"exit status {done.returncode}")
        return done.stdout

    def available(self):
        return {name: {tuple(line.split(" ", 1)) for line in self.ask(name, "--list").splitlines()}
                for name in self.paths}

    def machine(self):
        about = {name: json.loads(self.ask(name, "--about")) for name in self.paths}
        machine = about[self.own]
        machine["peers"] = {peer: version for one in about.values()
                            for peer, version in one["peers"].items()}
        return machine

    def probe(self):
        return json.loads(self.ask(self.own, "--probe"))["t1_ns"]

    def sample(self, row):
        return json.loads(self.ask(row.variant.runner, *row.arguments, environment=row.variant.environment))


def measure(bench, rows, rounds):
    """The samples of each row. Who fails once is left alone from then on."""
    samples, failures = [[] for _ in rows], {}
    before = bench.probe()
    for done, (i, turn) in enumerate(plan.turns(len(rows), rounds)):
        show_progress(done, rounds * len(rows), rows[i], turn, rounds)
        if i in failures:
            continue
        try:
            sample = bench.sample(rows[i])
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
            failures[i] = str(error)
            samples[i].clear()
            print(f"failed: {rows[i].name()}: {error}", file=sys.stderr)
            continue
        after = bench.probe()
        samples[i].append(sample | {"t1_before": before, "t1_after": after})
        before = after
    return samples, failures


def show_progress(done, steps, row, turn, rounds):
    if sys.stderr.isatty():
        text = f"{done * 100 // steps:3}% sample {turn + 1} of {rounds}, {row.name()}"
        print(f"\r\x1b[K{text[:100]}", end="" if done + 1 < steps else "\r\x1b[K", file=sys.stderr, flush=True)
    elif done * 10 // steps != (done - 1) * 10 // steps:
        print(f"{done * 100 // steps}% {row.name()}", file=sys.stderr, flush=True)


def chosen_rows(bench, options, cpus):
    works = plan.works(options.threads or (2,), options.competitor)
    rows = [row for row in plan.rows(works, bench.available(), cpus, options.seconds)
            if options.filter.search(row.name())]
    if not rows:
        raise ArgumentError("no row is left to measure: see --list")
    return rows


def write_whole(path, text):
    """Complete or not there."""
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def rounded(value):
    """Seven digits say more than a median has."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def result_text(result, cell=lambda row: row.get("work")):
    """JSON with a line for each cell: the rows of all its contenders. cell: what rows of one cell have in common, in a row."""
    def line(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    cells = {}
    for row in result["rows"]:
        cells.setdefault(cell(row), []).append(line(rounded(row)))
    parts = [f" {line(name)}: {line(rounded(value))}" for name, value in result.items() if name != "rows"]
    parts.append(' "rows": [\n' + ",\n".join(map(",".join, cells.values())) + "]")
    return "{\n" + ",\n".join(parts) + "}\n"


def run(options):
    bench = Bench(options.runners, options.timeout)
    machine = bench.machine()
    rows = chosen_rows(bench, options, machine["usable_cpus"])
    if options.list:
        print("\n".join(row.name() for row in rows))
        return 0
    samples, failures = measure(bench, rows, options.samples)
    records = [summary.summarize(row, taken) for row, taken in zip(rows, samples)]
    for i, message in failures.items():
        records[i]["error"] = message
    summary.mark_best(records)
    summary.add_ratios(records)
    print(machine_line(machine))
    quick = "; QUICK: few and short samples, the figures are rough" if options.quick else ""
    print(f"samples: {options.samples}{quick}\n\n{summary.to_text(records, options.all)}\n{LEGEND}")
    if options.json:
        write_whole(options.json, result_text({"program": "team", "quick": options.quick, "machine": machine,
                                               "date": datetime.date.today().isoformat(), "rows": records}))
    return 1 if failures else 0


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ArgumentError(message)


def whole_number(least, most):
    def parse(text):
        number = int(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not in the range {least} to {most}")
        return number
    return parse


def sample_seconds(text):
    seconds = float(text)
    if not 1e-4 <= seconds <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not in the range 0.0001 to 100")
    return seconds


def usual_parser(about, each="row"):
    """What every driver of runners can be told."""
    parser = Parser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runners", type=Path, required=True, metavar="DIRECTORY", help="where they were built")
    parser.add_argument("--quick", action="store_true", help="3 short samples: for a first look")
    parser.add_argument("--samples", type=whole_number(1, 999), help=f"of each {each} (default 9; with --quick 3)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only rows whose name matches")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine, rows and samples")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="for one process")
    return parser


def check_json(options):
    if options.json and (options.json.is_dir() or not options.json.parent.is_dir()):
        raise ArgumentError(f"--json: cannot write '{options.json}'")


def compile_filters(options, *names):
    for name in names:
        try:
            setattr(options, name, re.compile(getattr(options, name)))
        except re.error as error:
            raise ArgumentError(f"--{name}: '{getattr(options, name)}' is not a regular expression") from error


def parsed(parser, arguments, quick_seconds, usual_seconds):
    """Of drivers whose samples have a time, in seconds."""
    parser.add_argument("--seconds", type=sample_seconds, help=f"of a sample, about (default {usual_seconds})")
    parser.add_argument("--all", action="store_true", help="show every setting, not only the best ones")
    options = parser.parse_args(arguments)
    options.samples = options.samples or (3 if options.quick else 9)
    options.seconds = options.seconds or (quick_seconds if options.quick else usual_seconds)
    compile_filters(options, "filter")
    check_json(options)
    return options


def machine_line(machine):
    return "; ".join(f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in machine.items())


def parse(arguments):
    parser = usual_parser(__doc__)
    parser.add_argument("--threads", type=whole_number(1, 1024), action="append", metavar="N",
                        help="threads of a team (default 2); may be repeated")
    parser.add_argument("--competitor", action="store_true",
                        help="also beside a process that burns a CPU")
    return parsed(parser, arguments, 0.005, 0.05)


def exit_status_of(work):
    """That of work(), or of what it raised."""
    try:
        return work()
    except ArgumentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def main(arguments):
    return exit_status_of(lambda: run(parse(arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
