#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Solves the example problems with one member and with all, then runs the quick benchmark.

usage: demo.py [directory of the release build]

Each program compares its result with a serial run, bit for bit; here the output files of one member
and of all are compared as well. Everything written goes to build/demo/. The exit status is 1 if a
check failed, 2 if a program could not do its work.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402

DEMO = ROOT / "build" / "demo"
DATA = "examples/data"
REPEAT = 15  # timed rounds of each run; the programs report the median
FEWER_ROUNDS = {"inpaint": 3}  # of those that take long

# program, arguments, name of the output, its ending
PROBLEMS = [
    ("jacobi", ["--matrix", f"{DATA}/poisson_24x24.mtx"], "poisson_24x24", ".mtx"),
    ("jacobi", ["--matrix", f"{DATA}/poisson_64x64.mtx"], "poisson_64x64", ".mtx"),
    ("filter5x5", ["--input", f"{DATA}/rings.pgm", "--kernel", "sharpen"], "rings_sharpen", ".png"),
    ("audio", ["--input", f"{DATA}/plucked.wav", "--block", "1024", "--combs", "100"], "plucked", ".wav"),
    ("inpaint", ["--input", f"{DATA}/scattered.pgm"], "scattered", ".pgm"),
]
ROW = "{:<26} {:>8} {:>12} {:>12} {:>9}"


class DemoError(Exception):
    """A program failed for another reason than its check."""


def run_program(build, program, arguments, output, members):
    """Runs one program; returns its record. Without `members` it takes all usable CPUs."""
    record = output.with_suffix(".json")
    command = [str(build / "examples" / program), *arguments, "--output", str(output),
               "--json", str(record), "--repeat", str(FEWER_ROUNDS.get(program, REPEAT))]
    if members:
        command += ["--members", str(members)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not record.is_file():
        raise DemoError(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stderr.strip()}")
    return json.loads(record.read_text(encoding="utf-8"))


def seconds_of(record):
    """Of the team: of all rounds, of a plan, or of a block of sound by the last plan."""
    for name in ("team_seconds", "plan_seconds"):
        if name in record:
            return record[name]
    return record["runs"][-1]["median_seconds"]


def solve(build, program, arguments, name, ending):
    """Solves one problem with one member and with all; returns its row of the table."""
    output, single_output = DEMO / (name + ending), DEMO / (name + "_1" + ending)
    single = run_program(build, program, arguments, single_output, 1)
    team = run_program(build, program, arguments, output, None)
    good = single["check"] == team["check"] == "ok" and output.read_bytes() == single_output.read_bytes()
    for extra in (single_output, single_output.with_suffix(".json")):
        extra.unlink(missing_ok=True)
    seconds = seconds_of(single), seconds_of(team)
    return {"name": f"{program} {name}", "good": good, "members": team["members"], "seconds": seconds}


def print_table(rows):
    members = rows[0]["members"]
    print(ROW.format("problem", "check", "1 member", f"{members} members", "speed-up"))
    for row in rows:
        one, all_members = row["seconds"]
        print(ROW.format(row["name"], "ok" if row["good"] else "FAILED", f"{one * 1e3:.3f} ms",
                         f"{all_members * 1e3:.3f} ms", f"{one / all_members:.2f}"), flush=True)


def clear():
    """Removes what an earlier demo left, so that nothing old passes for new."""
    DEMO.mkdir(parents=True, exist_ok=True)
    for path in DEMO.iterdir():
        if path.is_file():
            path.unlink()


def main(argv):
    build = Path(argv[1]).resolve() if len(argv) > 1 else ROOT / "build" / "release"
    clear()
    try:
        rows = [solve(build, *problem) for problem in PROBLEMS]
        print_table(rows)
        print(flush=True)
        benchmark = [str(build / "bench" / "primitives"), "--quick", "--json", str(DEMO / "results.json")]
        if subprocess.run(benchmark, cwd=ROOT).returncode != 0:
            raise DemoError("the benchmark failed")
    except (DemoError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    good = all(row["good"] for row in rows)
    print(f"\nchecks: {'ok' if good else 'FAILED'}; written to {DEMO.relative_to(ROOT)}/: "
          + ", ".join(sorted(path.name for path in DEMO.iterdir())))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
