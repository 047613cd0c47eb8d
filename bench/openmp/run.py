#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that use OpenMP, served by libgomp, libomp, and a libgomp.so.1 of ours: the same values, and the times.

Every sample is a process; the modes take turns, sample by sample. A sample beside which other processes used the CPUs
is taken again. Records of a program and setting replace those of an earlier run in the same --json.

Exit status: 0 done; 1 ours or libgomp failed, or ours gave another value; 2 bad arguments.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report
from modes import OURS, REFERENCE, SETTINGS, CannotBeSet, busy_seconds, environment, made, modes, modes_of_clang
from programs import PROGRAMS, Builder, Unavailable

BUILD = Path(__file__).resolve().parents[2] / "build" / "openmp_proofs"
DISTURBED = 0.12  # CPUs that others used meanwhile
ATTEMPTS = 4      # for a sample that was disturbed


class Failure(Exception):
    pass


def arguments(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", type=Path, metavar="DIR", help="where our libgomp.so.1 is; without it, only the others")
    parser.add_argument("--clang", metavar="COMMAND", help="a Clang that compiles the drivers in C++, which are then the "
                        "programs; the runtimes are libomp, default, passive and active, and our libomp.so.5")
    parser.add_argument("--only", metavar="NAME,...", help="programs: " + ", ".join(p.name for p in PROGRAMS))
    parser.add_argument("--mode", metavar="NAME,...", help="runtimes: " + ", ".join(m.name for m in modes(Path())))
    parser.add_argument("--settings", metavar="NAME,...", help="; ".join(f"{s.name}: {s.title}" for s in SETTINGS))
    parser.add_argument("--samples", type=int, default=9, help="of each mode (default 9)")
    parser.add_argument("--quick", action="store_true", help="the small programs, once each: only whether values are equal")
    parser.add_argument("--install", action="store_true", help="only fetch and build the programs")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for one process (default 60)")
    parser.add_argument("--json", type=Path, default=BUILD / "results.json", metavar="FILE", help="default %(default)s; "
                        "the table goes beside it, as .md")
    options = parser.parse_args(given)

    def pick(text, known, option):
        for name in (text or "").split(","):
            if text and name not in known:
                parser.error(f"{option}: there is no '{name}', but {', '.join(known)}")
        return [known[name] for name in known if not text or name in text.split(",")]

    if options.ours and not (options.ours / "libgomp.so.1").is_file():
        parser.error(f"--ours: there is no libgomp.so.1 in '{options.ours}'")
    if options.samples < 1:
        parser.error("--samples: at least 1")
    options.ours = options.ours and options.ours.resolve()
    if options.clang:
        if options.ours and not (options.ours / "libomp.so.5").exists():
            parser.error(f"--ours: there is no libomp.so.5 in '{options.ours}'")
        modes_here, programs_here = modes_of_clang(options.ours), [p for p in PROGRAMS if not p.python and not p.prepare]
    else:
        modes_here, programs_here = modes(options.ours), PROGRAMS
    options.programs = pick(options.only, {p.name: p for p in programs_here}, "--only")
    options.modes = pick(options.mode, {m.name: m for m in modes_here}, "--mode")
    options.settings = pick(options.settings, {s.name: s for s in SETTINGS}, "--settings")
    if options.quick:
        options.samples = 1
        options.programs = [p for p in options.programs if p.small or options.only]
        options.settings = [s for s in options.settings if s.name in ("idle", "4")]
        options.modes = [m for m in options.modes if m.name in (REFERENCE, "libomp", OURS)]
    return options


def cpu_of(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def backtraces(group):
    """Of all processes of a session that hangs, if gdb is there."""
    if not shutil.which("gdb"):
        return "no gdb, no backtrace"
    texts = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and os.getpgid(int(entry.name)) == group:
                done = subprocess.run(["gdb", "-p", entry.name, "-batch", "-ex", "thread apply all bt 12"], timeout=60,
                                      capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
                texts.append(f"--- process {entry.name}: {(entry / 'cmdline').read_text().replace(chr(0), ' ')}\n"
                             + done.stdout)
    return "\n".join(texts)


def run_once(command, variables, prepare, timeout):
    """(output, seconds of CPU time with all that ended in it, seconds of wall time)."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen(command, env=variables, stdout=out, stderr=errors, stdin=subprocess.DEVNULL,
                                   preexec_fn=prepare, start_new_session=True)
        pause = 0.001
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            wall = time.monotonic() - start
            if ended:
                break
            if wall > timeout:
                where = backtraces(process.pid)
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise Failure(f"no end after {timeout:g} s\n{where}")
            time.sleep(pause)
            pause = min(pause * 1.3, 0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(ProcessLookupError):  # children that it left behind
            os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            said = errors.read().strip()[-2000:] or "no message"
            how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit status {process.returncode}"
            raise Failure(f"{how}: {said}")
        return out.read(), used.ru_utime + used.ru_stime, wall


def sample(command, variables, prepare, busy, timeout):
    """The lines that the driver printed, and the CPUs that others used meanwhile."""
    before, own = busy_seconds(), cpu_of(busy) if busy else 0
    text, cpu, wall = run_once(command, variables, prepare, timeout)
    others = busy_seconds() - before - cpu - ((cpu_of(busy) - own) if busy else 0)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")], others / max(wall, 0.05)


def check_runtime(program, mode, lines, variables):
    """Fails unless the runtime of the mode is there, so that nobody is measured under another's name."""
    if not mode.library:
        return
    mapped = [path for line in lines for path in line.get("runtime", ())]
    if program.tools:
        mapped = subprocess.run(["ldd", shutil.which(program.tools[0])], env=variables, capture_output=True, text=True,
                                check=False).stdout.split()
    wanted = os.path.realpath(mode.library)
    if not any(os.path.realpath(path) == wanted for path in mapped if path.startswith("/")):
        raise Failure(f"{mode.library} does not serve it, but {', '.join(p for p in mapped if 'omp' in p) or 'nobody'}")


class Proofs:
    def __init__(self, options):
        self.options = options
        self.results = {"records": [], "failures": [], "not_had": [], "not_set": [], "differences": []}
        self.seen = {}  # (program, setting) -> {(mode, case): samples}

    def measure(self, program, command, setting):
        options = self.options
        modes_of = [m for m in options.modes if not (program.outcome and options.quick and options.ours and m.name != OURS)]
        failed, cases = set(), {}
        with made(setting) as (prepare, busy):
            for turn in range(1 if program.outcome else options.samples):
                for i in range(len(modes_of)):
                    mode = modes_of[(i + turn) % len(modes_of)]
                    if mode.name in failed:
                        continue
                    try:
                        self.take(program, command, setting, mode, (prepare, busy), cases)
                    except Failure as failure:
                        failed.add(mode.name)
                        self.results["failures"].append({"program": program.name, "setting": setting.name,
                                                         "mode": mode.name, "text": str(failure)})
                        print(f"failed: {program.name}, {setting.name}, {mode.name}: {str(failure).splitlines()[0]}",
                              file=sys.stderr)
        for mode in modes_of:
            for (name, case), samples in cases.items():
                if name == mode.name:
                    one = report.record(program.name, setting.name, case, name, samples)
                    self.results["records"].append(one | ({"outcome": True} if program.outcome else {}))

    def take(self, program, command, setting, mode, place, cases):
        variables = environment(mode, setting, program.bundled)
        for attempt in range(1 if self.options.quick else ATTEMPTS):
            lines, others = sample(command, variables, *place, self.options.timeout)
            if others < DISTURBED:
                break
        check_runtime(program, mode, lines, variables)
        measured = [line for line in lines if "case" in line]
        if not measured:
            raise Failure("it printed no case")
        for line in measured:
            cases.setdefault((mode.name, line["case"]), []).append(
                {"value": line["value"], "wall_us": line["wall_us"], "cpu_us": line["cpu_us"],
                 "disturbed": others >= DISTURBED})

    def run(self):
        builder = Builder(BUILD, self.options.clang or "g++")
        for program in self.options.programs:
            try:
                command = builder.command(program)
            except Unavailable as reason:
                self.results["not_had"].append({"program": program.name, "text": str(reason)})
                print(f"left out: {program.name}: {reason}", file=sys.stderr)
                continue
            print(f"{program.name}: {program.about}", file=sys.stderr, flush=True)
            if self.options.install:
                continue
            for setting in self.options.settings[:1] if program.outcome else self.options.settings:
                try:
                    self.measure(program, command, setting)
                except CannotBeSet as reason:
                    self.results["not_set"].append({"program": program.name, "setting": setting.name, "text": str(reason)})


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
                  if line.startswith("model name")), platform.machine())
    cpus = len(os.sched_getaffinity(0))
    return {"cpu": model, "cpus": cpus, "kernel": platform.release(), "libc": " ".join(platform.libc_ver()),
            "text": f"{model}, {cpus} CPUs, Linux {platform.release()}, {' '.join(platform.libc_ver())}."}


def merged(results, path):
    """With the records of an earlier run in the same file, of other programs and settings."""
    if path.exists():
        earlier = json.loads(path.read_text(encoding="utf-8"))
        new = {(one["program"], one.get("setting")) for key in ("records", "failures", "not_had", "not_set")
               for one in results[key]}
        names = {program for program, _ in new}
        for key in ("records", "failures", "not_had", "not_set"):
            results[key] = [one for one in earlier[key] if (one["program"], one.get("setting")) not in new
                            and not (key == "not_had" and one["program"] in names)] + results[key]
    results["differences"] = report.differences(results["records"])
    return results


def write_whole(path, text):
    """Complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".part")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def main(given):
    options = arguments(given)
    proofs = Proofs(options)
    proofs.run()
    results = proofs.results | {"machine": machine()}
    results["differences"] = report.differences(results["records"])
    bad = [one for one in results["failures"] + results["differences"] if one["mode"] in (REFERENCE, OURS)]
    bad += [one | {"text": one["values"][0]} for one in results["records"]
            if one.get("outcome") and one["mode"] == OURS and one["values"] != ["the child finishes"]]
    for one in bad:
        print(f"wrong: {one['program']}, {one['setting']}, {one['mode']}: {one['text'].splitlines()[0]}", file=sys.stderr)
    if not options.install:
        if options.quick:
            print(report.markdown(results) if bad else f"{len(results['records'])} values are right.")
        else:
            results = merged(results, options.json)
            write_whole(options.json, json.dumps(results, indent=1) + "\n")
            write_whole(options.json.with_suffix(".md"), report.markdown(results))
            print(report.markdown(results))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
