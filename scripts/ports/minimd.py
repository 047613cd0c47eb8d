#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a lockstep team in place of miniMD's OpenMP threads, in a source tree of miniMD that you have.

usage: minimd.py DIRECTORY

It changes the files of ref/ that have OpenMP. miniMD runs all time steps in one region, and calls barriers and loops deep inside
functions that pass no member on: openmp.h gets one, for the calling thread. `omp atomic` stays, so -fopenmp stays. docs/ports.md says
how to build it, and what came of it. Known to fit Mantevo's miniMD 2.0 (commit 2662065e); another version is refused where it differs.
"""

import re
import sys
from pathlib import Path

WORDS = """
#include <lockstep/lockstep.hpp>
inline thread_local lockstep::member* member_here = nullptr;
inline int rank_here() { return member_here ? static_cast<int>(member_here->rank()) : 0; }
inline void barrier_here() { if(member_here) member_here->sync_threads(); }
template <class Function>
void loop_here(int first, int last, Function f)
{
  if(member_here) member_here->for_range(first, last, f);
  else f(first, last);
}
template <class Function>
void region_here(int threads, Function f)
{
  static lockstep::team team(threads);
  team.run([&](lockstep::member& me) { member_here = &me; f(); member_here = nullptr; });
}
"""
LOOP = re.compile(r"^[ \t]*(?:#pragma omp for[^\n]*|OMPFORSCHEDULE)\s*?\n\s*"
                  r"for\((?:\w+ )?(?P<i>\w+) = (?P<first>\w+); ?(?P=i) ?< ?(?P<last>[^;]+); (?P=i)\+\+\)", re.MULTILINE)
REGION = re.compile(r"^[ \t]*#pragma omp parallel(?: private\((?P<own>[^)]*)\))?\s*?\n\s*(?={)", re.MULTILINE)
# file: its loops, regions, and the other places (barriers, masters, thread numbers, calls that set the number of threads)
FILES = {"atom.cpp": (7, 0, 5), "comm.cpp": (7, 0, 29), "force_eam.cpp": (2, 0, 5), "force_lj.cpp": (4, 0, 4), "integrate.cpp": (2, 1, 11),
         "ljs.cpp": (0, 2, 1), "neighbor.cpp": (3, 0, 13), "thermo.cpp": (1, 0, 5)}
OTHERS = [(re.compile(r"^([ \t]*)#pragma omp barrier", re.MULTILINE), r"\1barrier_here();"),
          (re.compile(r"^([ \t]*)#pragma omp master", re.MULTILINE), r"\1if(rank_here() == 0)"),
          (re.compile(r"omp_get_thread_num\(\)"), "rank_here()"),
          (re.compile(r"^ *omp_set_num_threads\(num_threads\);\n", re.MULTILINE), "")]


def end_of_statement(text, at):
    """Behind the statement that begins at `at`: a block, or all up to a semicolon."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text[place], 0)
        if depth == 0 and text[place] in ";}":
            return place + 1
    raise ValueError("a statement without an end")


def wrapped(text, pattern, before):
    """The text with the statement behind each match made the body of a closure, which `before` begins, and how many there are."""
    count = 0
    while True:
        found = pattern.search(text)
        if found is None:
            return text, count
        end = end_of_statement(text, found.end())
        text = text[:found.start()] + before(found) + text[found.end():end] + " });" + text[end:]
        count += 1


def of_loop(found):
    return (f"  loop_here({found['first']}, {found['last']}, [&](int from, int to) {{ "
            f"for(int {found['i']} = from; {found['i']} < to; {found['i']}++)")


def of_region(found):
    own = f"int {found['own']}; " if found["own"] else ""
    threads = "threads->omp_num_threads" if found["own"] else "num_threads"
    return f"  region_here({threads}, [&] {{ {own}"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    texts = {}
    for name, wanted in FILES.items():
        path = Path(argv[1]) / "ref" / name
        text, loops = wrapped(path.read_text(encoding="utf-8"), LOOP, of_loop)
        text, regions = wrapped(text, REGION, of_region)
        others = 0
        for pattern, replacement in OTHERS:
            text, count = pattern.subn(replacement, text)
            others += count
        if (loops, regions, others) != wanted:
            sys.exit(f"minimd.py: {path} is not the version it knows: {loops, regions, others} places, not {wanted}")
        texts[path] = text if "openmp.h" in text else '#include "openmp.h"\n' + text
    words = Path(argv[1]) / "ref" / "openmp.h"
    texts[words] = "#pragma once\n" + words.read_text(encoding="utf-8") + WORDS
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    print(f"minimd.py: {', '.join(path.name for path in texts)} use a team")


if __name__ == "__main__":
    main(sys.argv)
