#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does the shared library export what exported_names.txt says, no more and no less?

usage: exported_names_test.py [--write] REPOSITORY COMPILER

The list has functions and variables of lockstep, without templates that a program instantiates for itself. Before a name is
what has it: 'both', 'checked' or 'plain', the namespaces v0c and v0. --write makes the list. By day the checked half is
compiled, with --write and at night both. Names of other libraries that it exports are not listed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIST = Path(__file__).with_name("exported_names.txt")
BRIEF = "LOCKSTEP_TEST_BRIEF" in os.environ
UNITS = {"checked": ("lockstep_checked.cpp", "lockstep::v0c::"), "plain": ("lockstep.cpp", "lockstep::v0::")}


def exported(root, compiler, unit, directory):
    """The strong symbols of a shared library of this unit."""
    library = Path(directory) / "liblockstep.so"
    subprocess.run([compiler, "-std=c++11", "-O0", "-fPIC", "-fvisibility=hidden", "-DLOCKSTEP_SHARED=1", "-shared", "-pthread",
                    f"-I{root / 'include'}", str(root / "src" / unit), "-o", str(library)], check=True)
    said = subprocess.run(["nm", "-DC", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout
    return {line.split(" ", 2)[2] for line in said.splitlines() if line.split(" ", 2)[1] in "TDBR"}


def main(argv):
    write = "--write" in argv
    root, compiler = Path(argv[-2]), argv[-1]
    kinds = ["checked"] if BRIEF and not write else list(UNITS)
    found, foreign = {}, set()
    with tempfile.TemporaryDirectory() as directory:
        for kind in kinds:
            unit, space = UNITS[kind]
            names = exported(root, compiler, unit, directory)
            foreign |= {name for name in names if space not in name}
            found[kind] = {name.replace(space, "lockstep::") for name in names if space in name}
    if write:
        both = found["checked"] & found["plain"]
        lines = [f"{'both' if name in both else 'checked' if name in found['checked'] else 'plain'} {name}\n"
                 for name in sorted(found["checked"] | found["plain"])]
        LIST.write_text("".join(lines), encoding="utf-8")
        return 0
    listed = [line.split(" ", 1) for line in LIST.read_text(encoding="utf-8").splitlines()]
    for name in sorted(foreign):
        print(f"exported, though not of lockstep: {name}")
    wrong = len(foreign)
    for kind in kinds:
        wanted = {name for which, name in listed if which in ("both", kind)}
        for title, names in (("not in the list", found[kind] - wanted), ("not exported", wanted - found[kind])):
            wrong += len(names)
            for name in sorted(names):
                print(f"{kind}: {title}: {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
