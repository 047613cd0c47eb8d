#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the programs of libgomp's own test-suite, of GCC 12, or of LLVM 19's, against an OpenMP runtime.

usage: ./do openmp-suite [--suite llvm] [DIRECTORY] [options]
       DIRECTORY holds the libgomp.so.1 or libomp.so.5; without it, the system's

LLVM's suite is explained in llvm_suite.py. The programs of libgomp's come from the package gcc-12-source and
are compiled once, into --cache. C and C++ are compiled with -O2, files for both languages twice; Fortran programs
with -O0 and with -O2; OpenACC is left out. Directives for the compiler's messages and dumps are passed over.
Programs run with OMP_NUM_THREADS unset (8 on more than 8 CPUs, as GCC's makefile has it), each in an empty directory.

In the results file a line is: PASS, FAIL, TIMEOUT or SKIP, the program's name, and why. Beside it, in
RESULTS.log, is what failing programs wrote. The exit status is 1 if a program failed or timed out; with
--compare, if one did that passes there.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import llvm_suite
from dejagnu import Machine, read_directives
from suite_results import (BAD, Result, SuiteError, execute, print_comparison, print_summary, run_all,
                           unpack_once, write_results)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from source_text import ROOT  # noqa: E402

TARBALLS = Path("/usr/src/gcc-12")
COMPILER = "gcc-12"
BUILDS = {"libgomp": ROOT / "build" / "openmp_suite", "llvm": ROOT / "build" / "llvm_suite"}
COMPILE_TIMEOUT = 300  # seconds
UNFINISHED = 3  # exit status of --compile that ran out of time

# From the tarball: the programs, one of OpenACC that an OpenMP program includes, and two headers of libgomp that are
# not installed: libgomp_g.h declares the entry points that some programs call by name.
WANTED = re.compile(r"[^/]*/(?:libgomp/(testsuite/(?:libgomp\.(?:c|c\+\+|c-c\+\+-common|fortran|graphite)/.*"
                    r"|libgomp\.oacc-fortran/pr90030\.f90)|libgomp_g\.h)|include/(gomp-constants\.h))$")
# For affinity-1.c, in place of the one that libgomp's configure makes.
CONFIG_H = "#define HAVE_PTHREAD_AFFINITY_NP 1\n"
GRAPHITE = ["-ansi", "-pedantic-errors", "-O2", "-ftree-parallelize-loops=4", "-floop-parallelize-all",
            "-fno-loop-strip-mine", "-fno-loop-block"]

# directory, file names, what to append to the programs' names, flags of all, flags unless it has dg-options
SETS = [
    ("libgomp.c", r"\.c$", "c", [("", [], ["-O2"])]),
    ("libgomp.c-c++-common", r"\.c$", "c", [("@c", [], ["-O2"])]),
    ("libgomp.c-c++-common", r"\.c$", "c++", [("@c++", [], ["-O2"])]),
    ("libgomp.c++", r"\.C$", "c++", [("", [], ["-O2"])]),
    ("libgomp.fortran", r"\.[fF](90|95|03|08)?$", "fortran", [("@O0", ["-O0"], []), ("@O2", ["-O2"], [])]),
    ("libgomp.graphite", r"\.c$", "c", [("", [], GRAPHITE)]),
]
FORTRAN_ONCE = [("", ["-O"], [])]  # a program without 'dg-do run' is not compiled with several options
# GCC 12 compiles for offload devices by default but has no compiler for them here. Halfway, it makes wrong code of
# an atomic within simd within target (libgomp.c/pr104783.c).
ALWAYS = ["-fopenmp", "-foffload=disable"]
LIBRARIES = {"c": [], "c++": ["-lstdc++"], "fortran": ["-lgfortran", "-lquadmath"]}


@dataclass
class Program:
    name: str
    source: Path
    language: str
    directives: object


# --- from the tarball to programs ---


def unpack(cache):
    """The part of the source that is wanted, unpacked once; its directory."""
    source = cache / "source"
    if source.is_dir():
        return source
    tarballs = sorted(TARBALLS.glob("gcc-12.*.tar.xz"))
    if not tarballs:
        raise SuiteError(f"there is no gcc-12.*.tar.xz in {TARBALLS}; './do openmp-suite' installs it")
    unpack_once(tarballs[0], cache, WANTED, lambda fresh: (fresh / "config.h").write_text(CONFIG_H))
    return source


def this_machine():
    triplet = subprocess.run([COMPILER, "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    processor, *rest = triplet.split("-")
    return Machine("-".join([processor, *(["pc"] if len(rest) < 3 else []), *rest]))


def programs_of(source):
    """All programs of the suite, in the order of their names."""
    machine, programs = this_machine(), []
    for directory, pattern, language, variants in SETS:
        for path in sorted((source / "testsuite" / directory).rglob("*")):
            if not re.search(pattern, path.name):
                continue
            text = path.read_text(encoding="latin-1")
            once = language == "fortran" and "dg-do run" not in text
            for suffix, flags, default in FORTRAN_ONCE if once else variants:
                name = str(path.relative_to(source / "testsuite")) + suffix
                programs.append(Program(name, path, language,
                                        read_directives(text, language, flags, default, machine)))
    return programs


def text_with_includes(path, seen=None):
    """The text of a source file and of what it includes from beside it."""
    seen = set() if seen is None else seen
    if path in seen or not path.is_file():
        return ""
    seen.add(path)
    text = path.read_text(encoding="latin-1")
    included = re.findall(r'^[ \t]*#?[ \t]*include[ \t]*["\'](.*)["\']', text, re.MULTILINE)
    return text + "".join(text_with_includes((path.parent / name).resolve(), seen) for name in included)


# --- compile ---


def place_of(cache, program):
    return cache / "programs" / program.name


def command_of(cache, program):
    source = cache / "source"
    sources = [program.source, *(program.source.parent / name for name in program.directives.more_sources)]
    options = [option for option in program.directives.options if not option.startswith(("-fdump", "-foffload=-fdump"))]
    return [COMPILER, *(["-x", "c++"] if program.language == "c++" else []), *ALWAYS, f"-I{source}", *options,
            *map(str, sources), "-o", "program", *LIBRARIES[program.language], "-lm"]


def is_compiled(cache, program):
    """Compiled, or found not to compile, by this command."""
    log = place_of(cache, program) / "compile.log"
    return log.is_file() and log.read_text().split("\n", 1)[0] == shlex.join(command_of(cache, program))


def compile_program(cache, program):
    command, place = command_of(cache, program), place_of(cache, program)
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        try:
            output = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    timeout=COMPILE_TIMEOUT, text=True, errors="replace").stdout
        except subprocess.TimeoutExpired:
            output = "error: the compiler took too long\n"
        made = Path(scratch) / "program"
        if made.is_file():
            made.replace(place / "program")
        else:
            (place / "program").unlink(missing_ok=True)
        log = Path(scratch) / "log"
        log.write_text(f"{shlex.join(command)}\n{output}")
        log.replace(place / "compile.log")


def compile_all(cache, programs, jobs, seconds):
    """Compiles what is missing, for at most so many seconds; how many are left."""
    missing = [program for program in programs if not reason_to_skip(program) and not is_compiled(cache, program)]
    end = time.monotonic() + seconds
    done = Counter()

    def compile_in_time(program):
        if time.monotonic() < end:
            compile_program(cache, program)
            done["programs"] += 1

    if missing:
        print(f"compiling {len(missing)} programs", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_in_time, missing))
    return len(missing) - done["programs"]


# --- run ---


def reason_to_skip(program):
    """Why it is not compiled at all, if so."""
    if program.directives.skip:
        return program.directives.skip
    return "" if program.directives.do in ("run", "link") else "only compiled: about the compiler"


def why_not_compiled(place):
    errors = re.findall(r"^.*?((?:[Ee]rror:|undefined reference).*)$", (place / "compile.log").read_text(), re.MULTILINE)
    return f"does not compile: {errors[0] if errors else 'see compile.log'}"


def environment_for(library, program):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "LD_"))}
    kept["LC_ALL"] = "C"
    if os.cpu_count() > 8:
        kept["OMP_NUM_THREADS"] = "8"
    if library:
        kept["LD_LIBRARY_PATH"] = str(library)
    return {**kept, **program.directives.environment}


