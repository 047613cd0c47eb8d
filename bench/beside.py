#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs programs in turn, alone and beside busy processes, and prints the medians of their times, with the quartiles of the wall time.

usage: beside.py [--samples 9] [--load N]... NAME=COMMAND...

A program prints its time and its CPU time as two numbers in its last line, or is timed as a whole, in seconds. Each --load
is a table: so many processes that spin meanwhile (0 without one). The first program is the one that the others are compared with.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import time


def sample(command):
    start = time.monotonic()
    process = subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"beside.py: exit status {process.returncode}: {command}")
    try:
        wall, cpu = map(float, said.strip().split("\n")[-1].split())
        return wall, cpu
    except ValueError:
        return time.monotonic() - start, used.ru_utime + used.ru_stime


def quartiles(values):
    if len(values) < 2:
        return values * 2
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return [low, high]


def table(programs, samples, load):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    try:
        found = {name: [] for name in programs}
        for _ in range(samples):
            for name, command in programs.items():
                found[name].append(sample(command))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return {name: [statistics.median(column) for column in zip(*rows)] + quartiles([wall for wall, _ in rows]) for name, rows in found.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--load", type=int, action="append")
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    programs = dict(each.split("=", 1) for each in options.programs)
    for load in options.load or [0]:
        print(f"{options.samples} samples each, beside {load} busy processes" if load else f"{options.samples} samples each, idle")
        rows = table(programs, options.samples, load)
        first = next(iter(rows.values()))
        for name, (wall, cpu, low, high) in rows.items():
            print(f"  {name:24} {wall:10.4g} ({low:.4g} to {high:.4g})  CPU {cpu:10.4g}  time x{wall / first[0]:.2f}  CPU x{cpu / first[1]:.2f}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
