#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does a program that imports the module run, built with the commands of docs/packages.md?

usage: module_test.py COMPILER   the commands name clang++-19; a newer Clang under test takes its place

Without such a compiler it ends with status 77, which ctest takes for "skipped".
"""

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
    if len(found) != 1:
        raise SystemExit(f"docs/packages.md has {len(found)} blocks that make the module by hand")
    return found[0]


def main(argv):
    compiler = clang(argv[1])
    if not compiler:
        print(f"neither {NAMED} nor a newer Clang is here")
        return SKIPPED
    text = commands().replace(NAMED, compiler)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        for file in (HERE / "module").glob("*.cpp"):
            shutil.copy(file, place)
        (place / "PREFIX/share/lockstep").mkdir(parents=True)
        (place / "PREFIX/include").symlink_to(SOURCE / "include")
        (place / "PREFIX/share/lockstep/modules").symlink_to(SOURCE / "modules")
        print(text, flush=True)
        return subprocess.run(["sh", "-e", "-c", text], cwd=place, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv))
