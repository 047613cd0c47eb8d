#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a conformance program with GCC's runtime and with ours, and compares what it prints.

usage: conformance.py libgomp.so.1 program-source work-directory [clang]

With 'clang', ours serves the program as Clang compiles it, by the names of LLVM's runtime; it is still compared with
what GCC's program prints with GCC's runtime.

The program is compiled by the GCC of the machine, unoptimised and with -O2, and run with 1, 2, 4 and 7 threads; where
LOCKSTEP_TEST_BRIEF is set, with -O2 and 1 and 4 threads. It fails
where it says so itself (its status), where it does not end in time, and where the texts differ. Comments in its first
lines say how to run it:
  environment: NAME=VALUE...   for both runtimes
  cases: WORD...               one run with each as the argument
  only lockstep: REASON        not to be compared
  not Clang: REASON            Clang does not compile it
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

SKIPPED = 77
THREADS = (1, 2, 4, 7)
LEVELS = ("-O0", "-O2")
if "LOCKSTEP_TEST_BRIEF" in os.environ:
    THREADS, LEVELS = (1, 4), ("-O2",)
SECONDS = 30
HERE = Path(__file__).resolve().parent
GCC = {
    ".c": [os.environ.get("LOCKSTEP_GCC") or "gcc", "-std=gnu11"],
    ".cpp": [os.environ.get("LOCKSTEP_GXX") or "g++", "-std=c++17"],
    ".f90": [os.environ.get("LOCKSTEP_GFORTRAN") or "gfortran", "-cpp"],
}
CLANG = {
    ".c": [os.environ.get("LOCKSTEP_CLANG") or "clang-19", "-std=gnu11", "-fopenmp-version=51"],
    ".cpp": [os.environ.get("LOCKSTEP_CLANGXX") or "clang++-19", "-std=c++17", "-fopenmp-version=51"],
}
# Variables that say something to an OpenMP runtime, or to lockstep, are the test's to set.
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "GOMP_", "LOCKSTEP_", "LD_"))}


class Program:
    """A source, what its first lines say, and where its executables are."""

    def __init__(self, source, directory, compilers=GCC):
        self.source = Path(source)
        self.compilers = compilers
        self.directory = Path(directory) / (self.source.name.replace(".", "_") + ("_clang" if compilers is CLANG else ""))
        self.environment = {}
        self.cases = [""]
        self.is_only_ours = False
        self.why_not_clang = ""
        for line in self.source.read_text(encoding="utf-8").splitlines()[:5]:
            for key, value in re.findall(r"^(?://|!) (environment|cases|only lockstep|not Clang): (.*)", line):
                if key == "environment":
                    self.environment = dict(pair.split("=", 1) for pair in value.split())
                elif key == "cases":
                    self.cases = value.split()
                elif key == "not Clang":
                    self.why_not_clang = value
                else:
                    self.is_only_ours = True

    def compiler(self):
        return self.compilers[self.source.suffix]

    def build(self, level):
        """The executable. One that is newer than its source is taken as it is."""
        program = self.directory / ("program" + level)
        inputs = [self.source, HERE / "check.h", HERE / "late_library.c"]
        if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
            return program
        self.directory.mkdir(parents=True, exist_ok=True)
        options = ["-fopenmp", "-g1", "-w", level]
        if "late_library" in self.source.read_text(encoding="utf-8"):
            late = [str(HERE / "late_library.c"), "-o", f"{program}.late.so"]
            subprocess.run([*self.compilers[".c"], *options, "-shared", "-fPIC", *late], check=True)
        new = self.directory / ("new" + level)
        if self.source.suffix == ".f90":  # both levels are compiled at the same time
            modules = self.directory / ("modules" + level)
            modules.mkdir(exist_ok=True)
            options += ["-J", str(modules)]
        libraries = ["-ldl", "-lm", *(["-latomic"] if self.compilers is CLANG else [])]
        subprocess.run([*self.compiler(), *options, str(self.source), "-o", str(new), *libraries], check=True)
        new.rename(program)
        return program


