#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do both sides of docs/coming-from-openmp.md print the same?

usage: same_results.py openmp_side lockstep_side
"""

import subprocess
import sys

TIME_LIMIT = 50  # seconds for each; only a hang takes that long


def results(program):
    done = subprocess.run([program], capture_output=True, text=True, timeout=TIME_LIMIT)
    if done.returncode != 0:
        raise SystemExit(f"same_results: {program}: status {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def main(argv):
    left, right = (results(program) for program in argv[1:])
    different = [pair for pair in zip(left, right) if pair[0] != pair[1]]
    if different or len(left) != len(right) or not left:
        raise SystemExit(f"same_results: {len(left)} and {len(right)} results, different: {different}")
    print(f"same_results: {len(left)} constructs: ok")


if __name__ == "__main__":
    main(sys.argv)
