#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the examples in the comments of the public headers compile?

usage: api_examples_test.py INCLUDE-DIRECTORY COMPILER FLAGS...

scripts/check/api.py makes one unit of them. It is compiled as C++11, with warnings as errors but for names that an example
does not use.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))
import api  # noqa: E402


def main(arguments):
    include, compiler, *flags = arguments[1:]
    unit, count = api.unit_of(Path(include).parent)
    command = [compiler, "-std=c++11", "-x", "c++", "-fsyntax-only", *flags, "-Werror", "-Wno-unused", f"-I{include}", "-"]
    compiled = subprocess.run(command, input=unit, text=True, capture_output=True, check=False)
    print(compiled.stderr[:4000], end="")
    print(f"{count} examples: {'ok' if compiled.returncode == 0 else 'refused'}")
    return compiled.returncode if count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