def verdict(program, path, status, output):
    """PASS, FAIL or TIMEOUT, and why."""
    directives = program.directives
    if status is None:
        return "TIMEOUT", ""
    if (status != 0) != directives.should_fail:
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        last = output.replace(f"{path}: ", "").replace(str(path), "program").strip().rsplit("\n", 1)[-1]
        return "FAIL", f"{how}: {last[:160]}" if last else how
    if not re.search(directives.output, output):
        return "FAIL", "its output is not what it should be"
    return "PASS", ""


def unresolved(path, environment):
    """What a linked program that is not run does not find in its libraries."""
    done = subprocess.run(["ldd", "-r", path], env=environment, capture_output=True, text=True)
    return [line.split("\t(")[0].strip() for line in (done.stdout + done.stderr).splitlines()
            if "undefined symbol" in line or "not found" in line]


def run_program(cache, program, arguments):
    path = place_of(cache, program) / "program"
    if why := reason_to_skip(program):
        return Result("SKIP", program.name, why)
    if not path.is_file():
        return Result("SKIP", program.name, why_not_compiled(path.parent))
    environment = environment_for(arguments.library, program)
    if program.directives.do == "link":
        missing = unresolved(path, environment)
        return Result("FAIL" if missing else "PASS", program.name, missing[0] if missing else "", "\n".join(missing))
    timeout = arguments.timeout * program.directives.timeout_factor
    for _ in range(arguments.repeat):
        status, output = execute([path], environment, timeout)
        passed, why = verdict(program, path, status, output)
        if passed != "PASS":
            break
    told = {name: value for name, value in environment.items() if name.startswith(("OMP_", "LD_"))}
    by_hand = " ".join([*(f"{name}={shlex.quote(value)}" for name, value in told.items()), str(path)])
    return Result(passed, program.name, why, f"{by_hand}\n{output[-4000:]}")


