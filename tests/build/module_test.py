#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do programs that import the module run, built with the commands of docs/packages.md?

usage: module_test.py COMPILER LIBRARY SINGLE   the commands name clang++-19; a newer Clang under test takes its place

Each block of commands builds two programs: one with a unit that includes the headers too, and one with
none, whose trace has the mark that it sets.
Without such a compiler it ends with status 77, which ctest takes for "skipped".
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
SKIPPED = 77
NAMED = "clang++-19"


def clang(compiler):
    """The compiler under test if it can, else the one that the page names."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"clang version (\d+)", said)
    return compiler if version and int(version.group(1)) >= 19 else shutil.which(NAMED)


def commands():
    page = (SOURCE / "docs/packages.md").read_text(encoding="utf-8")
    found = [block for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "--precompile" in block]
    if [("-llockstep" in block) for block in found] != [False, True]:
        raise SystemExit("docs/packages.md: two blocks should make the module by hand, the second with the library")
    return found


def run(text, program, library, single):
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for file in (HERE / program).glob("*.cpp"):
            shutil.copy(file, place)
        for directory in ("share/lockstep", "lib", "include"):
            (place / "PREFIX" / directory).mkdir(parents=True)
        (place / "PREFIX/include/lockstep").symlink_to(SOURCE / "include/lockstep")
        (place / "PREFIX/include/lockstep-header-only").symlink_to(single)
        (place / "PREFIX/share/lockstep/modules").symlink_to(SOURCE / "modules")
        (place / "PREFIX/lib" / library.name).symlink_to(library)
        print(f"{program}\n{text}", flush=True)
        trace = place / "trace.json"
        done = subprocess.run(["sh", "-e", "-c", text], cwd=place, check=False, env=os.environ | {"LOCKSTEP_TRACE": str(trace)})
        return done.returncode == 0 and (program == "module" or "in the importing unit" in trace.read_text(encoding="utf-8"))


def main(argv):
    compiler = clang(argv[1])
    if not compiler:
        print(f"neither {NAMED} nor a newer Clang is here")
        return SKIPPED
    alone, with_library = (text.replace(NAMED, compiler) for text in commands())
    cases = [(program, text) for text in (with_library, alone) for program in ("module", "module_alone")]
    failed = [(program, text) for program, text in cases if not run(text, program, Path(argv[2]), Path(argv[3]))]
    for program, text in failed:
        print(f"failed: {program}\n{text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
