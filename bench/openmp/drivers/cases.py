# SPDX-License-Identifier: MIT
"""What the drivers in Python share: cases printed as openmp_case.hpp prints them."""

import hashlib
import json
import os
import re
import resource
import time
from pathlib import Path


def threads():
    return int(os.environ.get("OMP_NUM_THREADS", "2"))


def bits_of(*arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def cpu_seconds():
    """Of this process and of children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def report(case, value, wall_s, cpu_s, repetitions=1):
    print(json.dumps({"case": case, "value": value, "wall_us": round(wall_s / repetitions * 1e6, 4),
                      "cpu_us": round(cpu_s / repetitions * 1e6, 4)}), flush=True)


def measure(case, repetitions, body, value):
    """A repetition that does not count, then those that do; `value` makes text of what body() returned."""
    result = body()
    wall, cpu = time.perf_counter(), cpu_seconds()
    for _ in range(repetitions):
        result = body()
    report(case, value(result), time.perf_counter() - wall, cpu_seconds() - cpu, repetitions)


def print_runtime():
    """The OpenMP runtimes that are mapped. The first in the order of the loader serves; a preloaded one is the first."""
    paths = {line.split(maxsplit=5)[5].strip() for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
             if re.search(r"/lib(g|i)?omp[-.0-9]", line)}
    print(json.dumps({"runtime": sorted(paths)}))
