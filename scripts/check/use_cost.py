#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What does each further use of a construct cost to compile?

usage: use_cost.py [include-directory ...]

Compiles one program with 1 and with 11 closures for each construct at -O2, in turn for each directory, and prints
milliseconds and bytes of code for each closure more: the median of 5 rounds. CXX chooses the compiler, USES (say
"parallel_for,reduce_each") the constructs, ROUNDS the number of rounds.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HEAD = """#include <lockstep/lockstep.hpp>
#include <functional>
#include <cstddef>
void work(lockstep::team& team, double* x, double* y, std::size_t n, double& out) {
"""
USES = {
    "parallel_for": "team.parallel_for(0, n, [=](std::size_t i) { y[i] += %d.5 * x[i]; });",
    "parallel_for_dynamic":
        "team.parallel_for(0, n, [=](std::size_t i) { y[i] += %d.5 * x[i]; }, lockstep::dynamic_schedule(8));",
    "parallel_reduce":
        "out += team.parallel_reduce(0, n, 0.0, [=](std::size_t i) { return %d.5 * x[i] * y[i]; }, std::plus<double>());",
    "run": "team.run([=](lockstep::member& me) { y[me.rank()] = %d; });",
    "for_each": "me.for_each(0, n, [=](std::size_t i) { y[i] += %d.5 * x[i]; });",
    "for_each_nowait": "me.for_each(lockstep::nowait, 0, n, [=](std::size_t i) { y[i] += %d.5 * x[i]; });",
    "for_range": "me.for_range(0, n, [=](std::size_t a, std::size_t b) { y[a] += %d.5 * x[b - 1]; });",
    "reduce_each":
        "out += me.reduce_each(0, n, 0.0, [=](std::size_t i) { return %d.5 * x[i] * y[i]; }, std::plus<double>());",
}
IN_MEMBER = ("for_each", "for_each_nowait", "for_range", "reduce_each")


def program(use, count):
    lines = [USES[use] % k for k in range(1, count + 1)]
    if use in IN_MEMBER:
        lines = ["team.run([&](lockstep::member& me) {"] + lines + ["});"]
    return HEAD + "\n".join(lines) + "\n}\n"


def compiled(directory, source, scratch):
    """Seconds, and bytes of code, of one compilation."""
    target = scratch / "use.o"
    start = time.perf_counter()
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++11", "-O2", "-DNDEBUG", f"-I{directory}", "-x", "c++", "-c",
                    "-", "-o", str(target)], input=source, text=True, check=True)
    seconds = time.perf_counter() - start
    sections = subprocess.run(["size", "-A", str(target)], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in sections.splitlines())
    return seconds, sum(int(row[1]) for row in rows if len(row) == 3 and row[0].startswith(".text"))


def main():
    directories = sys.argv[1:] or [str(Path(__file__).resolve().parents[2] / "include")]
    uses = os.environ.get("USES", ",".join(USES)).split(",")
    rounds = int(os.environ.get("ROUNDS", "5"))
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        for use in uses:
            found = {directory: [] for directory in directories}
            for _ in range(rounds):
                for directory in directories:
                    one, many = (compiled(directory, program(use, count), scratch) for count in (1, 11))
                    found[directory].append(((many[0] - one[0]) * 100, (many[1] - one[1]) / 10, one[0], one[1]))
            for directory, samples in found.items():
                more, size, first, code = (statistics.median(column) for column in zip(*samples))
                low, high = min(s[0] for s in samples), max(s[0] for s in samples)
                print(f"{use:22} each further {more:6.1f} ms ({low:.1f} to {high:.1f}) {size:7.0f} bytes;"
                      f" the first {first:5.2f} s {code:7d} bytes  {directory}")


if __name__ == "__main__":
    main()
