#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weakens memory orders of the layer mpi; the tests that need no MPI must notice under ThreadSanitizer.

usage: order_mutants.py [HEADER...]

Of this layer the model tests know the node_board; scripts/run/mutate_orders.py leaves the rest out. So each acquire, release and
acq_rel of a header becomes relaxed in a copy of src/; the header's test is compiled against the copy by Clang
and run, a few times if it passes, for a race is a matter of luck. It has to report a race, fail, or hang. The test of the
headers as they are has to pass. Ends with status 77 where there is no Clang with ThreadSanitizer.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Not yet rank_part.hpp and world_plan.cpp: no test of theirs notices a weaker order of their flags.
TEST_OF = {"halo_protocol.hpp": "halo_protocol_test.cpp"}
ORDER = re.compile(r"memory_order_(acquire|release|acq_rel)\b")
RUNS, SECONDS = 3, 60
SKIPPED = 77


def mutants(text):
    """(number of the line, what is weakened, changed text) of each."""
    for found in ORDER.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        yield number, found.group(1), text[:found.start()] + "memory_order_relaxed" + text[found.end():]


def compiled(compiler, source, test, library, program):
    subprocess.run([*command(compiler), f"-I{source}", f"-I{ROOT / 'tests'}", ROOT / "tests/mpi" / test,
                    ROOT / "tests/support/main.cpp", library, "-o", program, "-lgtest", "-pthread"], check=True)


def command(compiler):
    return [compiler, "-std=c++20", "-O1", "-g1", "-fsanitize=thread", f"-I{ROOT / 'include'}"]


def complains(program):
    """Whether the test fails, hangs, or reports a race."""
    try:
        done = subprocess.run(["setarch", "-R", program], capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(arguments):
    compiler = shutil.which("clang++-19") or shutil.which("clang++")
    if not compiler:
        print("no Clang here")
        return SKIPPED
    only = arguments[1:]
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        copy, program, library = Path(place) / "src", Path(place) / "test", Path(place) / "lockstep.o"
        shutil.copytree(ROOT / "src", copy)
        subprocess.run([*command(compiler), "-c", copy / "lockstep_checked.cpp", "-o", library], check=True)
        for header in only or TEST_OF:
            path = copy / "mpi" / header
            text = path.read_text(encoding="utf-8")
            compiled(compiler, copy, TEST_OF[header], library, program)
            if complains(program):
                print(f"{header}: the test fails as it is")
                bad += 1
                continue
            for number, what, changed in mutants(text):
                path.write_text(changed, encoding="utf-8")
                compiled(compiler, copy, TEST_OF[header], library, program)
                is_noticed = any(complains(program) for _ in range(RUNS))
                print(f"{header}:{number}: {what} weakened: {'noticed' if is_noticed else 'NOT NOTICED'}", flush=True)
                bad += not is_noticed
            path.write_text(text, encoding="utf-8")
    print(f"{bad} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
