#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the linker say which flags of two units differ, when one passes an object of the library to the other? And which
flags of a unit lockstep::lockstep was not built with?

usage: link_test.py <compiler> <include directory> <library>
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("passes.cpp")
BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ  # by day: every other case of two units, and two of the library


def build(compiler, include, library, directory, caller, callee):
    """The output of the linker, or None if the program could be linked. Each unit is compiled once in the directory."""
    objects = []
    for options in (caller, ["-DUSES", *callee]):
        objects.append(str(Path(directory, "".join(options) + ".o")))
        if not Path(objects[-1]).exists():
            subprocess.run([compiler, "-std=c++11", f"-I{include}", *options, "-c", str(SOURCE), "-o", objects[-1]],
                           check=True)
    linked = subprocess.run([compiler, *objects, library, f"-Wl,-rpath,{Path(library).parent}", "-pthread",
                             "-o", str(Path(directory, "program"))],
                            capture_output=True, text=True)
    return None if linked.returncode == 0 else linked.stderr + linked.stdout


def build_with_library(compiler, include, library, directory, options):
    """The output of the linker for a unit that needs the library, or None if the program could be linked."""
    program = Path(directory, "program")
    unit = Path(directory, "unit.o")
    subprocess.run([compiler, "-std=c++11", f"-I{include}", *options, "-x", "c++", "-c", "-",
                    "-o", str(unit)], check=True, text=True,
                   input="#include <lockstep/team.hpp>\nint main() { lockstep::team all; }\n")
    linked = subprocess.run([compiler, str(unit), library, f"-Wl,-rpath,{Path(library).parent}", "-pthread",
                             "-o", str(program)], capture_output=True, text=True)
    return None if linked.returncode == 0 else linked.stderr + linked.stdout


def main(argv):
    compiler, include, library = argv[1:]
    cases = (
        ([], [], None),
        (["-DNDEBUG"], [], "lockstep::v0::mutex"),
        (["-DNDEBUG"], ["-DNDEBUG"], None),
        ([], ["-DNDEBUG"], "lockstep::v0c::mutex"),
        (["-fno-exceptions"], [], "lockstep::v0c_no_exceptions::mutex"),
        (["-DLOCKSTEP_FORCE_PORTABLE_FUTEX=1"], [], "lockstep::v0c_portable::mutex"),
    )
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for caller, callee, expected in cases[::2] if BRIEF else cases:
            said = build(compiler, include, library, directory, caller, callee)
            right = said is None if expected is None else said is not None and expected in said
            if not right:
                wrong += 1
                print(f"{caller} calls {callee}: expected {expected or 'a program'}, got {said or 'a program'}")
    with_library = (
        (["-DNDEBUG"], None),
        (["-fno-exceptions"], "lockstep::v0c_no_exceptions::"),
        ([], None),
        (["-DNDEBUG", "-fno-exceptions"], "lockstep::v0_no_exceptions::"),
        (["-DLOCKSTEP_FORCE_PORTABLE_FUTEX=1"], "lockstep::v0c_portable::"),
    )
    for options, expected in with_library[:2] if BRIEF else with_library:
        with tempfile.TemporaryDirectory() as directory:
            said = build_with_library(compiler, include, library, directory, options)
        right = said is None if expected is None else said is not None and expected in said
        if not right:
            wrong += 1
            print(f"compiled, with {options}: expected {expected or 'a program'}, got {said or 'a program'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