def check_library(cache, programs, library):
    """Says which libgomp.so.1 the programs load; it must be the one of the directory."""
    for program in programs:
        path = place_of(cache, program) / "program"
        if path.is_file():
            done = subprocess.run(["ldd", path], env=environment_for(library, program), capture_output=True, text=True)
            if found := re.search(r"libgomp\.so\.1 => (\S+)", done.stdout):
                print(f"library: {found[1]}", flush=True)
                if library and Path(found[1]).parent.resolve() != library:
                    raise SuiteError(f"the programs do not load {library}/libgomp.so.1")
                return
    raise SuiteError("no program that needs libgomp.so.1 is compiled")


def parse(argv):
    parser = argparse.ArgumentParser(prog="./do openmp-suite", description=__doc__.split("\n\n")[0],
                                     epilog="More is said at the top of scripts/run/openmp_suite.py.")
    parser.add_argument("library", metavar="DIRECTORY", nargs="?", type=lambda name: Path(name).resolve(),
                        help="where the libgomp.so.1 or libomp.so.5 is (default: the system's)")
    parser.add_argument("--suite", choices=("libgomp", "llvm"), default="libgomp", help="whose (default: libgomp's)")
    parser.add_argument("--compiler", choices=("clang", "gcc"), default="clang", help="for LLVM's suite (default: clang)")
    parser.add_argument("--cache", type=lambda name: Path(name).resolve(), metavar="DIR",
                        help="where source and programs are kept (default: build/openmp_suite, build/llvm_suite)")
    parser.add_argument("--only", type=re.compile, metavar="REGEX", help="programs whose name matches")
    parser.add_argument("--having", type=re.compile, metavar="REGEX", help="programs whose source matches")
    parser.add_argument("--list", action="store_true", help="only list the programs")
    parser.add_argument("--compile", type=float, metavar="SECONDS",
                        help=f"only compile, starting nothing after SECONDS; exit status {UNFINISHED} if some are left")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count(), metavar="N", help="programs at once")
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS", help="for each program (default 60)")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each N times, up to a failure")
    parser.add_argument("--results", type=Path, metavar="FILE",
                        help="default: system.results or library.results beside the programs")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="results of another library")
    arguments = parser.parse_args(argv)
    arguments.cache = arguments.cache or BUILDS[arguments.suite]
    name = "libomp.so.5" if arguments.suite == "llvm" and arguments.compiler == "clang" else "libgomp.so.1"
    if arguments.library and not (arguments.library / name).exists():
        parser.error(f"there is no {name} in {arguments.library}")
    if arguments.compare and not arguments.compare.is_file():
        parser.error(f"there is no file {arguments.compare}")
    return arguments


def main(argv):
    arguments = parse(argv)
    cache, is_llvms = arguments.cache, arguments.suite == "llvm"
    all_programs = llvm_suite.programs_of(cache, arguments.compiler) if is_llvms else programs_of(unpack(cache))
    programs = [program for program in all_programs
                if (not arguments.only or arguments.only.search(program.name))
                and (not arguments.having or arguments.having.search(text_with_includes(program.source)))]
    if not programs:
        raise SuiteError("no program matches")
    if arguments.list:
        print("\n".join(program.name for program in programs))
        return 0
    if not is_llvms:
        left = compile_all(cache, programs, arguments.jobs,
                           float("inf") if arguments.compile is None else arguments.compile)
        if arguments.compile is not None:
            print(f"{left} programs are left to compile")
            return UNFINISHED if left else 0
        check_library(cache, programs, arguments.library)
    run_one = llvm_suite.run_program if is_llvms else run_program
    results = run_all(lambda program: run_one(cache, program, arguments), programs, arguments.jobs)
    path = arguments.results or cache / ("library.results" if arguments.library else "system.results")
    write_results(path, results)
    print_summary(results, path)
    if arguments.compare:
        return print_comparison(results, arguments.compare)
    return int(any(result.status in BAD for result in results))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SuiteError as error:
        print(f"openmp_suite: {error}", file=sys.stderr)
        sys.exit(2)
