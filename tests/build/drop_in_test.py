#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is thread_synchronizer.h one small header that needs nothing to link, and stands beside the library?

usage: drop_in_test.py SINGLE INCLUDE LIBRARY COMPILER...

SINGLE has the header as it is made, INCLUDE and LIBRARY are the library. The program in drop_in/ is compiled by the
command of the original, with more warnings. Compilers that are not there, or are named before, are left out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).with_name("drop_in")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
MOST_LINES = 3000
BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ  # by night: the optimiser of the first, both orders, beside the other header to copy


def run(*command):
    """What it prints, also as complaints; None where it failed."""
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        print(done.stdout + done.stderr)
    return done.stdout + done.stderr if done.returncode == 0 else None


def commands(single, include, library, compiler, is_first, others_optimise):
    """Of each program: what compiles it. The first compiler has all of them."""
    if not (BRIEF and is_first and others_optimise):
        yield [compiler, *WARNINGS, "-std=c++11", "-O3", "-I", single, HERE / "sample.cpp"]
    if not is_first:
        return
    yield [compiler, *WARNINGS, "-std=c++11", "-fno-exceptions", "-fno-rtti", "-DNDEBUG", "-I", single, HERE / "sample.cpp"]
    ours, many, one = single / "thread_synchronizer.h", include / "lockstep" / "team.hpp", single / "lockstep.hpp"
    for first, second in [(ours, many)] + ([] if BRIEF else [(many, ours), (ours, one)]):
        yield [compiler, *WARNINGS, "-std=c++11", "-pthread", "-I", include, f"-DFIRST=<{first}>", f"-DSECOND=<{second}>",
               HERE / "beside.cpp", *([library] if one not in (first, second) else []), f"-Wl,-rpath,{library.parent}"]


def main(argv):
    single, include, library = (Path(name).resolve() for name in argv[1:4])
    lines = (single / "thread_synchronizer.h").read_text(encoding="utf-8").count("\n")
    wrong = lines > MOST_LINES
    print(f"thread_synchronizer.h has {lines} lines")
    found = list(dict.fromkeys(filter(None, map(shutil.which, argv[4:]))))
    with tempfile.TemporaryDirectory() as directory:
        for compiler in found:
            for command in commands(single, include, library, compiler, compiler == found[0], len(found) > 1):
                program = Path(directory) / "program"
                wrong += run(*command, "-o", program) != "" or run(program) != "ok\n"
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