class Run:
    """One run of a program: its status (None: it did not end), and its text."""

    def __init__(self, program, case, seconds=SECONDS, **variables):
        environment = {**CLEAN, **{name: str(value) for name, value in variables.items()}}
        process = subprocess.Popen([str(program), *([case] if case else [])], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
                                   start_new_session=True)
        try:
            self.text = process.communicate(timeout=seconds)[0]
            self.status = process.returncode
        except subprocess.TimeoutExpired:
            self.status = None
            threads = where_it_is(process.pid) if seconds == SECONDS else ""
            os.killpg(process.pid, 9)  # its children, too
            self.text = process.communicate()[0]
            self.text += f"[it did not end within {seconds} s]\n{threads}"


def where_it_is(pid):
    """What the threads of a process do, where gdb is there to say it."""
    if not shutil.which("gdb"):
        return "[no gdb to say where]\n"
    try:
        said = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 12"], capture_output=True,
                              text=True, errors="replace", timeout=30, check=False).stdout
    except subprocess.TimeoutExpired:
        return "[gdb does not say where]\n"
    return "\n".join(line[:160] for line in said.splitlines() if line.startswith(("#", "Thread "))) + "\n"


def variables_of(program, threads, library):
    """library: ours, or None for the system's. Its threads sleep soon: on a crowded machine they spin for minutes."""
    variables = {**program.environment, "OMP_NUM_THREADS": threads}
    if library is None:
        return {**variables, "OMP_WAIT_POLICY": "passive", "LOCKSTEP_REFERENCE": "1"}
    return {**variables, "LD_LIBRARY_PATH": library.parent}


def is_loaded(program, library):
    """Whether the program gets our library, and not the system's."""
    listed = subprocess.run([str(program)], capture_output=True, text=True, check=True,
                            env={**CLEAN, "LD_LIBRARY_PATH": str(library.parent), "LD_TRACE_LOADED_OBJECTS": "1"})
    return str(library) in listed.stdout


def compare(program, by_gcc, library):
    """Says what is wrong; returns how many runs were. The reference is the program by_gcc, with the system's runtime."""
    programs = dict.fromkeys(LEVELS)

    def build(level):
        programs[level] = program.build(level)

    builders = [threading.Thread(target=build, args=[level]) for level in LEVELS]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    if None in programs.values():
        print(f"{program.source.name} does not compile")
        return 1
    if not is_loaded(programs["-O2"], library):
        print(f"{program.source.name} does not load {library}")
        return 1

    by_gcc = None if program.is_only_ours else by_gcc.build("-O2")
    bad = runs = 0
    for threads in THREADS:
        for case in program.cases:
            reference = None
            if by_gcc:
                reference = Run(by_gcc, case, **variables_of(program, threads, None))
                if reference.status != 0:
                    print(f"{program.source.name} {case} with {threads} threads: the system's libgomp fails, status "
                          f"{reference.status}; ours is not compared:\n{reference.text}")
                    reference = None
            for level in LEVELS:
                runs += 1
                ours = Run(programs[level], case, **variables_of(program, threads, library))
                what = f"{program.source.name} {case} {level}, {threads} threads"
                if ours.status != 0:
                    bad += 1
                    print(f"{what}: {'it hangs' if ours.status is None else f'status {ours.status}'}\n{ours.text}")
                elif reference is not None and ours.text != reference.text:
                    bad += 1
                    print(f"{what}: the texts differ")
                    print("\n".join(difflib.unified_diff(reference.text.splitlines(), ours.text.splitlines(), "libgomp",
                                                         "lockstep", lineterm="")))
                if bad >= 3:
                    print("[no more runs]")
                    return bad
    print(f"{program.source.name}: {runs} runs, {bad} bad")
    return bad


def main():
    library = Path(sys.argv[1]).resolve()
    by_gcc = program = Program(sys.argv[2], sys.argv[3])
    if sys.argv[4:] == ["clang"]:
        program = Program(sys.argv[2], sys.argv[3], CLANG)
        library = library.with_name("libomp.so.5")
        if program.why_not_clang:
            print(f"skipped: {program.why_not_clang}")
            return SKIPPED
    if not shutil.which(program.compiler()[0]):
        print(f"skipped: no {program.compiler()[0]} to compile {program.source.name}")
        return SKIPPED
    return 1 if compare(program, by_gcc, library) else 0


if __name__ == "__main__":
    sys.exit(main())
