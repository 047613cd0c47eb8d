#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the examples in the comments of the public headers compile?

usage: api_examples_test.py [--mpi=DIRECTORY[:DIRECTORY]...]... INCLUDE-DIRECTORY COMPILER FLAGS...

scripts/check/api.py makes one unit of those for C++11, and one of those for C++20, which a compiler without std::stop_token
leaves out; and one of those for use inside MPI, for each --mpi, which names the directories of an MPI library's headers.
Warnings are errors, but for names that an example does not use.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))
import api  # noqa: E402


def units(root, mpis):
    """(name, flags, unit, number of examples) of each."""
    for standard in ("11", "20"):
        unit, count = api.unit_of(root, standard)
        if standard == "20":
            unit = "#include <version>\n#if defined(__cpp_lib_jthread)\n" + unit + "#endif\n"
        yield f"C++{standard}", [f"-std=c++{standard}"], unit, count
    for mpi in mpis:
        found = [flag for directory in mpi.split(":") for flag in ("-isystem", directory)]
        yield f"MPI in {mpi}", ["-std=c++11", *found], *api.unit_of(root, "11", api.mpi_headers(root))


def main(arguments):
    mpis = [a.removeprefix("--mpi=") for a in arguments if a.startswith("--mpi=")]
    include, compiler, *flags = [a for a in arguments[1:] if not a.startswith("--mpi=")]
    status = 0
    for name, own, unit, count in units(Path(include).parent, mpis):
        command = [compiler, *own, "-x", "c++", "-fsyntax-only", *flags, "-Werror", "-Wno-unused", f"-I{include}", "-"]
        compiled = subprocess.run(command, input=unit, text=True, capture_output=True, check=False)
        print(compiled.stderr[:4000], end="")
        print(f"{count} examples for {name}: {'ok' if compiled.returncode == 0 else 'refused'}")
        if compiled.returncode != 0 or count == 0:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv))
