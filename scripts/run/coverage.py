#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints line and branch coverage for each header, and compares the lines that are not reached with the
list of those that have a reason.

usage: coverage.py REPORT.json UNCOVERED.txt

A line of the list is

    header: text of the line -- reason

A reason that begins with "by chance:" is for lines that some runs reach. Lines are named by their text,
because numbers change with every edit; the same text twice in a header counts once.
"""

import json
import sys
from pathlib import Path

LEAST_LINES = 95.0
LEAST_BRANCHES = 90.0
BY_CHANCE = "by chance:"


def percent(reached, all_of_them):
    return 100.0 * reached / all_of_them if all_of_them else 100.0


def read_report(path):
    """header -> the entries of its lines of code."""
    report = json.loads(Path(path).read_text())
    return {
        entry["file"]: [line for line in entry["lines"] if not line.get("gcovr/noncode")]
        for entry in report["files"]
    }


def counts(lines):
    # A branch that only an exception takes is the compiler's, not ours.
    branches = [branch for line in lines for branch in line["branches"] if not branch.get("throw")]
    return (
        sum(line["count"] > 0 for line in lines),
        len(lines),
        sum(branch["count"] > 0 for branch in branches),
        len(branches),
    )


def row(name, numbers):
    lines, all_lines, branches, all_branches = numbers
    return (
        f"{name:<52} {lines:>5} {all_lines:>5} {percent(lines, all_lines):>6.1f} %"
        f" {branches:>6} {all_branches:>5} {percent(branches, all_branches):>6.1f} %"
    )


def print_table(report):
    """Returns the totals."""
    totals = (0, 0, 0, 0)
    print(f"{'header':<52} {'lines':>5} {'of':>5} {'':>8} {'branch':>6} {'of':>5}")
    for name in sorted(report):
        numbers = counts(report[name])
        totals = tuple(map(sum, zip(totals, numbers)))
        print(row(name.removeprefix("include/"), numbers))
    print(row("total", totals))
    return totals


def uncovered_lines(report):
    """(header, text) of every line that was not reached, in order."""
    found = {}
    for name in sorted(report):
        source = Path(name).read_text().splitlines()
        for line in report[name]:
            if line["count"] == 0:
                text = source[line["line_number"] - 1].strip()
                found[(name.removeprefix("include/"), text)] = line["line_number"]
    return found


def read_list(path):
    """(header, text) -> reason."""
    listed = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        place, separator, reason = line.rpartition(" -- ")
        header, colon, text = place.partition(": ")
        if not (separator and colon and reason.strip()):
            raise SystemExit(f"{path}:{number}: not of the form 'header: text -- reason'")
        listed[(header, text.strip())] = reason.strip()
    return listed


def compare(uncovered, listed):
    """What is wrong with the list, one message each."""
    problems = [
        f"{header}:{number}: not reached, and no reason is given: {text}"
        for (header, text), number in uncovered.items()
        if (header, text) not in listed
    ]
    return problems + [
        f"{header}: listed as not reached, but it is, or it is gone: {text}"
        for (header, text), reason in listed.items()
        if (header, text) not in uncovered and not reason.startswith(BY_CHANCE)
    ]


def main(arguments):
    if len(arguments) != 3:
        raise SystemExit(__doc__)
    report = read_report(arguments[1])
    lines, all_lines, branches, all_branches = print_table(report)
    problems = compare(uncovered_lines(report), read_list(arguments[2]))
    if percent(lines, all_lines) < LEAST_LINES:
        problems.append(f"fewer than {LEAST_LINES} % of the lines are reached")
    if percent(branches, all_branches) < LEAST_BRANCHES:
        problems.append(f"fewer than {LEAST_BRANCHES} % of the branches are reached")
    print("\n".join(problems) if problems else "coverage: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
