# SPDX-License-Identifier: MIT
"""What a region and a loop cost from Python with C functions: nanoseconds for each, medians of 11 samples.

python bench.py; needs a C compiler and the package.
"""
import ctypes
import statistics
import sys
import tempfile
import time
from pathlib import Path

import lockstep_threads as lockstep

sys.path.insert(0, str(Path(__file__).parent / "tests"))
from conftest import compiled  # noqa: E402

SAMPLES = 11


def measure(ways, repetitions):
    samples = {name: [] for name, _ in ways}
    for turn in range(SAMPLES + 1):
        for name, way in ways:
            begin = time.perf_counter_ns()
            for _ in range(repetitions):
                way()
            if turn:  # the first round warms up
                samples[name].append((time.perf_counter_ns() - begin) / repetitions)
    for name, times in samples.items():
        print(f"  {name:44} {statistics.median(times):9.0f} ns  (least {min(times):.0f})")


def main():
    with tempfile.TemporaryDirectory() as scratch, lockstep.Team(2) as team:
        source = Path(__file__).with_name("tests") / "kernels.c"
        kernels = ctypes.CDLL(str(compiled(source, Path(scratch) / "kernels.so", "-std=c11")))
        kernels.empty_region.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        prepared = team.region(kernels.empty_region)
        x = (ctypes.c_double * 16)()
        loop = team.loop(0, 16, kernels.scale, x)
        empty = kernels.empty_region
        print(f"Python {sys.version.split()[0]}, 2 members, {lockstep.usable_cpus()} CPUs")
        measure(
            [
                ("a ctypes call that does nothing", lambda: empty(None, None)),
                ("region(): an empty region, prepared", prepared),
                ("run(): an empty region in C", lambda: team.run(kernels.empty_region)),
                ("loop(): 16 doubles in C, prepared", loop),
                ("for_blocks(): 16 doubles in C", lambda: team.for_blocks(0, 16, kernels.scale, x)),
                ("run(): an empty Python callable", lambda: team.run(lambda me: None)),
            ],
            2000,
        )


if __name__ == "__main__":
    main()
