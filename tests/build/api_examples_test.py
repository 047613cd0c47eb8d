#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the examples in the comments of the public headers compile?

usage: api_examples_test.py INCLUDE-DIRECTORY COMPILER FLAGS...

scripts/check/api.py makes one unit of those for C++11, and one of those for C++20, which a compiler without std::stop_token
leaves out. Warnings are errors, but for names that an example does not use.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "check"))
import api  # noqa: E402


def main(arguments):
    include, compiler, *flags = arguments[1:]
    status = 0
    for standard in ("11", "20"):
        command = [compiler, f"-std=c++{standard}", "-x", "c++", "-fsyntax-only", *flags, "-Werror", "-Wno-unused",
                   f"-I{include}", "-"]
        unit, count = api.unit_of(Path(include).parent, standard)
        if standard == "20":
            unit = "#include <version>\n#if defined(__cpp_lib_jthread)\n" + unit + "#endif\n"
        compiled = subprocess.run(command, input=unit, text=True, capture_output=True, check=False)
        print(compiled.stderr[:4000], end="")
        print(f"{count} examples for C++{standard}: {'ok' if compiled.returncode == 0 else 'refused'}")
        if compiled.returncode != 0 or count == 0:
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv))
