# SPDX-License-Identifier: MIT
"""primecount: numbers of primes, known exactly. Times are of whole processes."""

import subprocess
import time

from cases import cpu_seconds, report, threads

KNOWN = {"1e8": 5761455, "1e10": 455052511, "1e11": 4118054813, "1e12": 37607912018}

for limit, primes in KNOWN.items():
    repetitions = 3
    wall, cpu = time.perf_counter(), cpu_seconds()
    for _ in range(repetitions):
        text = subprocess.run(["primecount", limit, "-t", str(threads())], capture_output=True, text=True, check=True)
    seen = int(text.stdout)
    report(f"primes up to {limit}", "right" if seen == primes else f"wrong: {seen}",
           time.perf_counter() - wall, cpu_seconds() - cpu, repetitions)
