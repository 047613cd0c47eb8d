#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does ThreadSanitizer report no race in a user's program that is linked to the library, and one that there is?

usage: thread_sanitizer_test.py repository compiler...

Compilers that are not there, or have no ThreadSanitizer that works here, are left out.
"""

import platform
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("thread_sanitizer.cpp")
OPTIONS = ["-fsanitize=thread", "-std=c++11", "-pthread"]
SKIPPED, RACE = 77, 66


def run(program, *arguments):
    """Without address space randomisation, which some kernels do too much of for the sanitizer."""
    return subprocess.run(["setarch", platform.machine(), "-R", str(program), *arguments], capture_output=True, text=True, check=False)


def works(compiler, directory):
    probe = directory / "probe"
    try:
        done = subprocess.run([compiler, *OPTIONS, "-x", "c++", "-", "-o", str(probe)], input="int main() {}\n", text=True,
                              capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and run(probe).returncode == 0


def main(argv):
    root, compilers = Path(argv[1]), argv[2:]
    looks = wrong = 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for compiler in compilers:
            if not works(compiler, directory):
                continue
            looks += 1
            for options in (["-O0"], ["-O2", "-DNDEBUG"]):
                program = directory / "program"
                unit = "lockstep.cpp" if "-DNDEBUG" in options else "lockstep_checked.cpp"
                subprocess.run([compiler, *OPTIONS, *options, f"-I{root / 'include'}", str(SOURCE), str(root / "src" / unit),
                                "-o", str(program)], check=True)
                for arguments, expected in ([], 0), (["race"], RACE):
                    done = run(program, *arguments)
                    if done.returncode != expected or ("data race" in done.stderr) != (expected == RACE):
                        wrong += 1
                        print(compiler, *options, *arguments, f": status {done.returncode}\n{done.stdout}{done.stderr[:8000]}")
    if looks == 0:
        print("skipped: no compiler with ThreadSanitizer that works here")
        return SKIPPED
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
