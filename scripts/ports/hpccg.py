#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts loops of a lockstep team in place of HPCCG's OpenMP, in a source tree of HPCCG that you have.

usage: hpccg.py DIRECTORY

It changes HPC_sparsemv.cpp, waxpby.cpp and ddot.cpp, each loop by itself, for any build without USING_OMP. docs/ports.md says how to
build it, and what came of it. Known to fit Mantevo's HPCCG 1.0 (commit 80dd2f12); another version is refused where it differs.
"""

import re
import sys
from pathlib import Path

PRAGMA = r"#ifdef USING_OMP\n#pragma omp [^\n]*\n#endif\n"
LOOP = r" *for \(int i=0; ?i< ?(?P<length>n|nrow); i\+\+\) ?"
EACH = r"  lockstep::default_team().for_each(0, \g<length>, [=](int i) "
FIRST = r"(?P<first>#include \"[^\n]*\n)"
TEAM = (FIRST, r"#include <lockstep/team.hpp>\n\g<first>", 1)
TEAM_AND_PLUS = (FIRST, r"#include <functional>\n#include <lockstep/team.hpp>\n\g<first>", 1)

# file: what to look for, what takes its place (\g<name> is HPCCG's own text), and how often it is there
EDITS = {
    "HPC_sparsemv.cpp": [(PRAGMA + LOOP + r"\n(?P<body> *\{.*?\n    \})\n(?=\n*  return)", EACH + r"\n\g<body>);\n", 1), TEAM],
    "waxpby.cpp": [(PRAGMA + LOOP + r"(?P<body>w[^\n]*;)", EACH + r"{ \g<body> });", 3), TEAM],
    "ddot.cpp": [(PRAGMA + LOOP + r"local_result \+= (?P<value>[^;\n]*);",
                  r"    local_result = lockstep::default_team().reduce_each(0, \g<length>, 0.0, [=](int i) { return \g<value>; }, "
                  r"std::plus<double>());", 2), TEAM_AND_PLUS],
}


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    texts = {}
    for name, edits in EDITS.items():
        path = Path(argv[1]) / name
        texts[path] = path.read_text(encoding="utf-8")
        for pattern, replacement, wanted in edits:
            found = len(re.findall(pattern, texts[path], flags=re.DOTALL))
            if found < wanted or (found > wanted and pattern != FIRST):
                sys.exit(f"hpccg.py: {path} is not the version it knows: found {found} times, not {wanted}: {pattern!r}")
            texts[path] = re.sub(pattern, replacement, texts[path], count=wanted, flags=re.DOTALL)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    print(f"hpccg.py: {', '.join(EDITS)} use a team")


if __name__ == "__main__":
    main(sys.argv)
