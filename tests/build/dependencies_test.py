#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does a public header bring along only what its layer may use?

usage: dependencies_test.py include-directory compiler

Preprocesses each public header and asks for the files that were read (-M): what the compiler sees counts, also behind
conditions that scripts/check/layers.py does not follow.
"""

import re
import subprocess
import sys
from pathlib import Path

LAYERS = ("platform", "base", "observe", "wait", "sync", "toolbox", "region", "loop", "reduce", "team", "graph", "trace")


def layer(path):
    """The directory below detail/, or what the banner names; None for the umbrellas."""
    if path.parent.parent.name == "detail":
        return path.parent.name
    named = re.search(r"\(layer: (\w+)\)", path.read_text(encoding="utf-8").split("\n")[1])
    return named.group(1) if named else None


def files_read(include, header, compiler, standard):
    text = f"#include <lockstep/{header.name}>\n"
    done = subprocess.run([compiler, f"-std={standard}", "-M", f"-I{include}", "-x", "c++", "-"],
                          input=text, capture_output=True, text=True, check=True)
    names = done.stdout.replace("\\\n", " ").split()[1:]
    return [Path(name) for name in names if Path(name).is_relative_to(include)]


def main(argv):
    include, compiler = Path(argv[1]), argv[2]
    failures, seen = 0, 0
    for header in sorted((include / "lockstep").glob("*.hpp")):
        own = layer(header)
        if own not in ("wait", "sync", "toolbox"):
            continue
        seen += 1
        for standard in ("c++11", "c++20"):
            for path in files_read(include, header, compiler, standard):
                if LAYERS.index(layer(path)) > LAYERS.index(own):
                    print(f"{header.name} ({own}) brings along {path.relative_to(include)}")
                    failures += 1
    print(f"{seen} headers, {failures} complaints")
    return 1 if failures or not seen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
