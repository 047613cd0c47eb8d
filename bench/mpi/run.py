#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jacobi, conjugate gradients and the heat equation as MPI only, MPI + OpenMP and MPI + lockstep; the latency of a sum over all.

The contenders of a layout (ranks x threads) take turns, each in processes of its own with the environment and the options of
mpirun that its setting wants; the best setting of a peer counts. A run measures some layouts; --append adds them to a file.

Exit status: 0 done; 1 a sample or the system failed, or results differ; 2 bad arguments.
"""

import argparse
import datetime
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [*(str(Path(__file__).resolve().parent.parent / name) for name in ("team", "grid")), str(Path(__file__).resolve().parent)]
import run as team  # noqa: E402

import machine_settings  # noqa: E402
import mpi_plan as plan  # noqa: E402
import mpi_programs as programs  # noqa: E402
import mpi_report as report  # noqa: E402

CONTENDERS = (plan.BARE, plan.ALONE, plan.GOMP, plan.OMP, plan.LOCKSTEP)
# What would change a contender's behaviour.
FOREIGN = re.compile(r"^(OMP|KMP|GOMP|LOCKSTEP|OMPI|PMIX|MPICH|MPIR|HYDRA|UCX)_")
PROCESSES = 3
DISTURBED = 0.1  # CPUs that others used meanwhile
ATTEMPTS = 3     # for a process group that was disturbed


def pick(text, known, option):
    for name in (text or "").split(","):
        if text and name not in known:
            raise team.ArgumentError(f"{option}: there is no '{name}', but {', '.join(known)}")
    return [known[name] for name in known if not text or name in text.split(",")]


def parse(given):
    layouts, libraries = {one.name: one for one in plan.LAYOUTS}, {one.name: one for one in plan.LIBRARIES}
    parser = team.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=programs.ROOT / "build" / "bench_mpi", metavar="DIRECTORY",
                        help="of the programs, which are compiled there (default %(default)s)")
    parser.add_argument("--layouts", metavar="RxT,...", help="ranks x threads: " + ", ".join(layouts))
    parser.add_argument("--mpi", metavar="NAME,...", help="libraries: " + ", ".join(libraries))
    parser.add_argument("--only", default="", metavar="REGEX", help="only entries whose title, 'Open MPI 2x2: MPI + libgomp (passive)', matches")
    parser.add_argument("--works", default="", metavar="REGEX", help="only these works: " + ", ".join(plan.WORKS))
    parser.add_argument("--samples", type=team.whole_number(1, 999), default=9, help="of each row (default 9)")
    parser.add_argument("--seconds", type=team.sample_seconds, default=0.02, help="of a sample, about (default 0.02)")
    parser.add_argument("--quick", action="store_true", help="one short sample each: only whether results are equal")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine and rows")
    parser.add_argument("--append", action="store_true", help="keep the other rows of that file")
    parser.add_argument("--list", action="store_true", help="print the titles of the entries")
    parser.add_argument("--build-only", action="store_true", help="compile the programs")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for one process group (default 60)")
    options = parser.parse_args(given)
    options.layouts = pick(options.layouts, layouts, "--layouts")
    options.libraries = pick(options.mpi, libraries, "--mpi")
    team.compile_filters(options, "only", "works")
    if options.append and not options.json:
        raise team.ArgumentError("--append: needs --json FILE")
    team.check_json(options)
    if options.quick:
        options.samples, options.seconds = 1, 0.001
    return options


def output_of(command, environment, timeout):
    """What it printed. The whole process group ends with it."""
    kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    process = subprocess.Popen([str(part) for part in command], env=kept | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=timeout)
    except BaseException as error:
        process.terminate()  # mpirun ends its ranks
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise RuntimeError(f"no end after {timeout:g} s") from None
        raise
    if process.returncode != 0:
        raise RuntimeError(errors.strip()[-1000:] or f"exit status {process.returncode}")
    return out


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def with_others(work):
    """What work() returns, and how many CPUs other processes used meanwhile."""
    start, busy, own = time.monotonic(), machine_settings.busy_seconds(), own_seconds()
    result = work()
    others = machine_settings.busy_seconds() - busy - (own_seconds() - own)
    return result, others / max(time.monotonic() - start, 0.05)


class Measurement:
    def __init__(self, options, builder):
        self.options, self.builder = options, builder
        self.samples, self.about, self.failures, self.disturbed = {}, {}, {}, {}

    def start(self, entry, samples, works):
        """What a process group printed; of those that were disturbed the least."""
        command = [*entry.command(), self.builder.program(entry.library, entry.contender), "--threads", entry.threads,
                   "--samples", samples, "--seconds", self.options.seconds, *works]
        seen = []
        for _ in range(1 if self.options.quick else ATTEMPTS):
            text, others = with_others(lambda: output_of(command, entry.environment(), self.options.timeout))
            seen.append((others, text))
            if others < DISTURBED:
                break
        others, text = min(seen)
        self.disturbed[entry] = max(self.disturbed.get(entry, 0), others)
        return json.loads(text)

    def works_of(self, entry):
        return [work for work in entry.works if self.options.works.search(work)]

    def take(self, entry, samples):
        """One process group; who fails once is left alone from then on."""
        works = self.works_of(entry)
        if not works or entry in self.failures:
            return
        try:
            seen = self.start(entry, samples, works)
        except (OSError, RuntimeError, ValueError, programs.CannotBuild) as error:
            self.failures[entry] = str(error)
            print(f"failed: {entry.title}: {error}", file=sys.stderr)
            return
        self.about[entry.library.title] = {"mpi": seen["mpi"], "compiler": seen["compiler"]}
        if seen["runtime"]:
            self.about[f"{entry.library.title}, {entry.contender}"] = seen["runtime"]
        for cell in seen["cells"]:
            known = self.samples.setdefault((entry, cell["work"]), {"samples": [], "steps": cell["steps"], "result": cell["result"]})
            known["samples"] += cell["samples"]

    def layout(self, library, layout):
        options = self.options
        entries = [one for one in plan.entries(library, layout, cpus(), CONTENDERS) if options.only.search(one.title)]
        processes = min(PROCESSES, options.samples)
        for turn in range(processes):
            for entry in plan.turns(entries, turn):
                self.take(entry, -(-options.samples // processes))
            if turn == 0:
                times = {(e.contender, e.setting.name): [report.statistics.median(w for w, _ in found["samples"])
                                                         for (of, _), found in self.samples.items() if of == e] for e in entries}
                slow = report.slow_settings(times)
                entries = [one for one in entries if (one.contender, one.setting.name) not in slow]

    def rows(self):
        found = [report.row(entry, work, each["samples"], each["result"], each["steps"], self.disturbed[entry])
                 for (entry, work), each in self.samples.items() if entry not in self.failures]
        return found + [{"mpi": entry.library.title, "layout": entry.layout.name, "work": work, "contender": entry.contender,
                         "setting": entry.setting.name, "error": message}
                        for entry, message in self.failures.items() for work in self.works_of(entry)]


def cpus():
    return len(os.sched_getaffinity(0))


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {"cpu": cpu[1] if cpu else "unknown", "usable_cpus": cpus(),
            "kernel": f"{platform.system()} {platform.release()} {platform.machine()}", "flags": " ".join(programs.FLAGS)}


def commands_of(measurement):
    return {entry.title: " ".join([*(f"{name}={value}" for name, value in sorted(entry.environment().items())
                                     if not name.startswith("OMPI_ALLOW")), *entry.command()])
            for entry, _ in measurement.samples}


def earlier(options):
    if options.append and options.json.is_file():
        return json.loads(options.json.read_text(encoding="utf-8"))
    return {"rows": [], "versions": {}, "commands": {}}


def result_of(options, old, new_rows, versions, commands):
    rows = report.merged(old["rows"], new_rows)
    return {"program": "mpi", "quick": options.quick, "date": datetime.date.today().isoformat(), "machine": machine(),
            "versions": old["versions"] | versions, "commands": old["commands"] | commands,
            "rows": rows}


def to_text(result):
    parts = ["; ".join(f"{name}: {value}" for name, value in result["machine"].items())]
    for library in plan.LIBRARIES:
        for table in (report.kernel_table, report.latency_table, report.overlap_table):
            text = table(result["rows"], library.title)
            parts += [f"\n{library.title}\n", text] if text else []
    outcome = {True: "met", False: "NOT MET", None: ""}
    return "\n".join([*parts, "", *(f"{outcome[one['met']]:8}{one['text']}" for one in report.verdict(result["rows"], cpus()))])


def save(options, result):
    if options.json:
        team.write_whole(options.json, team.result_text(result, lambda row: (row["mpi"], row["layout"], row["work"])))


def build_all(options, builder):
    for library in options.libraries:
        for contender in CONTENDERS:
            if any(options.only.search(e.title) for layout in options.layouts for e in plan.entries(library, layout, cpus(), (contender,))):
                builder.program(library, contender)
    return 0


def run(options):
    if options.list:
        print("\n".join(entry.title for library in options.libraries for layout in options.layouts
                        for entry in plan.entries(library, layout, cpus(), CONTENDERS) if options.only.search(entry.title)))
        return 0
    builder = programs.Builder(options.build)
    if options.build_only:
        return build_all(options, builder)
    measurement, old = Measurement(options, builder), earlier(options)
    for library in options.libraries:
        for layout in options.layouts:
            measurement.layout(library, layout)
            save(options, result_of(options, old, measurement.rows(), measurement.about, commands_of(measurement)))
    result = result_of(options, old, measurement.rows(), measurement.about, commands_of(measurement))
    print(to_text(result))
    differ = report.disagreements(measurement.rows())
    for line in differ:
        print(f"results differ: {line}", file=sys.stderr)
    save(options, result)
    return 1 if measurement.failures or differ else 0


def main(given):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started ends too
    try:
        return team.exit_status_of(lambda: run(parse(given)))
    except programs.CannotBuild as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
