#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the Rust crate: bindings/rust with the C++ sources that it compiles, as one .crate file.

usage: crate.py [--no-verify] [DIRECTORY]

DIRECTORY gets the file; build/crate if none is named. The crate is packed in a copy, so that the repository has the sources
once. Cargo then builds it from what was packed (some 30 s), unless --no-verify is said.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRATE = ("src", "tests", "examples", "build.rs", "Cargo.toml", "README.md")
SOURCES = ("include/lockstep", "src", "bindings/c/src", "bindings/c/lockstep.h")


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy2(source, target)


def stage(into):
    """The crate as it is packed, in an empty directory."""
    for name in CRATE:
        copy(ROOT / "bindings/rust" / name, into / name)
    for name in SOURCES:
        copy(ROOT / name, into / "vendor" / name)
    copy(ROOT / "LICENSE", into / "LICENSE")


def main(arguments):
    words = [word for word in arguments if word != "--no-verify"]
    if len(words) > 1 or any(word.startswith("-") for word in words):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    if shutil.which("cargo") is None:
        print("crate.py: there is no program 'cargo' (Debian: cargo)", file=sys.stderr)
        return 1
    output = Path(words[0]) if words else ROOT / "build/crate"
    with tempfile.TemporaryDirectory() as scratch:
        staged, target = Path(scratch, "crate"), Path(scratch, "target")
        stage(staged)
        # A library of this machine must not stand in for the sources.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LOCKSTEP_")}
        command = ["cargo", "package", "--allow-dirty", "--target-dir", str(target)]
        if "--no-verify" in arguments:
            command.append("--no-verify")
        if subprocess.run(command, cwd=staged, env=environment).returncode != 0:
            return 1
        made = sorted(target.glob("package/*.crate"))
        output.mkdir(parents=True, exist_ok=True)
        for path in made:
            shutil.copy2(path, output)
            print(output / path.name)
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
