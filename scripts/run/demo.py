#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Solves example problems with one thread and with all, and measures fork/join and barrier beside other libraries.

usage: demo.py [directory of the release build]

Each program compares its result with that of a plain serial loop, bit for bit; here the output files of one member and of
all are compared as well. Everything written goes to build/demo/. The exit status is 1 if a check failed, 2 if a program
could not do its work.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402

DEMO = ROOT / "build" / "demo"
SHOWN = DEMO.relative_to(ROOT)
RUNS = 3  # with all threads; the fastest counts
REPEAT = 15  # timed rounds of each run; the programs report the median
FEWER_ROUNDS = {"inpaint": 3}  # of those that take long

# what it is; the program, its arguments, the name of the output, its ending
PROBLEMS = [
    ("4096 equations solved (heat in a plate)", "jacobi", ["--matrix", "{data}/poisson_64x64.mtx"], "plate", ".mtx"),
    ("a picture sharpened", "filter5x5", ["--input", "{data}/rings.pgm", "--kernel", "sharpen"], "sharpened", ".pgm"),
    ("a sound with echoes, each 1024 frames", "audio",
     ["--input", "{data}/plucked.wav", "--block", "1024", "--combs", "100"], "echoes", ".wav"),
    ("the holes of a picture filled", "inpaint", ["--input", "{data}/scattered.pgm"], "filled", ".pgm"),
]
PEERS = ("lockstep", "std", "OpenMP")
SAMPLES = 3
PROBLEM = "{:<40} {:>10} {:>10}   {}"
COST = "{:<40} {:>10} {:>10} {:>10}"


class DemoError(Exception):
    """A program failed for another reason than its check."""


class Progress:
    """A bar on stderr, if that is a terminal."""

    def __init__(self, steps):
        self.steps, self.done = steps, -1

    def step(self, name):
        self.done += 1
        if sys.stderr.isatty():
            filled = 30 * self.done // self.steps
            print(f"\r\x1b[K[{'#' * filled}{'.' * (30 - filled)}] {name}", end="", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def run(command, accepted=(0,), **surroundings):
    done = subprocess.run([str(each) for each in command], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, **surroundings})
    if done.returncode not in accepted:
        raise DemoError(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def run_program(build, program, arguments, output, *more, repeat=REPEAT, **surroundings):
    """Runs one program; returns its record. It uses all usable CPUs, unless told otherwise."""
    record = output.with_suffix(".json")
    arguments = [each.format(data=build / "examples/data") for each in arguments]
    run([build / "examples" / program, *arguments, "--output", output, "--json", record,
         "--repeat", FEWER_ROUNDS.get(program, repeat), *more], accepted=(0, 1), **surroundings)
    if not record.is_file():
        raise DemoError(f"{program} wrote no record")
    return json.loads(record.read_text(encoding="utf-8"))


def seconds_of(record):
    """(serially, with the team): of all rounds, or of a block of sound."""
    if "runs" in record:
        return record["runs"][0]["median_seconds"], record["runs"][-1]["median_seconds"]
    return record["serial_seconds"], record.get("plan_seconds", record.get("team_seconds"))


def solve(build, progress, title, program, arguments, name, ending):
    """Solves one problem with one member and with all; returns its line and whether the checks were good."""
    output, single_output = DEMO / (name + ending), DEMO / (name + "_1" + ending)
    progress.step(f"{title}: one thread")
    single = run_program(build, program, arguments, single_output, "--members", "1")
    good, times = single["check"] == "ok", []
    for number in range(RUNS):
        progress.step(f"{title}: all threads, {number + 1} of {RUNS}")
        team = run_program(build, program, arguments, output)
        good = good and team["check"] == "ok" and output.read_bytes() == single_output.read_bytes()
        times.append(seconds_of(team))
    for extra in (single_output, single_output.with_suffix(".json")):
        extra.unlink(missing_ok=True)
    serial, parallel = min(times, key=lambda pair: pair[1])
    faster = f"{serial / parallel:.1f} times as fast" if good else "WRONG"
    return PROBLEM.format(title, f"{serial * 1e3:.2f} ms", f"{parallel * 1e3:.2f} ms", faster), good


def costs(build):
    """{work: {peer: median in ns}} of fork/join and barrier, and the machine. The cases take turns; all samples go to a file."""
    program = build / "bench" / "figures"
    known = json.loads(run([program]))
    samples = [{"work": work, "peer": peer, "ns": []} for work, peer in known["cases"]]
    for _ in range(SAMPLES):
        for each in samples:
            each["ns"].append(float(run([program, each["work"], each["peer"]])))
    (DEMO / "benchmark.json").write_text(json.dumps({"machine": known["machine"], "rows": samples}, indent=1) + "\n", encoding="utf-8")
    found = {}
    for each in samples:
        found.setdefault(each["work"], {})[each["peer"]] = statistics.median(each["ns"])
    return found, known["machine"]


def timeline(build):
    """The page that shows what two threads do in the graph of the sound."""
    trace = DEMO / "timeline.json"
    _, program, arguments, name, ending = PROBLEMS[2]
    run_program(build, program, arguments, DEMO / (name + "_traced" + ending), repeat=1, LOCKSTEP_TRACE=f"{trace},records=16K")
    run([build / "tool" / "lockstep", "timeline", trace])
    for extra in (trace, *DEMO.glob(f"{name}_traced*")):
        extra.unlink()


def clear():
    """Removes what an earlier demo left, so that nothing old passes for new."""
    DEMO.mkdir(parents=True, exist_ok=True)
    for path in DEMO.iterdir():
        if path.is_file():
            path.unlink()


def main(argv):
    build = Path(argv[1]).resolve() if len(argv) > 1 else ROOT / "build" / "release"
    clear()
    begin, progress = time.monotonic(), Progress((1 + RUNS) * len(PROBLEMS) + 2)
    try:
        solved = [solve(build, progress, *problem) for problem in PROBLEMS]
        progress.step("fork/join and barrier")
        found, machine = costs(build)
        progress.step("a timeline")
        timeline(build)
    except (DemoError, OSError) as error:
        progress.end()
        print(f"demo: {error}", file=sys.stderr)
        return 2
    progress.end()
    good = all(is_good for _, is_good in solved)
    others = "; other programs used the CPUs, too" if os.getloadavg()[0] > machine["usable_cpus"] + 1 else ""
    print(f"lockstep {machine['lockstep']}, {machine['cpu']}, {machine['usable_cpus']} CPUs, {time.monotonic() - begin:.0f} s{others}\n")
    print(PROBLEM.format("solved", "one thread", "all", ""))
    print("\n".join(line for line, _ in solved))
    print(("checked: all results have the bits of a plain serial loop" if good else "check FAILED") + f"; the fastest of {RUNS} runs\n")
    print(COST.format("two threads, without work", *PEERS))
    for work, medians in found.items():
        print(COST.format(work, *(f"{medians[peer] / 1e3:.2f} µs" if peer in medians else "-" for peer in PEERS)))
    print(f"\npicture: {SHOWN}/sharpened.pgm    what the threads did: {SHOWN}/timeline.html    figures: {SHOWN}/benchmark.json")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
